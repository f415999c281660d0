# An HTTP API: functions behind API Gateway, a table for their data, and an alarm for their errors.
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
  default = "notes"
}

variable "functions" {
  description = "The memory of each function, by its route."
  type        = map(number)
  default = {
    "GET /notes"  = 128
    "POST /notes" = 256
  }
}

locals {
  # Names of functions have neither spaces nor slashes.
  names = { for route in keys(var.functions) : route => "${var.name}-${lower(replace(route, " /", "-"))}" }
}

resource "awscc_dynamodb_table" "notes" {
  table_name            = var.name
  billing_mode          = "PAY_PER_REQUEST"
  attribute_definitions = [{ attribute_name = "id", attribute_type = "S" }]
  key_schema            = jsonencode([{ AttributeName = "id", KeyType = "HASH" }])

  point_in_time_recovery_specification = {
    point_in_time_recovery_enabled = true
  }
}

resource "awscc_iam_role" "function" {
  role_name           = "${var.name}-function"
  managed_policy_arns = ["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"]
  assume_role_policy_document = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { Service = "lambda.amazonaws.com" }, Action = "sts:AssumeRole" }]
  })

  policies = [{
    policy_name = "table"
    policy_document = jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Effect   = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"]
        Resource = awscc_dynamodb_table.notes.arn
      }]
    })
  }]
}

resource "awscc_lambda_function" "route" {
  for_each = var.functions

  function_name = local.names[each.key]
  role          = awscc_iam_role.function.arn
  runtime       = "python3.12"
  handler       = "index.handler"
  memory_size   = each.value
  timeout       = 10

  code = {
    zip_file = "def handler(event, context):\n    return {'statusCode': 200}\n"
  }

  environment = {
    variables = { TABLE = awscc_dynamodb_table.notes.table_name }
  }
}

resource "awscc_apigatewayv2_api" "main" {
  name          = var.name
  protocol_type = "HTTP"
}

resource "awscc_apigatewayv2_integration" "route" {
  for_each = var.functions

  api_id                 = awscc_apigatewayv2_api.main.api_id
  integration_type       = "AWS_PROXY"
  integration_uri        = awscc_lambda_function.route[each.key].arn
  payload_format_version = "2.0"
}

resource "awscc_apigatewayv2_route" "route" {
  for_each = var.functions

  api_id    = awscc_apigatewayv2_api.main.api_id
  route_key = each.key
  target    = "integrations/${awscc_apigatewayv2_integration.route[each.key].integration_id}"
}

resource "awscc_apigatewayv2_stage" "live" {
  api_id      = awscc_apigatewayv2_api.main.api_id
  stage_name  = "$default"
  auto_deploy = true
}

resource "awscc_sns_topic" "alerts" {
  topic_name = "${var.name}-alerts"
}

resource "awscc_cloudwatch_alarm" "errors" {
  for_each = local.names

  alarm_name          = "${each.value}-errors"
  namespace           = "AWS/Lambda"
  metric_name         = "Errors"
  dimensions          = [{ name = "FunctionName", value = awscc_lambda_function.route[each.key].function_name }]
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = 0
  comparison_operator = "GreaterThanThreshold"
  alarm_actions       = [awscc_sns_topic.alerts.topic_arn]
}

output "endpoint" {
  value = awscc_apigatewayv2_api.main.api_endpoint
}
