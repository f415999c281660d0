resource "awscc_secretsmanager_secret" "database" {
  name        = "corpus/database"
  description = "Revision ${var.revision}"

  generate_secret_string = {
    password_length     = 32
    exclude_punctuation = true
  }
}
