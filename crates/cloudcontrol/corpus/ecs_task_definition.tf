resource "awscc_ecs_task_definition" "web" {
  family                   = "corpus-web"
  cpu                      = "256"
  memory                   = "512"
  network_mode             = "awsvpc"
  requires_compatibilities = ["FARGATE"]
  tags                     = [{ key = "revision", value = tostring(var.revision) }]

  container_definitions = [{
    name          = "web"
    image         = "nginx:1.27"
    essential     = true
    port_mappings = [{ container_port = 80 }]
  }]
}
