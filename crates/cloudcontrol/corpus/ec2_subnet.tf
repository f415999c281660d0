resource "awscc_ec2_vpc" "main" {
  cidr_block = "10.0.0.0/16"
}

resource "awscc_ec2_subnet" "private" {
  count                   = 2
  vpc_id                  = awscc_ec2_vpc.main.vpc_id
  cidr_block              = cidrsubnet("10.0.0.0/16", 8, count.index)
  availability_zone       = "eu-central-1${["a", "b"][count.index]}"
  map_public_ip_on_launch = var.revision == 2
}
