variable "name" {
  description = "Beginning of all names."
  type        = string
}

variable "database_password" {
  description = "Password of the database user."
  type        = string
  sensitive   = true
}

variable "bucket_arns" {
  description = "Buckets the workers read."
  type        = list(string)
}

variable "table_arn" {
  description = "The table the workers use."
  type        = string
}

variable "table_name" {
  description = "The table's name."
  type        = string
}

variable "key_arn" {
  description = "The key it is encrypted with."
  type        = string
}

variable "workers" {
  description = "Functions that work on a queue each."
  type = map(object({
    memory  = number
    timeout = number
  }))
}

variable "alarm_email" {
  description = "Who is told when something goes wrong."
  type        = string
}

variable "tags" {
  description = "Tags of everything."
  type        = list(object({ key = string, value = string }))
}
