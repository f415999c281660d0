output "vpc_id" {
  description = "The network."
  value       = module.network.vpc_id
}

output "vpc_cidr_block" {
  description = "The network's addresses, as AWS tells them."
  value       = data.awscc_ec2_vpc.main.cidr_block
}

output "public_subnets" {
  description = "Subnets with a way to the internet, by zone."
  value       = module.network.public_subnets
}

output "bucket_names" {
  description = "The buckets, by purpose."
  value       = module.storage.bucket_names
}

output "queue_urls" {
  description = "Where work is sent to, by worker."
  value       = module.service.queue_urls
}

output "database_url" {
  description = "How the shop reaches its database."
  value       = "postgres://shop:${var.database_password}@database.${local.name}.internal:5432/shop"
  sensitive   = true
}
