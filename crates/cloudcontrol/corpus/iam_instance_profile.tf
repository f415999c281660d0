resource "awscc_iam_role" "web" {
  role_name = "corpus-web"
  assume_role_policy_document = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { Service = "ec2.amazonaws.com" }, Action = "sts:AssumeRole" }]
  })
}

resource "awscc_iam_role" "jobs" {
  role_name = "corpus-jobs"
  assume_role_policy_document = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { Service = "ec2.amazonaws.com" }, Action = "sts:AssumeRole" }]
  })
}

resource "awscc_iam_instance_profile" "web" {
  instance_profile_name = "corpus-web"
  roles                 = [var.revision == 1 ? awscc_iam_role.web.id : awscc_iam_role.jobs.id]
}
