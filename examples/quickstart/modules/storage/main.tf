terraform {
  required_providers {
    awscc = {
      source = "hashicorp/awscc"
    }
  }
}

resource "awscc_kms_key" "storage" {
  description            = "Encrypts what ${var.name} stores"
  enable_key_rotation    = true
  pending_window_in_days = 7

  key_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "AccountManagesKey"
        Effect    = "Allow"
        Principal = { AWS = "arn:aws:iam::${var.account_id}:root" }
        Action    = "kms:*"
        Resource  = "*"
      },
    ]
  })

  tags = var.tags
}

resource "awscc_kms_alias" "storage" {
  alias_name    = "alias/${var.name}-storage"
  target_key_id = awscc_kms_key.storage.key_id
}

resource "awscc_s3_bucket" "this" {
  for_each = var.buckets

  bucket_name = "${var.name}-${each.key}-${var.account_id}"

  bucket_encryption = {
    server_side_encryption_configuration = [
      {
        bucket_key_enabled = true
        server_side_encryption_by_default = {
          sse_algorithm     = "aws:kms"
          kms_master_key_id = awscc_kms_key.storage.arn
        }
      },
    ]
  }

  versioning_configuration = {
    status = each.value.versioned ? "Enabled" : "Suspended"
  }

  lifecycle_configuration = {
    rules = concat(
      [
        {
          id     = "unfinished-uploads"
          status = "Enabled"
          abort_incomplete_multipart_upload = {
            days_after_initiation = 7
          }
          expiration_in_days = null
        },
      ],
      each.value.expiration_days == null ? [] : [
        {
          id                                = "expiration"
          status                            = "Enabled"
          abort_incomplete_multipart_upload = null
          expiration_in_days                = each.value.expiration_days
        },
      ],
    )
  }

  public_access_block_configuration = {
    block_public_acls       = true
    block_public_policy     = true
    ignore_public_acls      = true
    restrict_public_buckets = true
  }

  tags = var.tags
}

resource "awscc_s3_bucket_policy" "this" {
  for_each = awscc_s3_bucket.this

  bucket = each.value.bucket_name

  policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "EncryptedTransportOnly"
        Effect    = "Deny"
        Principal = "*"
        Action    = "s3:*"
        Resource  = [each.value.arn, "${each.value.arn}/*"]
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

resource "awscc_dynamodb_table" "carts" {
  table_name   = "${var.name}-carts"
  billing_mode = "PAY_PER_REQUEST"

  attribute_definitions = [
    { attribute_name = "customer", attribute_type = "S" },
    { attribute_name = "item", attribute_type = "S" },
  ]

  key_schema = jsonencode([
    { AttributeName = "customer", KeyType = "HASH" },
    { AttributeName = "item", KeyType = "RANGE" },
  ])

  point_in_time_recovery_specification = {
    point_in_time_recovery_enabled = true
  }

  time_to_live_specification = {
    attribute_name = "expires"
    enabled        = true
  }

  tags = var.tags
}
