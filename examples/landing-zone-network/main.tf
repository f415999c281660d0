# The network of an account: public and private subnets in each zone, their routes, endpoints and flow logs.
# Remove the emulator argument to create it in an AWS account.

terraform {
  required_version = ">= 1.6"

  required_providers {
    awscc = {
      source = "hashicorp/awscc"
    }
  }
}

provider "awscc" {
  region   = local.region
  emulator = {}
}

variable "name" {
  type    = string
  default = "landing-zone"
}

variable "cidr_block" {
  type    = string
  default = "10.20.0.0/16"
}

variable "zones" {
  type    = list(string)
  default = ["a", "b"]
}

variable "flow_log_retention_in_days" {
  type    = number
  default = 90
}

locals {
  region = "eu-central-1"
  zones  = { for index, zone in var.zones : "${local.region}${zone}" => index }
  tags   = [{ key = "Name", value = var.name }]
}

resource "awscc_ec2_vpc" "main" {
  cidr_block           = var.cidr_block
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = local.tags
}

resource "awscc_ec2_subnet" "public" {
  for_each = local.zones

  vpc_id                  = awscc_ec2_vpc.main.vpc_id
  availability_zone       = each.key
  cidr_block              = cidrsubnet(var.cidr_block, 8, each.value)
  map_public_ip_on_launch = true
  tags                    = [{ key = "Name", value = "${var.name}-public-${each.key}" }]
}

resource "awscc_ec2_subnet" "private" {
  for_each = local.zones

  vpc_id            = awscc_ec2_vpc.main.vpc_id
  availability_zone = each.key
  cidr_block        = cidrsubnet(var.cidr_block, 8, each.value + 100)
  tags              = [{ key = "Name", value = "${var.name}-private-${each.key}" }]
}

resource "awscc_ec2_internet_gateway" "main" {
  tags = local.tags
}

resource "awscc_ec2_vpc_gateway_attachment" "main" {
  vpc_id              = awscc_ec2_vpc.main.vpc_id
  internet_gateway_id = awscc_ec2_internet_gateway.main.internet_gateway_id
}

resource "awscc_ec2_eip" "nat" {
  for_each = local.zones
  domain   = "vpc"
}

resource "awscc_ec2_nat_gateway" "main" {
  for_each = local.zones

  subnet_id     = awscc_ec2_subnet.public[each.key].subnet_id
  allocation_id = awscc_ec2_eip.nat[each.key].allocation_id
}

resource "awscc_ec2_route_table" "public" {
  vpc_id = awscc_ec2_vpc.main.vpc_id
  tags   = local.tags
}

resource "awscc_ec2_route" "internet" {
  route_table_id         = awscc_ec2_route_table.public.route_table_id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = awscc_ec2_internet_gateway.main.internet_gateway_id

  # A route needs a gateway that is attached to the network.
  depends_on = [awscc_ec2_vpc_gateway_attachment.main]
}

resource "awscc_ec2_subnet_route_table_association" "public" {
  for_each = local.zones

  subnet_id      = awscc_ec2_subnet.public[each.key].subnet_id
  route_table_id = awscc_ec2_route_table.public.route_table_id
}

resource "awscc_ec2_route_table" "private" {
  for_each = local.zones
  vpc_id   = awscc_ec2_vpc.main.vpc_id
}

resource "awscc_ec2_route" "nat" {
  for_each = local.zones

  route_table_id         = awscc_ec2_route_table.private[each.key].route_table_id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = awscc_ec2_nat_gateway.main[each.key].nat_gateway_id
}

resource "awscc_ec2_subnet_route_table_association" "private" {
  for_each = local.zones

  subnet_id      = awscc_ec2_subnet.private[each.key].subnet_id
  route_table_id = awscc_ec2_route_table.private[each.key].route_table_id
}

resource "awscc_logs_log_group" "flow" {
  log_group_name    = "/network/${var.name}"
  retention_in_days = var.flow_log_retention_in_days
}

resource "awscc_ec2_flow_log" "main" {
  resource_id          = awscc_ec2_vpc.main.vpc_id
  resource_type        = "VPC"
  traffic_type         = "REJECT"
  log_destination_type = "cloud-watch-logs"
  log_destination      = awscc_logs_log_group.flow.arn
}

output "private_subnets" {
  value = { for zone, subnet in awscc_ec2_subnet.private : zone => subnet.subnet_id }
}
