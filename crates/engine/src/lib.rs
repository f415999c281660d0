//! The engine: from a configuration and a state to a plan, and from a plan to changed infrastructure.
//!
//! It knows no terminal, no environment and no home directory: a [`Session`] provides what it needs, [`Hooks`] report
//! progress, and results are values and diagnostics. ARCHITECTURE.md describes how it works.

mod action_blocks;
mod applying;
mod call_target;
mod cancel;
mod checks;
mod config_graph;
mod deprecation;
mod ephemeral;
mod evaluation;
mod generate;
pub mod hooks;
mod import_identity;
mod inspect;
mod merge_diagnostics;
mod module_functions;
mod move_types;
mod moves;
mod operation_graph;
mod options;
mod ordering;
mod plan_records;
mod planning;
mod prepared;
mod provider_blocks;
mod provider_calls;
mod provider_instances;
mod provider_setup;
mod providers;
mod provisioning;
mod read_call;
mod record;
mod recorder;
mod recovery;
mod repetition;
mod run;
mod schema_binding;
mod session;
mod static_references;
mod templates;
mod validate;
mod walk;
mod world;

pub use crate::hooks::{FoundObject, Searched, WrittenBlocks};
pub use applying::{AppliedRun, Done};
pub use cancel::{Cancellation, Stop};
pub use deprecation::is_about_modules;
pub use groma_plan as plan;
pub use groma_plan::{
    Action, ActionReason, DeferralReason, DeferredChange, DeferredInvocation, ExecutionGraph, Importing, Mode,
    OutputChange, Plan, ResourceChange, SavedPlan, Step, Which, planned_variables,
};
pub use hooks::Hooks;
pub use inspect::Inspection;
pub use operation_graph::{
    CycleMode, DrawnObject, Operation, OperationNode, ResourceDependencies, operation_graph, resource_dependencies,
};
pub use options::{Deferral, FoundObjects, Input, InvokeTarget, MissingResources, PlanOptions, Refresh};
pub use providers::{ProviderSource, Providers};
pub use provisioning::check_provisioner_types;
pub use record::raw_state;
pub use recorder::{Recorder, Unrecorded};
pub use recovery::Recovery;
pub use run::Run;
pub use session::Session;
