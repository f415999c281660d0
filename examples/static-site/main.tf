# A website: files in a private bucket, a content delivery network in front of it, and its name in DNS.
# Remove the emulator argument to create it in an AWS account.

terraform {
  required_version = ">= 1.6"

  required_providers {
    awscc = {
      source = "hashicorp/awscc"
    }
  }
}

provider "awscc" {
  region   = "us-east-1"
  emulator = {}
}

variable "domain" {
  description = "The name of the site."
  type        = string
  default     = "www.example.com"
}

variable "price_class" {
  description = "The edge locations to use: PriceClass_100 for Europe and North America, PriceClass_All for all."
  type        = string
  default     = "PriceClass_100"
}

locals {
  bucket = "${replace(var.domain, ".", "-")}-files"
  tags   = [{ key = "Site", value = var.domain }]
}

resource "awscc_s3_bucket" "files" {
  bucket_name = local.bucket
  tags        = local.tags

  versioning_configuration = {
    status = "Enabled"
  }

  public_access_block_configuration = {
    block_public_acls       = true
    block_public_policy     = true
    ignore_public_acls      = true
    restrict_public_buckets = true
  }
}

resource "awscc_cloudfront_origin_access_control" "files" {
  origin_access_control_config = {
    name                              = local.bucket
    origin_access_control_origin_type = "s3"
    signing_behavior                  = "always"
    signing_protocol                  = "sigv4"
  }
}

resource "awscc_certificatemanager_certificate" "site" {
  domain_name       = var.domain
  validation_method = "DNS"
  tags              = local.tags
}

resource "awscc_cloudfront_distribution" "site" {
  tags = local.tags

  distribution_config = {
    enabled             = true
    aliases             = [var.domain]
    default_root_object = "index.html"
    http_version        = "http2and3"
    price_class         = var.price_class

    origins = [{
      id                       = "files"
      domain_name              = awscc_s3_bucket.files.regional_domain_name
      origin_access_control_id = awscc_cloudfront_origin_access_control.files.id
      s3_origin_config         = {}
    }]

    default_cache_behavior = {
      target_origin_id       = "files"
      viewer_protocol_policy = "redirect-to-https"
      compress               = true
      # The managed policy CachingOptimized.
      cache_policy_id = "658327ea-f89d-4fab-a63d-7e88639e58f6"
    }

    viewer_certificate = {
      acm_certificate_arn      = awscc_certificatemanager_certificate.site.id
      minimum_protocol_version = "TLSv1.2_2021"
      ssl_support_method       = "sni-only"
    }
  }
}

resource "awscc_s3_bucket_policy" "files" {
  bucket = awscc_s3_bucket.files.id
  policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "cloudfront.amazonaws.com" }
      Action    = "s3:GetObject"
      Resource  = "${awscc_s3_bucket.files.arn}/*"
      Condition = {
        StringLike = { "AWS:SourceArn" = "arn:aws:cloudfront::*:distribution/${awscc_cloudfront_distribution.site.id}" }
      }
    }]
  })
}

resource "awscc_route53_hosted_zone" "site" {
  name             = var.domain
  hosted_zone_tags = local.tags
}

output "distribution" {
  value = awscc_cloudfront_distribution.site.id
}

output "name_servers" {
  value = awscc_route53_hosted_zone.site.name_servers
}
