//! Flags of `login` and `logout`.

use clap::Args;

use super::shared::View;

/// Arguments of `login` and of `logout`.
#[derive(Args, Clone, Debug)]
pub struct Login {
    /// Options for text output
    #[command(flatten)]
    pub view: View,
    /// The host, app.terraform.io unless given
    #[arg(value_name = "HOST", default_value = "app.terraform.io")]
    pub host: String,
}
