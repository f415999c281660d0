//! Google Cloud: access tokens.

mod credentials;
mod federation;
mod federation_aws;
mod federation_executable;

pub use credentials::{GoogleCredentials, GoogleSettings};
