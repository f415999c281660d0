variable "name" {
  description = "Beginning of all names."
  type        = string
}

variable "account_id" {
  description = "The account everything is in."
  type        = string
}

variable "buckets" {
  description = "Buckets, and how long they keep old things."
  type = map(object({
    versioned       = bool
    expiration_days = number
  }))
}

variable "tags" {
  description = "Tags of everything."
  type        = list(object({ key = string, value = string }))
}
