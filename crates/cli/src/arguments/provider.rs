//! Arguments of `provider` and `emulator`, which help to develop and evaluate providers.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::flags::{Duration, Flag};
use super::shared::View;

#[derive(Debug, Subcommand)]
pub enum Provider {
    /// Test a provider against the lifecycle rules, with generated configurations
    Check(ProviderCheck),
}

#[derive(Args, Clone, Debug)]
pub struct ProviderCheck {
    /// Also create, update and delete objects; affects a real account if the provider manages real services
    #[arg(long)]
    pub apply: Option<Flag>,
    /// Print machine-readable output: one JSON document
    #[arg(long)]
    pub json: Option<Flag>,
    /// Check only this resource type; may be repeated
    #[arg(long = "type", value_name = "TYPE")]
    pub types: Vec<String>,
    /// Use the provider block and resource blocks in this file instead of generated ones
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Number of configurations to generate for each type
    #[arg(long, value_name = "NUMBER", default_value_t = 24)]
    pub count: usize,
    /// Seed of the generator; the same seed generates the same configurations
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Time limit for one provider call
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Duration,
    #[command(flatten)]
    pub view: View,
    /// Source address such as hashicorp/random, or path of a provider executable
    #[arg(value_name = "ADDRESS|PATH")]
    pub provider: String,
}

#[derive(Debug, Subcommand)]
pub enum Emulator {
    /// Serve the Cloud Control API on a port
    Serve(EmulatorServe),
    /// List objects, optionally of one type
    List(EmulatorList),
    /// Print the properties of an object
    Get(EmulatorObject),
    /// Change an object, to simulate drift
    Patch(EmulatorPatch),
    /// Delete an object, to simulate drift
    Delete(EmulatorObject),
}

/// Flag that selects the emulator's data file.
#[derive(Args, Clone, Debug)]
pub struct EmulatorData {
    /// File that stores the emulated objects
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub struct EmulatorServe {
    #[command(flatten)]
    pub data: EmulatorData,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4599")]
    pub listen: String,
}

#[derive(Args, Clone, Debug)]
pub struct EmulatorList {
    #[command(flatten)]
    pub data: EmulatorData,
    /// Type such as AWS::S3::Bucket
    #[arg(value_name = "TYPE")]
    pub type_name: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct EmulatorObject {
    #[command(flatten)]
    pub data: EmulatorData,
    /// Type such as AWS::S3::Bucket
    #[arg(value_name = "TYPE")]
    pub type_name: String,
    /// Primary identifier of the object
    #[arg(value_name = "IDENTIFIER")]
    pub identifier: String,
}

#[derive(Args, Clone, Debug)]
pub struct EmulatorPatch {
    #[command(flatten)]
    pub object: EmulatorObject,
    /// JSON Patch document (RFC 6902)
    #[arg(value_name = "PATCH")]
    pub patch: String,
}
