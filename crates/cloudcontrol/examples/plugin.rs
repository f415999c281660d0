//! The provider as a plugin, for hosts other than Groma: `cargo build --example plugin`, and a link called `terraform-provider-awscc` to
//! what that makes, in a folder that `dev_overrides` names.

use std::process::ExitCode;
use std::sync::Arc;

use groma_cloudcontrol::AwsCloudControl;

fn main() -> ExitCode {
    groma_framework::serve("registry.terraform.io/hashicorp/awscc", Arc::new(AwsCloudControl::default().served()))
}
