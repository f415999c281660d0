resource "awscc_iam_role" "resize" {
  role_name = "corpus-resize"
  assume_role_policy_document = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { Service = "lambda.amazonaws.com" }, Action = "sts:AssumeRole" }]
  })
}

resource "awscc_lambda_function" "resize" {
  function_name = "corpus-resize"
  role          = awscc_iam_role.resize.arn
  runtime       = "python3.12"
  handler       = "index.handler"
  memory_size   = var.revision == 1 ? 128 : 256
  code          = { zip_file = "def handler(event, context): return event" }

  environment = {
    variables = { LOG_LEVEL = "info" }
  }
}
