resource "awscc_iam_managed_policy" "read" {
  managed_policy_name = "corpus-read"
  policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = var.revision == 1 ? ["s3:GetObject"] : ["s3:GetObject", "s3:ListBucket"]
      Resource = "*"
    }]
  })
}
