resource "awscc_ec2_instance" "web" {
  image_id                = "ami-0123456789abcdef0"
  instance_type           = "t3.micro"
  subnet_id               = "subnet-0123456789abcdef0"
  disable_api_termination = var.revision == 2
  tags                    = [{ key = "Name", value = "corpus" }]
}
