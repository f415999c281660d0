//! Clients of clouds: credentials, signatures, endpoints and HTTP with retries.
//!
//! [`aws::AwsClient`] sends signed requests to any service of AWS, or to a compatible one.
//! [`google::GoogleCredentials`] and [`azure::AzureCredentials`] provide access tokens, and [`api::ApiClient`] sends
//! requests with them.
//! [`oracle::OracleCredentials`], [`tencent::TencentCredentials`] and [`alibaba::AlibabaCredentials`] sign requests.
//! Requests run on a thread of this crate ([`background`]), so that callers need no async runtime of their own.
//!
//! Functions that other crates await return boxed futures. The compiler translates the body of an `async fn` again in each
//! crate that awaits it, with everything below it; a boxed future is translated here, once.

pub mod alibaba;
pub mod api;
pub mod aws;
pub mod azure;
pub mod background;
mod command_output;
mod environment;
mod error;
pub mod google;
pub mod http;
mod jwt;
mod keys;
pub mod oracle;
pub mod retry;
mod secret;
pub mod tencent;

pub use environment::Environment;
pub use error::TokenError;
pub use secret::Secret;
