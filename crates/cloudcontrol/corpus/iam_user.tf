resource "awscc_iam_user" "deploy" {
  user_name           = "corpus-deploy"
  managed_policy_arns = var.revision == 1 ? [] : ["arn:aws:iam::aws:policy/ReadOnlyAccess"]
}
