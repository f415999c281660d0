output "bucket_names" {
  description = "The buckets, by purpose."
  value       = { for purpose, bucket in awscc_s3_bucket.this : purpose => bucket.bucket_name }
}

output "bucket_arns" {
  description = "The buckets' ARNs."
  value       = [for bucket in awscc_s3_bucket.this : bucket.arn]
}

output "table_name" {
  description = "The table of shopping carts."
  value       = awscc_dynamodb_table.carts.table_name
}

output "table_arn" {
  description = "The table's ARN."
  value       = awscc_dynamodb_table.carts.arn
}

output "key_arn" {
  description = "The key everything is encrypted with."
  value       = awscc_kms_key.storage.arn
}
