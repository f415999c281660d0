//! The scenarios of the other files with the scripted provider behind version 6 of the plugin protocol.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "it/actions.rs"]
mod actions;
#[path = "it/configured_functions.rs"]
mod configured_functions;
#[path = "it/deferral.rs"]
mod deferral;
#[path = "it/deferred_actions.rs"]
mod deferred_actions;
#[path = "it/ephemeral.rs"]
mod ephemeral;
#[path = "it/import.rs"]
mod import;
#[path = "it/lifecycle.rs"]
mod lifecycle;
#[path = "it/move_types.rs"]
mod move_types;
#[path = "it/provider_diagnostics.rs"]
mod provider_diagnostics;
#[path = "it/provider_driven.rs"]
mod provider_driven;
#[path = "it/provider_functions.rs"]
mod provider_functions;
#[path = "it/provider_instance_problems.rs"]
mod provider_instance_problems;
#[path = "it/provider_instances.rs"]
mod provider_instances;
#[path = "it/support/mod.rs"]
mod support;
