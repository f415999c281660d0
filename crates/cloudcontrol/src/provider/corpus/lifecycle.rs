//! The lifecycle of a configuration, from its first validation to its destruction.

use std::sync::Arc;
use std::time::Duration;

use groma_framework_testing::{Planned, Problems, Project, Transport};

use super::super::AwsCloudControl;
use crate::emulator::{Embedded, Faults, Settings, Store};
use crate::schema::Catalogue;

/// A step of a lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The configuration is valid.
    Validate,
    /// An apply creates the objects.
    Create,
    /// The next plan is empty.
    Settle,
    /// An apply of the changed configuration updates the objects.
    Update,
    /// The next plan is empty.
    SettleAgain,
    /// Forgotten objects are imported, and the next plan is empty.
    Import,
    /// All objects are deleted.
    Destroy,
}

/// The failure of a step.
#[derive(Debug, Clone)]
pub struct FailedStep {
    /// The step.
    pub step: Step,
    /// The reason.
    pub reason: String,
}

/// The plan after the import of the objects of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Import {
    /// The plan is empty.
    Unchanged,
    /// The plan updates these attributes in place.
    Updated(String),
}

/// Returns an emulator that returns unordered arrays in another order.
pub fn emulator() -> Arc<Store> {
    let faults = Faults { shuffle: true, ..Faults::default() };
    let settings = Settings { faults, ..Settings::default() };
    Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap())
}

/// Runs the lifecycle of a configuration. `before` and `after` are the configurations before and after the update.
pub fn run(before: &str, after: &str) -> Result<Import, FailedStep> {
    let store = emulator();
    let shared = store.clone();
    let make = move || -> Arc<dyn groma_provider::Provider> {
        let api = Arc::new(Embedded::new(shared.clone(), "eu-central-1"));
        Arc::new(AwsCloudControl::default().with_api(api).with_first_delay(Duration::ZERO).served())
    };
    let failed = |step: Step| move |problems: Problems| FailedStep { step, reason: problems.to_string() };
    let mut project = Project::new("hashicorp/awscc", make, Transport::InProcess).unwrap();
    project.configure(before);
    project.validate().map_err(failed(Step::Validate))?;
    project.apply().map_err(failed(Step::Create))?;
    empty(&project, Step::Settle)?;

    project.configure(after);
    let update = project.plan().map_err(failed(Step::Update))?;
    let replaced: Vec<String> = update.actions().into_iter().filter(|action| action.contains("delete")).collect();
    if !replaced.is_empty() {
        return Err(FailedStep { step: Step::Update, reason: replaced.join(", ") });
    }
    project.apply_plan(update).map_err(failed(Step::Update))?;
    empty(&project, Step::SettleAgain)?;

    let addresses = project.addresses();
    for address in &addresses {
        let Some(id) = project.attribute(address, "id").and_then(|id| id.as_str().map(str::to_owned)) else { continue };
        project.forget(address).map_err(failed(Step::Import))?;
        project.import(address, &id).map_err(failed(Step::Import))?;
    }
    let planned = project.plan().map_err(failed(Step::Import))?;
    let actions = planned.actions();
    if actions.iter().any(|action| !action.ends_with(": update")) {
        return Err(FailedStep { step: Step::Import, reason: actions.join(", ") });
    }
    let import = match actions.as_slice() {
        [] => Import::Unchanged,
        _ => Import::Updated(changed_attributes(&project, &planned)),
    };
    project.apply().map_err(failed(Step::Import))?;
    empty(&project, Step::Import)?;

    project.destroy().map_err(failed(Step::Destroy))?;
    let left = store.objects(None).unwrap();
    match left.first() {
        Some(left) => Err(FailedStep { step: Step::Destroy, reason: format!("{} is left", left.identifier) }),
        None => Ok(import),
    }
}

fn empty(project: &Project, step: Step) -> Result<(), FailedStep> {
    let planned = project.plan().map_err(|problems| FailedStep { step, reason: problems.to_string() })?;
    let actions = planned.actions();
    if actions.is_empty() {
        return Ok(());
    }
    Err(FailedStep { step, reason: format!("{}: {}", actions.join(", "), changed_attributes(project, &planned)) })
}

fn changed_attributes(project: &Project, planned: &Planned) -> String {
    project.addresses().iter().map(|address| changed(project, planned, address)).collect()
}

/// Returns the attributes that a plan changes, with the value in the state and the planned one.
fn changed(project: &Project, planned: &Planned, address: &str) -> String {
    let Some(after) = planned.planned(address) else { return String::new() };
    let members = after.as_object().into_iter().flat_map(|view| view.iter());
    let differing = members.filter_map(|(name, after)| {
        let before = project.attribute(address, name)?;
        let is_same = format!("{before:?}") == format!("{after:?}");
        (!is_same).then(|| format!("{name}: {before:?} -> {after:?}; "))
    });
    differing.collect()
}
