resource "awscc_sqs_queue" "jobs" {
  queue_name = "corpus-mapped"
}

resource "awscc_lambda_event_source_mapping" "jobs" {
  function_name    = "corpus-consumer"
  event_source_arn = awscc_sqs_queue.jobs.arn
  batch_size       = var.revision == 1 ? 10 : 5
}
