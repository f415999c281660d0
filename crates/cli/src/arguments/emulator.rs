//! `emulator` and its commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The subcommands of `emulator`.
#[derive(Debug, Subcommand)]
pub enum Emulator {
    /// Answer the Cloud Control API on a port
    Serve(EmulatorServe),
    /// List the objects of a type, or of all types
    List(EmulatorList),
    /// Show one object
    Get(EmulatorObject),
    /// Change one object, as somebody else would
    Patch(EmulatorPatch),
    /// Delete one object, as somebody else would
    Delete(EmulatorObject),
}

/// The storage of an emulator's objects.
#[derive(Args, Clone, Debug)]
pub struct EmulatorData {
    /// The file that holds the objects
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
}

/// Arguments of `emulator serve`.
#[derive(Args, Clone, Debug)]
pub struct EmulatorServe {
    /// Options for the emulator's storage
    #[command(flatten)]
    pub data: EmulatorData,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4599")]
    pub listen: String,
}

/// Arguments of `emulator list`.
#[derive(Args, Clone, Debug)]
pub struct EmulatorList {
    /// Options for the emulator's storage
    #[command(flatten)]
    pub data: EmulatorData,
    /// A type such as AWS::S3::Bucket
    #[arg(value_name = "TYPE")]
    pub type_name: Option<String>,
}

/// Arguments of `emulator get` and `emulator delete`.
#[derive(Args, Clone, Debug)]
pub struct EmulatorObject {
    /// Options for the emulator's storage
    #[command(flatten)]
    pub data: EmulatorData,
    /// A type such as AWS::S3::Bucket
    #[arg(value_name = "TYPE")]
    pub type_name: String,
    /// The primary identifier
    #[arg(value_name = "IDENTIFIER")]
    pub identifier: String,
}

/// Arguments of `emulator patch`.
#[derive(Args, Clone, Debug)]
pub struct EmulatorPatch {
    /// The object
    #[command(flatten)]
    pub object: EmulatorObject,
    /// A JSON Patch document (RFC 6902)
    #[arg(value_name = "PATCH")]
    pub patch: String,
}
