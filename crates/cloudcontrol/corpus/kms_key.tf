resource "awscc_kms_key" "data" {
  description         = "Revision ${var.revision}"
  enable_key_rotation = true
  key_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "kms:*", Resource = "*" }]
  })
}

resource "awscc_kms_alias" "data" {
  alias_name    = "alias/corpus-data"
  target_key_id = awscc_kms_key.data.key_id
}
