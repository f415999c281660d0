//! What the framework does around a resource, rule by rule.

mod apply;
mod modifiers;
mod plan;
mod schema;
mod support;
