//! The program as its users meet it. One test program, since each is linked with the whole of Groma.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod backend;
mod cli_configuration;
mod commands;
mod common;
mod console;
mod deferral;
mod differences;
mod documents;
mod early_evaluation;
mod encryption;
mod encryption_external;
mod encryption_services;
mod files_of_tests;
mod graphs;
mod init_providers;
mod kill;
mod killed_lifecycle;
mod language_commands;
mod like_terraform;
mod like_terraform_data;
mod like_terraform_looking;
mod like_terraform_messages;
mod like_terraform_rules;
mod like_terraform_targets;
mod like_terraform_values;
mod locks;
mod made_up;
mod objects;
mod old_states;
mod on_terminal;
mod opentofu_flags;
mod plan_json;
mod provider_instances;
mod provisioners;
mod remote_state;
mod saved_plans;
mod servers;
mod several_mistakes;
mod state_commands;
mod story;
mod suggestions;
mod terraform;
mod validate_like_terraform;
mod wrong_input;
