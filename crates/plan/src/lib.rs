//! The plan: what a run will do and why, as data.
//!
//! The engine makes a [`Plan`] and carries it out; views show it. This crate holds its model, the order of its steps
//! ([`ExecutionGraph`]) and the form in which a file keeps it ([`SavedPlan`]). It knows neither the configuration nor
//! how providers are called: [`Schemas`] hands in the schemas that a file only names.

mod change;
mod deferral;
mod execution;
mod expansion;
mod invocation;
mod plan;
mod saved;

pub use crate::change::{Action, ActionReason};
pub use crate::plan::after_round_trip;
pub use change::{Importing, OutputChange, ResourceChange};
pub use deferral::{DeferralReason, DeferredChange, DeferredInvocation, Source, Which};
pub use execution::{Adjacency, Edge, ExecutionGraph, Step};
pub use expansion::{ExpansionKeys, Expansions, ModuleExpansions};
pub use groma_address::ActionInstance;
pub use invocation::{ActionEvent, Cause, Invocation};
pub use plan::{Counts, Generated, Mode, Plan, PlannedVariable, RelevantAttribute};
pub use saved::{SavedPlan, Schemas, encode, planned_variables};
