//! From the syntax tree of one file to typed blocks.
//!
//! A file is decoded for itself, without knowing the rest of its module: what belongs together across files (duplicates,
//! overrides, references) is the business of [`assemble`](crate::assemble) and [`checks`](crate::checks).

mod actions;
mod address;
mod check;
mod condition;
mod content;
mod context;
mod depends_on;
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
pub(crate) use context::{Decoding, Dialect, Role, Unparsed, place};
pub(crate) use encryption::content as encryption;
pub(crate) use file::{file, query};
pub(crate) use literal::{constant, constant_template, constant_text};
pub(crate) use module_call::versionless;
pub(crate) use output::OutputDraft;
pub(crate) use required_providers::RequiredProviders;
pub(crate) use testing::{MockFile, RunContent, TestContent, mock_file, test_file};
pub(crate) use variable::VariableDraft;
