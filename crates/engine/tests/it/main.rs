//! The engine's scenarios with the scripted provider: a configuration, steps, and what is planned, done and kept.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod actions;
mod conditions;
mod configured_functions;
mod cycle_mode;
mod damaged_plans;
mod data_waits;
mod deferral;
mod deferred_actions;
mod depends_on;
mod deprecations;
mod destroy_false;
mod destruction_order;
mod ephemeral;
mod excluding;
mod existing_instances;
mod full_disk;
mod identity;
mod import;
mod lifecycle;
mod lifecycle_blocks;
mod move_types;
mod moves;
mod provider_diagnostics;
mod provider_driven;
mod provider_functions;
mod provider_instance_problems;
mod provider_instances;
mod provider_meta;
mod query;
mod result_writer;
mod rules;
mod static_references;
mod support;
mod targets;
mod terraform_data;
mod turns;
mod unanswered_calls;
