resource "awscc_stepfunctions_state_machine" "import" {
  state_machine_name = "corpus-import"
  role_arn           = "arn:aws:iam::123456789012:role/states"
  definition_string = jsonencode({
    StartAt = "Wait"
    States  = { Wait = { Type = "Wait", Seconds = var.revision, End = true } }
  })
}
