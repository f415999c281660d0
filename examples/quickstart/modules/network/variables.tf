variable "name" {
  description = "Beginning of all names."
  type        = string
}

variable "cidr_block" {
  description = "Addresses of the network."
  type        = string
}

variable "availability_zones" {
  description = "Zones to spread over, four at most."
  type        = list(string)

  validation {
    condition     = length(var.availability_zones) >= 1 && length(var.availability_zones) <= 4
    error_message = "One to four zones have room in the network."
  }
}

variable "ingress_ports" {
  description = "Ports open to the world, by purpose."
  type        = map(number)
}

variable "tags" {
  description = "Tags of everything."
  type        = list(object({ key = string, value = string }))
}
