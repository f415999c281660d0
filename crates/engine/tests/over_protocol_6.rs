//! The scenarios of the other files with the scripted provider behind version 6 of the plugin protocol.

#![allow(clippy::duplicate_mod, reason = "each file has the support of its own")]

#[path = "actions.rs"]
mod actions;
#[path = "deferral.rs"]
mod deferral;
#[path = "deferred_actions.rs"]
mod deferred_actions;
#[path = "ephemeral.rs"]
mod ephemeral;
#[path = "import.rs"]
mod import;
#[path = "lifecycle.rs"]
mod lifecycle;
#[path = "move_types.rs"]
mod move_types;
#[path = "provider_driven.rs"]
mod provider_driven;
#[path = "provider_functions.rs"]
mod provider_functions;
#[path = "provider_instance_problems.rs"]
mod provider_instance_problems;
#[path = "provider_instances.rs"]
mod provider_instances;
