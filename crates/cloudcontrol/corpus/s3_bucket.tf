resource "awscc_s3_bucket" "assets" {
  bucket_name = "corpus-assets"

  versioning_configuration = {
    status = var.revision == 1 ? "Enabled" : "Suspended"
  }

  bucket_encryption = {
    server_side_encryption_configuration = [{
      server_side_encryption_by_default = { sse_algorithm = "AES256" }
    }]
  }

  tags = [{ key = "team", value = "web" }, { key = "stage", value = "test" }]
}
