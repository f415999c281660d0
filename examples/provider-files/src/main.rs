//! The plugin that Terraform, OpenTofu and Groma start.

fn main() -> std::process::ExitCode {
    terraform_provider_files::provider().serve("registry.terraform.io/example/files")
}
