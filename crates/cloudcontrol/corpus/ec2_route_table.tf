resource "awscc_ec2_vpc" "main" {
  cidr_block = "10.0.0.0/16"
}

resource "awscc_ec2_route_table" "public" {
  vpc_id = awscc_ec2_vpc.main.vpc_id
  tags   = [{ key = "Name", value = "corpus-${var.revision}" }]
}

resource "awscc_ec2_internet_gateway" "main" {}

resource "awscc_ec2_route" "internet" {
  route_table_id         = awscc_ec2_route_table.public.route_table_id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = awscc_ec2_internet_gateway.main.internet_gateway_id
}
