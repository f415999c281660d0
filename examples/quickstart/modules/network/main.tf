terraform {
  required_providers {
    awscc = {
      source = "hashicorp/awscc"
    }
  }
}

locals {
  # Eight equal networks: the first half public, the second half private.
  networks = cidrsubnets(var.cidr_block, 3, 3, 3, 3, 3, 3, 3, 3)
  zones    = { for index, zone in var.availability_zones : zone => index }
}

resource "awscc_ec2_vpc" "main" {
  cidr_block           = var.cidr_block
  enable_dns_support   = true
  enable_dns_hostnames = true

  tags = concat(var.tags, [{ key = "Name", value = var.name }])
}

resource "awscc_ec2_internet_gateway" "main" {
  tags = concat(var.tags, [{ key = "Name", value = var.name }])
}

resource "awscc_ec2_vpc_gateway_attachment" "main" {
  vpc_id              = awscc_ec2_vpc.main.vpc_id
  internet_gateway_id = awscc_ec2_internet_gateway.main.internet_gateway_id
}

resource "awscc_ec2_subnet" "public" {
  for_each = local.zones

  vpc_id                  = awscc_ec2_vpc.main.vpc_id
  availability_zone       = each.key
  cidr_block              = local.networks[each.value]
  map_public_ip_on_launch = true

  tags = concat(var.tags, [{ key = "Name", value = "${var.name}-public-${each.key}" }])
}

resource "awscc_ec2_subnet" "private" {
  for_each = local.zones

  vpc_id            = awscc_ec2_vpc.main.vpc_id
  availability_zone = each.key
  cidr_block        = local.networks[each.value + 4]

  tags = concat(var.tags, [{ key = "Name", value = "${var.name}-private-${each.key}" }])
}

resource "awscc_ec2_route_table" "public" {
  vpc_id = awscc_ec2_vpc.main.vpc_id

  tags = concat(var.tags, [{ key = "Name", value = "${var.name}-public" }])
}

resource "awscc_ec2_route_table" "private" {
  count = length(var.availability_zones)

  vpc_id = awscc_ec2_vpc.main.vpc_id

  tags = concat(var.tags, [{ key = "Name", value = "${var.name}-private-${count.index}" }])
}

resource "awscc_ec2_route" "internet" {
  route_table_id         = awscc_ec2_route_table.public.route_table_id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = awscc_ec2_internet_gateway.main.internet_gateway_id

  depends_on = [awscc_ec2_vpc_gateway_attachment.main]
}

resource "awscc_ec2_subnet_route_table_association" "public" {
  for_each = awscc_ec2_subnet.public

  subnet_id      = each.value.subnet_id
  route_table_id = awscc_ec2_route_table.public.route_table_id
}

resource "awscc_ec2_subnet_route_table_association" "private" {
  for_each = awscc_ec2_subnet.private

  subnet_id      = each.value.subnet_id
  route_table_id = awscc_ec2_route_table.private[local.zones[each.key]].route_table_id
}

resource "awscc_ec2_security_group" "web" {
  group_name        = "${var.name}-web"
  group_description = "Front door of the shop"
  vpc_id            = awscc_ec2_vpc.main.vpc_id

  security_group_ingress = [
    for purpose, port in var.ingress_ports : {
      description = purpose
      ip_protocol = "tcp"
      from_port   = port
      to_port     = port
      cidr_ip     = "0.0.0.0/0"
    }
  ]

  tags = var.tags
}

resource "awscc_ec2_security_group" "database" {
  group_name        = "${var.name}-database"
  group_description = "Database of the shop"
  vpc_id            = awscc_ec2_vpc.main.vpc_id

  tags = var.tags
}

resource "awscc_ec2_security_group_ingress" "database" {
  group_id                 = awscc_ec2_security_group.database.group_id
  description              = "PostgreSQL from the front door"
  ip_protocol              = "tcp"
  from_port                = 5432
  to_port                  = 5432
  source_security_group_id = awscc_ec2_security_group.web.group_id
}
