//! The testing kit for provider authors (FW-23).
//!
//! A [`Project`] takes a provider through the steps that users take, with the real engine: write a configuration, plan,
//! apply, change it, import, destroy. The provider runs in this process, or behind version 5 or 6 of the plugin
//! protocol:
//!
//! ```
//! use std::sync::Arc;
//! use groma_framework_testing::{Project, Transport};
//!
//! # fn main() -> Result<(), groma_framework_testing::Problems> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let body = format!("provider \"files\" {{ folder = {:?} }}\n", folder.path());
//! let provider = || Arc::new(terraform_provider_files::provider().build().unwrap()) as _;
//! let mut project = Project::new("example/files", provider, Transport::InProcess)?;
//! project.configure(&format!("{body} resource \"files_file\" \"a\" {{
//!     name    = \"a.txt\"
//!     content = \"hello\"
//! }}"));
//! let plan = project.plan()?;
//! assert_eq!(plan.actions(), ["files_file.a: create"]);
//! project.apply()?;
//! assert_eq!(project.attribute("files_file.a", "size"), Some(groma_value::Value::number(5)));
//! assert!(project.plan()?.actions().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! The [`audit`] takes generated configurations through their whole lifecycle, and reports every broken rule with the
//! smallest configuration that shows it:
//!
//! ```
//! use std::sync::Arc;
//! use groma_framework_testing::{Options, audit};
//! # use groma_builtin::Terraform as MyProvider;
//!
//! let report = audit(&|| Ok(Arc::new(MyProvider::default())), &Options::default(), &mut |_| ()).unwrap();
//! assert!(!report.has_errors(), "{report}");
//! ```
//!
//! A [`Store`] calls a state store like a host, and tests the guarantees that hosts rely on.

mod project;
mod promises;
mod store;
mod transport;

pub use groma_audit::{
    Extent, Finding, Options, Report, Rule, Step, TypeReport, UserConfig, Weight, audit, parse_user_configs,
};
pub use groma_plugin::Protocol;
pub use project::{Planned, Problems, Project};
pub use store::Store;
pub use transport::Transport;
