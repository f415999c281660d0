terraform {
  required_providers {
    awscc = {
      source = "hashicorp/awscc"
    }
  }
}

locals {
  assume_by_lambda = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Principal = { Service = "lambda.amazonaws.com" }
        Action    = "sts:AssumeRole"
      },
    ]
  })
}

resource "awscc_sns_topic" "alarms" {
  topic_name   = "${var.name}-alarms"
  display_name = "Alarms of ${var.name}"

  tags = var.tags
}

resource "awscc_sns_subscription" "alarms" {
  topic_arn = awscc_sns_topic.alarms.topic_arn
  protocol  = "email"
  endpoint  = var.alarm_email
}

resource "awscc_ssm_parameter" "database_password" {
  name        = "/${var.name}/database/password"
  type        = "String"
  description = "Password of the database user"
  value       = var.database_password
}

resource "awscc_iam_role" "worker" {
  for_each = var.workers

  role_name                   = "${var.name}-${each.key}"
  description                 = "What the function ${each.key} may do"
  assume_role_policy_document = local.assume_by_lambda
  managed_policy_arns         = ["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"]

  policies = [
    {
      policy_name = "work"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [
          {
            Effect   = "Allow"
            Action   = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
            Resource = awscc_sqs_queue.work[each.key].arn
          },
          {
            Effect   = "Allow"
            Action   = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"]
            Resource = var.table_arn
          },
          {
            Effect   = "Allow"
            Action   = ["s3:GetObject"]
            Resource = [for arn in var.bucket_arns : "${arn}/*"]
          },
          {
            Effect   = "Allow"
            Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
            Resource = var.key_arn
          },
        ]
      })
    },
  ]

  tags = var.tags
}

resource "awscc_sqs_queue" "dead" {
  queue_name               = "${var.name}-dead"
  message_retention_period = 1209600

  tags = var.tags
}

resource "awscc_sqs_queue" "work" {
  for_each = var.workers

  queue_name         = "${var.name}-${each.key}"
  visibility_timeout = each.value.timeout * 6

  redrive_policy = jsonencode({
    deadLetterTargetArn = awscc_sqs_queue.dead.arn
    maxReceiveCount     = 5
  })

  tags = var.tags
}

resource "awscc_logs_log_group" "worker" {
  for_each = var.workers

  log_group_name    = "/aws/lambda/${var.name}-${each.key}"
  retention_in_days = 30

  tags = var.tags
}

resource "awscc_lambda_function" "worker" {
  for_each = var.workers

  function_name = "${var.name}-${each.key}"
  description   = "Works on ${each.key}"
  role          = awscc_iam_role.worker[each.key].arn
  runtime       = "python3.13"
  handler       = "index.handler"
  memory_size   = each.value.memory
  timeout       = each.value.timeout

  code = {
    zip_file = <<-EOT
      def handler(event, context):
          for record in event["Records"]:
              print(record["body"])
    EOT
  }

  environment = {
    variables = {
      TABLE_NAME         = var.table_name
      PASSWORD_PARAMETER = awscc_ssm_parameter.database_password.name
    }
  }

  tags = var.tags

  depends_on = [awscc_logs_log_group.worker]
}

resource "awscc_lambda_event_source_mapping" "worker" {
  for_each = var.workers

  event_source_arn = awscc_sqs_queue.work[each.key].arn
  function_name    = awscc_lambda_function.worker[each.key].function_name
  batch_size       = 10
}

resource "awscc_cloudwatch_alarm" "dead" {
  alarm_name          = "${var.name}-dead-letters"
  alarm_description   = "Something could not be worked on"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 300
  evaluation_periods  = 1
  alarm_actions       = [awscc_sns_topic.alarms.topic_arn]

  dimensions = [
    { name = "QueueName", value = awscc_sqs_queue.dead.queue_name },
  ]
}
