//! Audit of providers against the lifecycle rules.
//!
//! The audit generates configurations from the schema: minimal ones first, then larger ones, and some with a flaw. It
//! runs each through a lifecycle: validate (also with unknown values), plan, create, read, plan again, upgrade the
//! stored form, import, update or replace, and delete. Every response is checked against the rules of
//! `groma_provider::contract`, and each violation is reported once, with the smallest configuration that reproduces it.
//! Data sources are read twice, ephemeral resources opened, renewed and closed, list queries run, actions planned and
//! invoked, and functions called with generated arguments.
//!
//! Works with any [`Provider`](groma_provider::Provider): in-process ones, or plugins through the plugin client.
//!
//! ```
//! use std::sync::Arc;
//! use groma_audit::{Options, audit};
//!
//! let start = || Ok(Arc::new(groma_builtin::Terraform::default()) as Arc<dyn groma_provider::Provider>);
//! let report = audit(&start, &Options::default(), &mut |_| ()).unwrap();
//! assert!(!report.has_errors(), "{report}");
//! ```

mod audit;
mod calls;
mod generate;
mod lifecycle;
mod nested_objects;
mod options;
mod report;
mod rule;
mod shrink;
mod text;
mod user_configs;

pub use crate::options::Kind;
pub use audit::{StartProvider, audit};
pub use generate::{Flaw, Generator};
pub use lifecycle::Extent;
pub use options::{Options, UserConfig};
pub use report::{Finding, Report, TypeReport};
pub use rule::{Rule, Step, Weight};
pub use shrink::shrink_candidates;
pub use text::resource_text;
pub use user_configs::{UserConfigFile, parse_user_configs};
