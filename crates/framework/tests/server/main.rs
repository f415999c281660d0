//! What the framework does around a resource, rule by rule.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod apply;
mod bundle;
mod further;
mod model;
mod modifiers;
mod plan;
mod schema;
mod support;
mod whole;
