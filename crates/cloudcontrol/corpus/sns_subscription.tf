resource "awscc_sns_topic" "orders" {
  topic_name = "corpus-orders"
}

resource "awscc_sqs_queue" "orders" {
  queue_name = "corpus-orders"
}

resource "awscc_sns_subscription" "orders" {
  topic_arn            = awscc_sns_topic.orders.topic_arn
  protocol             = "sqs"
  endpoint             = awscc_sqs_queue.orders.arn
  raw_message_delivery = var.revision == 1
}
