resource "awscc_sns_topic" "alerts" {
  topic_name   = "corpus-alerts"
  display_name = "Alerts ${var.revision}"
  tags         = [{ key = "team", value = "ops" }]
}
