resource "awscc_elasticloadbalancingv2_target_group" "web" {
  name                          = "corpus-web"
  port                          = 80
  protocol                      = "HTTP"
  vpc_id                        = "vpc-0123456789abcdef0"
  target_type                   = "ip"
  health_check_interval_seconds = var.revision == 1 ? 30 : 15
}
