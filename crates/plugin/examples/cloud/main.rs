//! The mock cloud provider of the tests as a plugin: `cloud_object` enforces rules as clouds do. The provider argument
//! `store` names the directory of its objects.

use std::process::ExitCode;
use std::sync::Arc;

use groma_scripted::cloud::{Cloud, Store};

fn main() -> ExitCode {
    let cloud = Cloud::new("cloud", Store::at("cloud-store"));
    groma_plugin::serve("registry.terraform.io/example/cloud", Arc::new(cloud))
}
