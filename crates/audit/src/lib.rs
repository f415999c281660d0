//! Holds providers to the lifecycle rules.
//!
//! Configurations are made up from the schema, at first as small as can be, then with more and more in them, and some with a
//! flaw. With each an object leads a life: it is validated (also with values that are not known yet), planned, created, read,
//! planned again, upgraded from its stored form, imported, changed or replaced, and deleted. Every answer is held against the
//! rules of `groma_provider::contract`. Whatever breaks one is reported once, with the smallest configuration that was found
//! to show it. Data sources are read twice, ephemeral resources opened, renewed and closed, objects searched for, actions planned and
//! invoked, functions called, all with made-up arguments.
//!
//! The same for any [`Provider`](groma_provider::Provider): in process, or a plugin through its client.
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
mod caller;
mod calls;
mod generate;
mod given;
mod inside;
mod kind;
mod life;
mod options;
mod report;
mod rule;
mod smaller;
mod text;

pub use audit::{StartProvider, audit};
pub use generate::{Flaw, Generator};
pub use given::{GivenFile, given_file};
pub use kind::Kind;
pub use life::Extent;
pub use options::{Given, Options};
pub use report::{Finding, Report, TypeReport};
pub use rule::{Rule, Step, Weight};
pub use smaller::smaller;
pub use text::resource_text;
