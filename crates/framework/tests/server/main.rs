//! What the framework does around a resource, rule by rule.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod actions;
mod apply;
mod bundle;
mod data_sources;
mod defaults;
mod model;
mod modifiers;
mod moves;
mod plan;
mod plan_modification;
mod schema;
mod searches;
mod support;
