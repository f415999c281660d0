//! Oracle Cloud: API keys and session tokens, and the signatures made with them.

mod credentials;
mod signing;

pub use credentials::{OracleAuthentication, OracleCredentials, OracleSettings};
