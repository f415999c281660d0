//! The contract between the engine and providers, rule by rule, with scripted providers.

mod apply;
mod boundary;
mod other;
mod plan;
mod support;
