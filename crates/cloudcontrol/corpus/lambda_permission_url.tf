resource "awscc_lambda_url" "hook" {
  target_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:hook"
  auth_type           = var.revision == 1 ? "AWS_IAM" : "NONE"
}
