resource "awscc_kinesis_stream" "clicks" {
  name                   = "corpus-clicks"
  shard_count            = 1
  retention_period_hours = var.revision * 24
}
