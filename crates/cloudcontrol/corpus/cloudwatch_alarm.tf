resource "awscc_cloudwatch_alarm" "errors" {
  alarm_name          = "corpus-errors"
  namespace           = "AWS/Lambda"
  metric_name         = "Errors"
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 1
  threshold           = var.revision
  comparison_operator = "GreaterThanThreshold"

  alarm_actions = [
    "arn:aws:sns:eu-central-1:123456789012:alerts",
    "arn:aws:sns:eu-central-1:123456789012:pager",
  ]
}
