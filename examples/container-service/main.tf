# A web service in containers: a cluster on Fargate behind a load balancer, with logs and an image repository.
# Remove the emulator argument, and set the network variables, to create it in an AWS account.

terraform {
  required_version = ">= 1.6"

  required_providers {
    awscc = {
      source = "hashicorp/awscc"
    }
  }
}

provider "awscc" {
  region   = "eu-central-1"
  emulator = {}
}

variable "name" {
  type    = string
  default = "shop"
}

variable "image_tag" {
  description = "The image to run."
  type        = string
  default     = "1.0.0"
}

variable "tasks" {
  description = "The number of containers."
  type        = number
  default     = 2
}

variable "vpc_id" {
  type    = string
  default = "vpc-0123456789abcdef0"
}

variable "subnet_ids" {
  type    = list(string)
  default = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
}

resource "awscc_ecr_repository" "web" {
  repository_name      = "${var.name}/web"
  image_tag_mutability = "IMMUTABLE"

  image_scanning_configuration = {
    scan_on_push = true
  }
}

resource "awscc_logs_log_group" "web" {
  log_group_name    = "/ecs/${var.name}/web"
  retention_in_days = 30
}

resource "awscc_iam_role" "execution" {
  role_name           = "${var.name}-execution"
  managed_policy_arns = ["arn:aws:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy"]
  assume_role_policy_document = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { Service = "ecs-tasks.amazonaws.com" }, Action = "sts:AssumeRole" }]
  })
}

resource "awscc_ec2_security_group" "web" {
  group_description = "HTTP from anywhere"
  vpc_id            = var.vpc_id

  security_group_ingress = [
    { ip_protocol = "tcp", from_port = 80, to_port = 80, cidr_ip = "0.0.0.0/0" },
  ]
}

resource "awscc_elasticloadbalancingv2_load_balancer" "web" {
  name            = "${var.name}-web"
  type            = "application"
  scheme          = "internet-facing"
  subnets         = var.subnet_ids
  security_groups = [awscc_ec2_security_group.web.group_id]
}

resource "awscc_elasticloadbalancingv2_target_group" "web" {
  name              = "${var.name}-web"
  port              = 8080
  protocol          = "HTTP"
  target_type       = "ip"
  vpc_id            = var.vpc_id
  health_check_path = "/health"
}

resource "awscc_elasticloadbalancingv2_listener" "http" {
  load_balancer_arn = awscc_elasticloadbalancingv2_load_balancer.web.load_balancer_arn
  port              = 80
  protocol          = "HTTP"

  default_actions = [{
    type             = "forward"
    target_group_arn = awscc_elasticloadbalancingv2_target_group.web.target_group_arn
  }]
}

resource "awscc_ecs_cluster" "main" {
  cluster_name = var.name
}

resource "awscc_ecs_task_definition" "web" {
  family                   = "${var.name}-web"
  cpu                      = "256"
  memory                   = "512"
  network_mode             = "awsvpc"
  requires_compatibilities = ["FARGATE"]
  execution_role_arn       = awscc_iam_role.execution.arn

  container_definitions = [{
    name          = "web"
    image         = "${awscc_ecr_repository.web.repository_uri}:${var.image_tag}"
    essential     = true
    port_mappings = [{ container_port = 8080 }]

    log_configuration = {
      log_driver = "awslogs"
      options = {
        "awslogs-group"         = awscc_logs_log_group.web.log_group_name
        "awslogs-region"        = "eu-central-1"
        "awslogs-stream-prefix" = "web"
      }
    }
  }]
}

resource "awscc_ecs_service" "web" {
  service_name    = "web"
  cluster         = awscc_ecs_cluster.main.arn
  task_definition = awscc_ecs_task_definition.web.task_definition_arn
  desired_count   = var.tasks
  launch_type     = "FARGATE"

  network_configuration = {
    awsvpc_configuration = {
      subnets         = var.subnet_ids
      security_groups = [awscc_ec2_security_group.web.group_id]
    }
  }

  load_balancers = [{
    container_name   = "web"
    container_port   = 8080
    target_group_arn = awscc_elasticloadbalancingv2_target_group.web.target_group_arn
  }]

  # The service cannot register its containers before the target group has a listener.
  depends_on = [awscc_elasticloadbalancingv2_listener.http]
}

output "address" {
  value = awscc_elasticloadbalancingv2_load_balancer.web.dns_name
}
