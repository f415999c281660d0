resource "awscc_cloudfront_distribution" "site" {
  distribution_config = {
    enabled     = true
    comment     = "Revision ${var.revision}"
    price_class = "PriceClass_100"

    origins = [{
      id                   = "site"
      domain_name          = "site.example.com"
      custom_origin_config = { origin_protocol_policy = "https-only" }
    }]

    default_cache_behavior = {
      target_origin_id       = "site"
      viewer_protocol_policy = "redirect-to-https"
      cache_policy_id        = "658327ea-f89d-4fab-a63d-7e88639e58f6"
    }
  }
}
