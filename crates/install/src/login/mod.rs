//! Login to a host with OAuth, as its `login.v1` service describes. The authorization code returns to a loopback
//! server; PKCE proves that the same program requested it.

mod attempt;
mod callback;
mod client;

pub use attempt::{Attempt, LoginError};
pub use client::OauthClient;
