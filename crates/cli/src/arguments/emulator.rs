//! Arguments of `emulator` and its subcommands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
