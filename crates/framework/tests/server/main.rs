//! What the framework does around a resource, rule by rule.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod actions;
mod apply;
mod bundle;
mod defaults;
mod further;
mod model;
mod modifiers;
mod moves;
mod plan;
mod schema;
mod searches;
mod support;
mod whole;
