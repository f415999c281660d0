//! The lifecycle of a configuration, from its first validation to its destruction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groma_framework_testing::{Planned, Problems, Project, Transport};
use groma_value::{Type, Value};

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

/// The configurations of one lifecycle.
pub struct Revisions {
    /// The configuration that creates the objects.
    pub created: String,
    /// The configuration that updates them.
    pub updated: String,
}

/// Returns an emulator that returns unordered arrays in another order.
pub fn emulator() -> Arc<Store> {
    let faults = Faults { shuffle: true, ..Faults::default() };
    let settings = Settings { faults, ..Settings::default() };
    Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap())
}

fn project(store: Arc<Store>) -> Project {
    let make = move || -> Arc<dyn groma_provider::Provider> {
        let api = Arc::new(Embedded::new(store.clone(), "eu-central-1"));
        Arc::new(AwsCloudControl::default().with_api(api).with_first_delay(Duration::ZERO).served())
    };
    Project::new("hashicorp/awscc", make, Transport::InProcess).unwrap()
}

/// Runs the lifecycle of a configuration.
pub fn run(revisions: &Revisions) -> Result<(), FailedStep> {
    let store = emulator();
    let mut project = project(store.clone());
    let failed = |step: Step| move |problems: Problems| FailedStep { step, reason: problems.to_string() };
    project.configure(&revisions.created);
    project.validate().map_err(failed(Step::Validate))?;
    project.apply().map_err(failed(Step::Create))?;
    empty(&project, Step::Settle)?;

    project.configure(&revisions.updated);
    let update = project.plan().map_err(failed(Step::Update))?;
    let replaced: Vec<String> = update.actions().into_iter().filter(|action| action.contains("delete")).collect();
    if !replaced.is_empty() {
        return Err(FailedStep { step: Step::Update, reason: replaced.join(", ") });
    }
    project.apply_plan(update).map_err(failed(Step::Update))?;
    empty(&project, Step::SettleAgain)?;

    import(&mut project)?;
    empty(&project, Step::Import)?;

    project.destroy().map_err(failed(Step::Destroy))?;
    let left = store.objects(None).unwrap();
    match left.first() {
        Some(left) => Err(FailedStep { step: Step::Destroy, reason: format!("{} is left", left.identifier) }),
        None => Ok(()),
    }
}

/// Forgets and imports all objects.
fn import(project: &mut Project) -> Result<(), FailedStep> {
    let failed = |problems: Problems| FailedStep { step: Step::Import, reason: problems.to_string() };
    for address in project.addresses() {
        let id = project.attribute(&address, "id").and_then(|id| id.as_str().map(str::to_owned));
        let Some(id) = id else { continue };
        project.forget(&address).map_err(failed)?;
        project.import(&address, &id).map_err(failed)?;
    }
    Ok(())
}

fn empty(project: &Project, step: Step) -> Result<(), FailedStep> {
    let planned = project.plan().map_err(|problems| FailedStep { step, reason: problems.to_string() })?;
    let actions = planned.actions();
    if actions.is_empty() {
        return Ok(());
    }
    let changed: Vec<String> =
        changed_attributes(project, &planned).into_iter().map(|(name, change)| format!("{name}: {change}")).collect();
    Err(FailedStep { step, reason: format!("{}: {}", actions.join(", "), changed.join("; ")) })
}

/// Returns the attributes that a plan changes, each with the value in the state and the planned one.
fn changed_attributes(project: &Project, planned: &Planned) -> BTreeMap<String, String> {
    let mut changed = BTreeMap::new();
    for address in project.addresses() {
        let (Some(before), Some(after)) = (planned.prior(&address), planned.planned(&address)) else { continue };
        for (name, after) in after.as_object().into_iter().flat_map(|view| view.iter()) {
            let before = before.attribute(name).unwrap_or_else(|| Value::null(Type::Dynamic));
            // Results without a value may get one from any update.
            let is_open_result = before.is_null() && !after.is_known();
            if !is_open_result && before != *after {
                changed.insert(name.to_string(), format!("{before:?} -> {after:?}"));
            }
        }
    }
    changed
}

#[test]
fn an_import_takes_no_ignored_argument_from_the_configuration() {
    let mut project = project(emulator());
    let configuration = |image: &str, lifecycle: &str| {
        format!(
            "provider \"awscc\" {{\n  region = \"eu-central-1\"\n}}\nresource \"awscc_lambda_function\" \"it\" {{\n  function_name = \
             \"f\"\n  role = \"arn:aws:iam::123456789012:role/r\"\n  package_type = \"Image\"\n  code = {{ image_uri = \"{image}\" }}\n  \
             {lifecycle}\n}}\n"
        )
    };
    project.configure(&configuration("real", ""));
    project.apply().unwrap();
    let code = |project: &Project| project.attribute("awscc_lambda_function.it", "code").unwrap();
    for (lifecycle, is_taken) in [
        ("", true),
        ("lifecycle {\n    ignore_changes = [timeout]\n  }", true),
        ("lifecycle {\n    ignore_changes = [code]\n  }", false),
        ("lifecycle {\n    ignore_changes = [code.image_uri]\n  }", false),
        ("lifecycle {\n    ignore_changes = all\n  }", false),
    ] {
        project.configure(&configuration("placeholder", lifecycle));
        import(&mut project).unwrap();
        assert_eq!(code(&project).is_null(), !is_taken, "{lifecycle}");
        // A part of a missing object cannot be ignored, and the plan shows that it is set.
        assert_eq!(empty(&project, Step::Import).is_ok(), !lifecycle.contains("image_uri"), "{lifecycle}");
    }
}
