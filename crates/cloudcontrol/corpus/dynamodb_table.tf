resource "awscc_dynamodb_table" "carts" {
  table_name   = "corpus-carts"
  billing_mode = "PAY_PER_REQUEST"

  attribute_definitions = [{ attribute_name = "id", attribute_type = "S" }]
  key_schema            = jsonencode([{ AttributeName = "id", KeyType = "HASH" }])

  time_to_live_specification = {
    attribute_name = "expires"
    enabled        = var.revision == 1
  }
}
