resource "awscc_cognito_user_pool" "customers" {
  user_pool_name           = "corpus-customers"
  auto_verified_attributes = ["email"]
  mfa_configuration        = "OFF"

  policies = {
    password_policy = { minimum_length = 8 + var.revision, require_numbers = true }
  }
}
