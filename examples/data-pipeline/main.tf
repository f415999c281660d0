# A pipeline for events: a stream, its delivery into a bucket, a catalog of tables, and a nightly report.
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
  region   = "eu-central-1"
  emulator = {}
}

variable "name" {
  type    = string
  default = "clicks"
}

variable "account_id" {
  type    = string
  default = "123456789012"
}

variable "retention_hours" {
  description = "How long the stream keeps events."
  type        = number
  default     = 24
}

resource "awscc_kms_key" "data" {
  description         = "Events of ${var.name}"
  enable_key_rotation = true
  key_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::${var.account_id}:root" }, Action = "kms:*", Resource = "*" }]
  })
}

resource "awscc_s3_bucket" "events" {
  bucket_name = "${var.name}-events-${var.account_id}"

  bucket_encryption = {
    server_side_encryption_configuration = [{
      server_side_encryption_by_default = {
        sse_algorithm     = "aws:kms"
        kms_master_key_id = awscc_kms_key.data.arn
      }
    }]
  }

  lifecycle_configuration = {
    rules = [{ id = "archive", status = "Enabled", transitions = [{ storage_class = "GLACIER", transition_in_days = 90 }] }]
  }
}

resource "awscc_kinesis_stream" "events" {
  name                   = var.name
  retention_period_hours = var.retention_hours
  stream_mode_details    = { stream_mode = "ON_DEMAND" }
}

resource "awscc_iam_role" "delivery" {
  role_name = "${var.name}-delivery"
  assume_role_policy_document = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { Service = "firehose.amazonaws.com" }, Action = "sts:AssumeRole" }]
  })

  policies = [{
    policy_name = "delivery"
    policy_document = jsonencode({
      Version = "2012-10-17"
      Statement = [
        { Effect = "Allow", Action = ["kinesis:GetRecords", "kinesis:GetShardIterator"], Resource = awscc_kinesis_stream.events.arn },
        { Effect = "Allow", Action = "s3:PutObject", Resource = "${awscc_s3_bucket.events.arn}/*" },
      ]
    })
  }]
}

resource "awscc_kinesisfirehose_delivery_stream" "events" {
  delivery_stream_name = var.name
  delivery_stream_type = "KinesisStreamAsSource"

  kinesis_stream_source_configuration = {
    kinesis_stream_arn = awscc_kinesis_stream.events.arn
    role_arn           = awscc_iam_role.delivery.arn
  }

  s3_destination_configuration = {
    bucket_arn      = awscc_s3_bucket.events.arn
    role_arn        = awscc_iam_role.delivery.arn
    prefix          = "events/"
    buffering_hints = { interval_in_seconds = 300, size_in_m_bs = 64 }
  }
}

resource "awscc_glue_database" "events" {
  catalog_id    = var.account_id
  database_name = var.name

  database_input = {
    name         = var.name
    description  = "Events, as they were delivered"
    location_uri = "s3://${awscc_s3_bucket.events.bucket_name}/events/"
  }
}

resource "awscc_athena_work_group" "reports" {
  name = "${var.name}-reports"

  work_group_configuration = {
    enforce_work_group_configuration = true
    result_configuration = {
      output_location = "s3://${awscc_s3_bucket.events.bucket_name}/reports/"
    }
  }
}

resource "awscc_sqs_queue" "reports" {
  queue_name = "${var.name}-reports"
}

resource "awscc_events_rule" "nightly" {
  name                = "${var.name}-nightly"
  schedule_expression = "cron(0 2 * * ? *)"
  targets             = [{ id = "reports", arn = awscc_sqs_queue.reports.arn }]
}

output "bucket" {
  value = awscc_s3_bucket.events.bucket_name
}
