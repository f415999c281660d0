resource "awscc_backup_backup_vault" "main" {
  backup_vault_name = "corpus"
  backup_vault_tags = { revision = tostring(var.revision) }
}
