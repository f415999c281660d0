resource "awscc_scheduler_schedule" "report" {
  name                 = "corpus-report"
  schedule_expression  = var.revision == 1 ? "rate(1 hour)" : "rate(2 hours)"
  flexible_time_window = { mode = "OFF" }

  target = {
    arn      = "arn:aws:lambda:eu-central-1:123456789012:function:report"
    role_arn = "arn:aws:iam::123456789012:role/scheduler"
  }
}
