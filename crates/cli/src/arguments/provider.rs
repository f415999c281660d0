//! Arguments of `provider`, which helps to develop providers.

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
