# A small web shop's estate on AWS. It runs against the emulator inside groma: no account, no network.
# Remove the emulator argument and it is the same estate for AWS itself.

terraform {
  required_version = ">= 1.6"

  required_providers {
    awscc = {
      source = "hashicorp/awscc"
    }
  }
}

provider "awscc" {
  region   = "eu-central-1"
  emulator = {}
}

locals {
  name = "${var.project}-${var.environment}"

  tags = [
    { key = "Project", value = var.project },
    { key = "Environment", value = var.environment },
  ]
}

module "network" {
  source = "./modules/network"

  name               = local.name
  cidr_block         = var.cidr_block
  availability_zones = var.availability_zones
  ingress_ports      = var.ingress_ports
  tags               = local.tags
}

module "storage" {
  source = "./modules/storage"

  name       = local.name
  account_id = var.account_id
  buckets    = var.buckets
  tags       = local.tags
}

module "service" {
  source = "./modules/service"

  name              = local.name
  database_password = var.database_password
  bucket_arns       = module.storage.bucket_arns
  table_arn         = module.storage.table_arn
  table_name        = module.storage.table_name
  key_arn           = module.storage.key_arn
  workers           = var.workers
  alarm_email       = var.alarm_email
  tags              = local.tags
}

# What AWS itself says about the network, once it is there.
data "awscc_ec2_vpc" "main" {
  id = module.network.vpc_id
}
