//! Arguments of `cloudcontrol` and its subcommands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::flags::{Flag, Variables};

#[derive(Debug, Subcommand)]
pub enum CloudControl {
    /// List the resource types of AWS Cloud Control, and why some are not offered
    Types(CloudControlTypes),
    /// Print the schema of a resource type
    Schema(CloudControlSchema),
    /// Print the least IAM policy for a configuration
    Permissions(CloudControlPermissions),
    /// Print import blocks and configuration for existing objects
    Adopt(CloudControlAdopt),
    /// Update the schemas
    #[command(subcommand)]
    Schemas(CloudControlSchemas),
}

#[derive(Args, Clone, Debug)]
pub struct CloudControlTypes {
    /// Part of a name, such as s3 or AWS::S3
    #[arg(value_name = "PATTERN")]
    pub pattern: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct CloudControlSchema {
    /// Type such as AWS::S3::Bucket or awscc_s3_bucket
    #[arg(value_name = "TYPE")]
    pub type_name: String,
}

#[derive(Args, Clone, Debug)]
pub struct CloudControlPermissions {
    /// Only the actions that a plan needs
    #[arg(long)]
    pub read_only: Option<Flag>,
    /// Types such as AWS::S3::Bucket or awscc_s3_bucket, instead of those of the configuration
    #[arg(value_name = "TYPE")]
    pub types: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct CloudControlAdopt {
    /// Properties that the list handler of the type needs, as a JSON object such as {"RestApiId": "abc"}
    #[arg(long, value_name = "JSON")]
    pub model: Option<String>,
    /// Provider block to use, such as awscc.europe
    #[arg(long, value_name = "PROVIDER")]
    pub provider: Option<String>,
    #[command(flatten)]
    pub variables: Variables,
    /// Type such as AWS::S3::Bucket or awscc_s3_bucket
    #[arg(value_name = "TYPE")]
    pub type_name: String,
    /// Primary identifiers of the objects, instead of all objects of the type
    #[arg(value_name = "IDENTIFIER")]
    pub identifiers: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum CloudControlSchemas {
    /// Read newer schemas: the zip archive that AWS publishes, or a folder of JSON files
    Update(CloudControlUpdate),
}

#[derive(Args, Clone, Debug)]
pub struct CloudControlUpdate {
    /// Archive, folder or file to read the schemas from
    #[arg(long, value_name = "PATH")]
    pub from: PathBuf,
}

impl CloudControl {
    /// Returns the values of input variables on the command line.
    pub fn variables(&self) -> Option<&Variables> {
        match self {
            Self::Adopt(arguments) => Some(&arguments.variables),
            Self::Types(_) | Self::Schema(_) | Self::Permissions(_) | Self::Schemas(_) => None,
        }
    }
}
