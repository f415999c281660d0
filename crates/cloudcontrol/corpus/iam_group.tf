resource "awscc_iam_group" "developers" {
  group_name          = "corpus-developers"
  managed_policy_arns = var.revision == 1 ? ["arn:aws:iam::aws:policy/ReadOnlyAccess"] : ["arn:aws:iam::aws:policy/PowerUserAccess"]
}
