resource "awscc_s3_bucket" "logs" {
  bucket_name = "corpus-logs"
}

resource "awscc_s3_bucket_policy" "logs" {
  bucket = awscc_s3_bucket.logs.id
  policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = var.revision == 1 ? "s3:*" : "s3:GetObject"
      Resource  = "${awscc_s3_bucket.logs.arn}/*"
    }]
  })
}
