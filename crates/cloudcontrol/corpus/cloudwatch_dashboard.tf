resource "awscc_cloudwatch_dashboard" "main" {
  dashboard_name = "corpus"
  dashboard_body = jsonencode({ widgets = [{ type = "text", x = 0, y = 0, width = var.revision, height = 1 }] })
}
