resource "awscc_iam_role" "worker" {
  role_name   = "corpus-worker"
  description = "Revision ${var.revision}"
  assume_role_policy_document = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { Service = "lambda.amazonaws.com" }, Action = "sts:AssumeRole" }]
  })
  managed_policy_arns = ["arn:aws:iam::aws:policy/ReadOnlyAccess"]
}
