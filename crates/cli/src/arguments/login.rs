//! Arguments of `login` and `logout`.

use clap::Args;

use super::shared::View;

#[derive(Args, Clone, Debug)]
pub struct Login {
    #[command(flatten)]
    pub view: View,
    /// Hostname of the service
    #[arg(value_name = "HOST", default_value = "app.terraform.io")]
    pub host: String,
}
