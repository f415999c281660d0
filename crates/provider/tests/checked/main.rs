//! The contract between the engine and providers, rule by rule, with scripted providers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod apply;
mod boundary;
mod functions;
mod other;
mod plan;
mod support;
