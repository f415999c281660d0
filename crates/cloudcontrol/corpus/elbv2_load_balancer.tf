resource "awscc_elasticloadbalancingv2_load_balancer" "web" {
  name    = "corpus-web"
  type    = "application"
  scheme  = "internet-facing"
  subnets = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
  tags    = [{ key = "revision", value = tostring(var.revision) }]
}
