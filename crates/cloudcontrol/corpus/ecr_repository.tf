resource "awscc_ecr_repository" "web" {
  repository_name      = "corpus/web"
  image_tag_mutability = var.revision == 1 ? "MUTABLE" : "IMMUTABLE"

  lifecycle_policy = {
    lifecycle_policy_text = jsonencode({
      rules = [{
        rulePriority = 1
        selection    = { tagStatus = "untagged", countType = "imageCountMoreThan", countNumber = 10 }
        action       = { type = "expire" }
      }]
    })
  }
}
