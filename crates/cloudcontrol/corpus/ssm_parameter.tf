resource "awscc_ssm_parameter" "level" {
  name        = "/corpus/level"
  type        = "String"
  value       = "info-${var.revision}"
  description = "The log level."
}
