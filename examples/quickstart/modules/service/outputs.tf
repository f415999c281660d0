output "queue_urls" {
  description = "Where work is sent to, by worker."
  value       = { for worker, queue in awscc_sqs_queue.work : worker => queue.queue_url }
}
