//! Azure: access tokens of Entra ID.

mod certificate;
mod clouds;
mod entra;
mod pfx;
mod settings;
mod shared_key;

pub use clouds::AzureCloud;
pub use entra::AzureCredentials;
pub use settings::{AuthenticationMethods, AzureSettings, ClientSettings, OidcSettings};
pub use shared_key::StorageKey;
