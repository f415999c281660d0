output "vpc_id" {
  description = "The network."
  value       = awscc_ec2_vpc.main.vpc_id
}

output "public_subnets" {
  description = "Subnets with a way to the internet, by zone."
  value       = { for zone, subnet in awscc_ec2_subnet.public : zone => subnet.subnet_id }
}
