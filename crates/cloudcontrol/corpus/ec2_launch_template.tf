resource "awscc_ec2_launch_template" "web" {
  launch_template_name = "corpus-web"

  launch_template_data = {
    image_id      = "ami-0123456789abcdef0"
    instance_type = var.revision == 1 ? "t3.micro" : "t3.small"
  }
}
