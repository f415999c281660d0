resource "awscc_apigatewayv2_api" "shop" {
  name          = "corpus-shop"
  protocol_type = "HTTP"
  description   = "Revision ${var.revision}"
}

resource "awscc_apigatewayv2_stage" "live" {
  api_id      = awscc_apigatewayv2_api.shop.api_id
  stage_name  = "live"
  auto_deploy = true
}
