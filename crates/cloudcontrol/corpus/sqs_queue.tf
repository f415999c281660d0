resource "awscc_sqs_queue" "failed" {
  queue_name = "corpus-failed"
}

resource "awscc_sqs_queue" "jobs" {
  queue_name         = "corpus-jobs"
  visibility_timeout = var.revision == 1 ? 30 : 60
  redrive_policy     = jsonencode({ deadLetterTargetArn = awscc_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
