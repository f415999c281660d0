//! `provider` and its commands: for those who write providers, and those who choose one.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::flags::{Duration, Flag};
use super::shared::View;

/// The subcommands of `provider`.
#[derive(Debug, Subcommand)]
pub enum Provider {
    /// Hold a provider to the lifecycle rules, with made-up configurations
    Check(ProviderCheck),
}

/// Arguments of `provider check`.
#[derive(Args, Clone, Debug)]
pub struct ProviderCheck {
    /// Create, change and delete objects too: in a real account with a provider of real services
    #[arg(long)]
    pub apply: Option<Flag>,
    /// Print JSON
    #[arg(long)]
    pub json: Option<Flag>,
    /// Only this resource type; may be given several times
    #[arg(long = "type", value_name = "TYPE")]
    pub types: Vec<String>,
    /// File with a provider block and resource blocks to use instead of generated ones
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Number of configurations to generate for each type
    #[arg(long, value_name = "NUMBER", default_value_t = 24)]
    pub count: usize,
    /// Another number makes up other configurations
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Time limit for each provider call
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Duration,
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// A source address such as hashicorp/random, or the program of a provider
    #[arg(value_name = "ADDRESS|PATH")]
    pub provider: String,
}
