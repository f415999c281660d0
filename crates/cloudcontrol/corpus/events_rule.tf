resource "awscc_events_rule" "nightly" {
  name                = "corpus-nightly"
  schedule_expression = var.revision == 1 ? "rate(1 day)" : "rate(12 hours)"
  targets             = [{ id = "job", arn = "arn:aws:lambda:eu-central-1:123456789012:function:job" }]
}
