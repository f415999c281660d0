resource "awscc_route53_hosted_zone" "example" {
  name               = "corpus.example.com"
  hosted_zone_config = { comment = "Revision ${var.revision}" }
}
