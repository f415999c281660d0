//! Arguments of `cloudcontrol` and its subcommands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::flags::Flag;

#[derive(Debug, Subcommand)]
pub enum CloudControl {
    /// List the resource types of AWS Cloud Control, and why some are not offered
    Types(CloudControlTypes),
    /// Print the schema of a resource type
    Schema(CloudControlSchema),
    /// Print the least IAM policy for a configuration
    Permissions(CloudControlPermissions),
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
