//! The built-in Cloud Control provider as a plugin, for Terraform and OpenTofu.

use std::process::ExitCode;
use std::sync::Arc;

use groma_cloudcontrol::AwsCloudControl;

fn main() -> ExitCode {
    groma_plugin::serve("registry.terraform.io/hashicorp/awscc", Arc::new(AwsCloudControl::default().served()))
}
