resource "awscc_logs_log_group" "web" {
  log_group_name    = "/corpus/web"
  retention_in_days = var.revision == 1 ? 14 : 30
  tags              = [{ key = "team", value = "web" }, { key = "stage", value = "test" }]
}
