resource "awscc_ec2_vpc" "main" {
  cidr_block = "10.0.0.0/16"
}

resource "awscc_ec2_security_group" "web" {
  group_name        = "corpus-web"
  group_description = "Web servers"
  vpc_id            = awscc_ec2_vpc.main.vpc_id

  security_group_ingress = [
    for port in(var.revision == 1 ? [443] : [80, 443]) :
    { ip_protocol = "tcp", from_port = port, to_port = port, cidr_ip = "0.0.0.0/0" }
  ]
}
