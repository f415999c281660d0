resource "awscc_rds_db_subnet_group" "main" {
  db_subnet_group_name        = "corpus-main"
  db_subnet_group_description = "Private subnets"
  subnet_ids                  = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
}

resource "awscc_rds_db_instance" "main" {
  db_instance_identifier  = "corpus-main"
  db_instance_class       = "db.t3.micro"
  engine                  = "postgres"
  allocated_storage       = "20"
  backup_retention_period = var.revision
  master_username         = "administrator"
  master_user_password    = "correct-horse-battery"
  db_subnet_group_name    = awscc_rds_db_subnet_group.main.db_subnet_group_name
}
