resource "awscc_apigateway_rest_api" "shop" {
  name        = "corpus-shop"
  description = "Revision ${var.revision}"
}

resource "awscc_apigateway_resource" "items" {
  rest_api_id = awscc_apigateway_rest_api.shop.rest_api_id
  parent_id   = awscc_apigateway_rest_api.shop.root_resource_id
  path_part   = "items"
}
