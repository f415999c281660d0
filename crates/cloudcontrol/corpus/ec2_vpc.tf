resource "awscc_ec2_vpc" "main" {
  cidr_block           = "10.0.0.0/16"
  enable_dns_hostnames = var.revision == 1
  tags                 = [{ key = "Name", value = "corpus" }]
}
