resource "awscc_autoscaling_auto_scaling_group" "web" {
  auto_scaling_group_name = "corpus-web"
  min_size                = "1"
  max_size                = var.revision == 1 ? "2" : "4"
  vpc_zone_identifier     = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]

  launch_template = {
    launch_template_id = "lt-0123456789abcdef0"
    version            = "1"
  }
}
