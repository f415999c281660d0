//! Logging in to a host: an OAuth client as the host's `login.v1` describes it, with the authorization code coming back to a server on
//! loopback, with a proof (PKCE) that the same program requests and redeems the code.

mod attempt;
mod callback;
mod client;

pub use attempt::{Attempt, LoginError};
pub use client::OauthClient;
