resource "awscc_ec2_vpc" "main" {
  cidr_block = "10.0.0.0/16"
}

resource "awscc_ec2_internet_gateway" "main" {
  tags = [{ key = "Name", value = "corpus-${var.revision}" }]
}

resource "awscc_ec2_vpc_gateway_attachment" "main" {
  vpc_id              = awscc_ec2_vpc.main.vpc_id
  internet_gateway_id = awscc_ec2_internet_gateway.main.internet_gateway_id
}
