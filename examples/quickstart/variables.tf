variable "project" {
  description = "Short name of the project; part of most names."
  type        = string
  default     = "shop"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,14}$", var.project))
    error_message = "The project must be 2 to 15 lower case letters, digits and hyphens, and begin with a letter."
  }
}

variable "environment" {
  description = "Stage of the estate."
  type        = string
  default     = "dev"

  validation {
    condition     = contains(["dev", "test", "prod"], var.environment)
    error_message = "The environment must be one of dev, test and prod."
  }
}

variable "account_id" {
  description = "The account; bucket names contain it because they are unique in the world."
  type        = string
  default     = "123456789012"

  validation {
    condition     = length(regexall("^[0-9]{12}$", var.account_id)) == 1
    error_message = "An account has twelve digits."
  }
}

variable "cidr_block" {
  description = "Addresses of the network."
  type        = string
  default     = "10.20.0.0/16"

  validation {
    condition     = can(cidrnetmask(var.cidr_block))
    error_message = "This must be an IPv4 network such as 10.20.0.0/16."
  }
}

variable "availability_zones" {
  description = "Zones to spread over."
  type        = list(string)
  default     = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
}

variable "ingress_ports" {
  description = "Ports open to the world, by purpose."
  type        = map(number)
  default = {
    http  = 80
    https = 443
  }
}

variable "buckets" {
  description = "Buckets, and how long they keep old things."
  type = map(object({
    versioned       = optional(bool, true)
    expiration_days = optional(number)
  }))
  default = {
    assets = {}
    logs = {
      versioned       = false
      expiration_days = 90
    }
    backups = {
      expiration_days = 365
    }
  }
}

variable "workers" {
  description = "Functions that work on a queue each."
  type = map(object({
    memory  = optional(number, 128)
    timeout = optional(number, 30)
  }))
  default = {
    orders = {
      memory = 256
    }
    mails = {}
  }
}

variable "alarm_email" {
  description = "Who is told when something goes wrong."
  type        = string
  default     = "operations@example.com"
}

variable "database_password" {
  description = "Password of the shop's database user."
  type        = string
  sensitive   = true

  validation {
    condition     = length(var.database_password) >= 12
    error_message = "The password must have at least twelve characters."
  }
}
