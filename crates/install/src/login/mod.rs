//! Logging in to a host: an OAuth client as the host's `login.v1` describes it, with the authorization code coming back to a server on
//! loopback and a proof (PKCE) that whoever redeems it is whoever asked for it.

mod attempt;
mod callback;
mod client;

pub use attempt::{Attempt, LoginError};
pub use client::OauthClient;
