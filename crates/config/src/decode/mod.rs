//! Decoding of a file's syntax tree into typed blocks.
//!
//! A file is decoded without knowledge of the rest of its module. `assemble` and
//! `checks` handle everything that spans files: duplicates, overrides, references.

mod actions;
mod address;
mod check;
mod condition;
mod content;
mod context;
mod encryption;
mod file;
mod language;
mod lifecycle;
mod list;
mod literal;
mod meta;
mod module_call;
mod name;
mod output;
mod provider;
mod provisioner;
mod refactoring;
mod required_providers;
mod resource;
mod syntax;
mod terraform;
mod testing;
mod variable;
mod version;

pub(crate) use content::{FileContent, RequiredVersion};
pub(crate) use context::{Decoding, Dialect, Role, Unparsed, location_text};
pub(crate) use encryption::content as encryption;
pub(crate) use file::{file, generated, query};
pub(crate) use literal::{constant, constant_template, constant_text};
pub(crate) use module_call::versionless;
pub(crate) use output::OutputDraft;
pub(crate) use required_providers::RequiredProviders;
pub(crate) use testing::{MockFile, RunContent, TestContent, mock_file, test_file};
pub(crate) use variable::VariableDraft;
