resource "awscc_ecs_cluster" "main" {
  cluster_name     = "corpus"
  cluster_settings = [{ name = "containerInsights", value = var.revision == 1 ? "enabled" : "disabled" }]
}
