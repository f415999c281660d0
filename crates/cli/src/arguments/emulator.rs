//! Arguments of `emulator` and its subcommands.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use groma_cloudcontrol::emulator::{FailingRequests, Hook};

use super::flags::Flag;

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
    /// Time until each call is answered, such as 100ms
    #[arg(long, value_name = "DURATION")]
    pub latency: Option<String>,
    /// Time that each request takes, such as 2s
    #[arg(long, value_name = "DURATION")]
    pub delay: Option<String>,
    /// Calls that are accepted in a second; further ones are throttled
    #[arg(long, value_name = "CALLS")]
    pub rate: Option<f64>,
    /// Let the next COUNT requests for a type fail with an error code of handlers
    #[arg(long, value_name = "TYPE:CODE:COUNT")]
    pub fault: Vec<FailingRequests>,
    /// Run a hook before each request, with the result pass, warn or fail
    #[arg(long, value_name = "NAME:RESULT")]
    pub hook: Vec<Hook>,
    /// Return arrays in another order, unless their order is significant
    #[arg(long)]
    pub shuffle: Option<Flag>,
    /// Seed of everything that is drawn: generated values of a new file, order, faults
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
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
