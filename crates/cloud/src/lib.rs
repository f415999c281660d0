//! Clients of clouds: credentials, signatures, endpoints and HTTP with retries.
//!
//! [`aws::AwsClient`] sends signed requests to any service of AWS, or to a compatible one.
//! Requests run on a thread of this crate ([`background`]), so that callers need no async runtime of their own.

pub mod aws;
pub mod background;
mod environment;
pub mod http;
pub mod retry;
mod secret;

pub use environment::Environment;
pub use secret::Secret;
