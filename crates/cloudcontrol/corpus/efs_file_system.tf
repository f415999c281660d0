resource "awscc_efs_file_system" "shared" {
  encrypted        = true
  performance_mode = "generalPurpose"
  throughput_mode  = var.revision == 1 ? "bursting" : "elastic"
  file_system_tags = [{ key = "Name", value = "corpus" }]
}
