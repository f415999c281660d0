resource "awscc_ec2_eip" "nat" {
  domain = "vpc"
}

resource "awscc_ec2_nat_gateway" "main" {
  subnet_id     = "subnet-0123456789abcdef0"
  allocation_id = awscc_ec2_eip.nat.allocation_id
  tags          = [{ key = "Name", value = "corpus-${var.revision}" }]
}
