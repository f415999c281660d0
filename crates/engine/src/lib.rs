//! The engine: from a configuration and a state to a plan, and from a plan to changed infrastructure.
//!
//! It knows no terminal, no environment and no home directory: a [`Session`] provides what it needs, [`Hooks`] report
//! progress, and results are values and diagnostics. ARCHITECTURE.md describes how it works.

mod action_blocks;
mod ahead;
mod applying;
mod cancel;
mod carried;
mod checks;
mod client;
mod config_graph;
mod conversations;
mod deferral;
mod deprecated_objects;
mod deprecation;
mod ephemeral;
mod evaluation;
mod execution;
mod fitting;
mod general_problems;
mod generate;
pub mod hooks;
mod import_identity;
mod inspect;
pub mod invocation;
mod invocation_problems;
mod module_functions;
mod move_types;
mod moves;
mod options;
pub mod plan;
mod planning;
mod prepared;
mod provider_blocks;
mod provider_instances;
mod provider_setup;
mod providers;
mod provisioning;
mod reading;
mod record;
mod recorder;
mod recovery;
mod repetition;
mod run;
mod saved;
mod search;
mod session;
mod static_references;
mod templates;
mod thread_heap;
mod validate;
mod walk;
mod world;

pub use applying::{AppliedRun, Done};
pub use cancel::{Cancellation, Stop};
pub use config_graph::{
    Circles, DrawnObject, Operation, OperationNode, ResourceDependencies, operation_graph, resource_dependencies,
};
pub use deprecation::is_about_modules;
pub use execution::{ExecutionGraph, Step};
pub use hooks::Hooks;
pub use inspect::Inspection;
pub use options::{Deferral, FoundObjects, Input, InvokeTarget, MissingResources, PlanOptions, Refresh};
pub use plan::{
    Action, ActionReason, DeferralReason, DeferredChange, DeferredInvocation, Importing, Mode, OutputChange, Plan,
    ResourceChange, Which,
};
pub use providers::{ProviderSource, Providers};
pub use provisioning::check_provisioner_types;
pub use record::raw_state;
pub use recorder::{Recorder, Unrecorded};
pub use recovery::Recovery;
pub use run::Run;
pub use saved::{SavedPlan, planned_variables};
pub use search::{FoundObject, Searched, WrittenBlocks};
pub use session::Session;
