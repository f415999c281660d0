//! A configuration that is applied step by step in process, and what must have happened in which order.

use std::fmt::Write as _;
use std::sync::Arc;

use groma_diagnostics::Diagnostics;
use groma_engine::{Mode, PlanOptions, Refresh};
use groma_scripted::cloud::{Cloud, Moment, Store, Times};

use super::script::{REQUIREMENTS, filled, is_before, matches, parse};
use crate::support::{Project, errors};

/// Where a scenario runs: here in process, whatever other programs it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    Both,
    Groma,
}

/// A configuration with its state and its cloud.
pub struct Scenario {
    text: &'static str,
    module: Option<&'static str>,
    project: Project,
    store: Store,
    problems: Diagnostics,
    steps: String,
    _folder: tempfile::TempDir,
}

impl Scenario {
    pub fn new(text: &'static str) -> Self {
        Self::run_by(Programs::Both, text)
    }

    pub fn run_by(_: Programs, text: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        store.hold(0).unwrap();
        let project = ["cloud", "kube"].into_iter().fold(Project::new(""), |project, name| {
            let store = store.clone();
            project.providing(name, move || Arc::new(Cloud::new(name, store.clone())))
        });
        let (problems, steps) = (Diagnostics::new(), String::new());
        Self { text, module: None, project, store, problems, steps, _folder: folder }
    }

    pub fn with_module(mut self, text: &'static str) -> Self {
        self.module = Some(text);
        self
    }

    pub fn options(&mut self, options: &[&str]) -> &mut Self {
        for option in options {
            match option.split_once('=') {
                None => self.project.options.mode = Mode::Destroy,
                Some(("-target", address)) => self.project.options.targets.push(address.parse().unwrap()),
                Some(("-exclude", address)) => self.project.options.excludes.push(address.parse().unwrap()),
                Some(_) => self.project.options.refresh = Refresh::Trust,
            }
        }
        self
    }

    pub fn failing(&mut self, operation: &str) -> &mut Self {
        self.fail(operation, Moment::Before)
    }

    pub fn failing_late(&mut self, operation: &str) -> &mut Self {
        self.fail(operation, Moment::After)
    }

    fn fail(&mut self, operation: &str, moment: Moment) -> &mut Self {
        let (operation, name) = parse(operation);
        self.store.fail(operation, name, Times::Once, moment).unwrap();
        self
    }

    pub fn apply(&mut self, values: &str) -> &mut Self {
        self.step(values);
        self.assert(!self.problems.has_errors(), "the apply succeeds")
    }

    pub fn apply_fails(&mut self, values: &str, summary: &str) -> &mut Self {
        self.step(values);
        self.assert(self.fails_with(summary), &format!("the apply fails: {summary}"))
    }

    pub fn plan_succeeds(&mut self, values: &str) -> &mut Self {
        self.plan(values);
        self.assert(!self.problems.has_errors(), "the plan succeeds")
    }

    pub fn plan_fails(&mut self, values: &str, summary: &str) -> &mut Self {
        self.plan(values);
        self.assert(self.fails_with(summary), &format!("the plan fails: {summary}"))
    }

    fn fails_with(&self, summary: &str) -> bool {
        errors(&self.problems).iter().any(|error| error.contains(summary))
    }

    fn step(&mut self, values: &str) {
        writeln!(self.steps, "apply with {values:?}").unwrap();
        self.write(values);
        let planned = self.project.plan();
        self.problems =
            if planned.diagnostics.has_errors() { planned.diagnostics } else { self.project.apply_plan(planned) };
        self.project.options = PlanOptions::default();
    }

    fn plan(&mut self, values: &str) {
        writeln!(self.steps, "plan with {values:?}").unwrap();
        self.write(values);
        self.problems = self.project.plan().diagnostics;
        self.project.options = PlanOptions::default();
    }

    fn write(&mut self, values: &str) {
        self.project.rewrite(&format!("{REQUIREMENTS}{}", filled(self.text, values)));
        if let Some(module) = self.module {
            self.project.write("m/main.tf", &format!("{REQUIREMENTS}{}", filled(module, values)));
        }
        self.store.forget_events().unwrap();
    }

    pub fn in_order(&mut self, operations: &[&str]) -> &mut Self {
        for pair in operations.windows(2) {
            let holds = is_before(&self.store.events().unwrap(), pair[0], pair[1]);
            self.assert(holds, &format!("{:?} ends before {:?} begins", pair[0], pair[1]));
        }
        self
    }

    pub fn without(&mut self, operations: &[&str]) -> &mut Self {
        for operation in operations {
            let began = self.store.events().unwrap().iter().any(|event| matches(event, operation));
            self.assert(!began, &format!("{operation:?} does not begin"));
        }
        self
    }

    pub fn leaves(&mut self, recorded: &[&str]) -> &mut Self {
        self.assert(self.recorded() == recorded, &format!("the state is {recorded:?}"))
    }

    /// Returns the objects of the state: `cloud_object.web: web#2, deposed web#1`.
    fn recorded(&self) -> Vec<String> {
        let id = |attributes: &str| {
            let rest = attributes.split_once("\"id\":\"").map(|(_, rest)| rest).unwrap_or_default();
            rest.split('"').next().unwrap_or_default().to_owned()
        };
        let instances = self.project.state.iter().map(|view| {
            let current = view.record.current.iter().map(|object| {
                let is_tainted = object.status == groma_state::ObjectStatus::Tainted;
                format!("{}{}", id(object.attributes.as_str()), if is_tainted { " (tainted)" } else { "" })
            });
            let deposed =
                view.record.deposed.values().map(|object| format!("deposed {}", id(object.attributes.as_str())));
            format!("{}: {}", view.address(), current.chain(deposed).collect::<Vec<_>>().join(", "))
        });
        instances.collect()
    }

    #[track_caller]
    fn assert(&mut self, holds: bool, what: &str) -> &mut Self {
        let log: Vec<String> = self.store.events().unwrap().iter().map(ToString::to_string).collect();
        assert!(
            holds,
            "not so: {what}\n--- steps\n{}--- log\n{}\n--- state\n{}\n--- problems\n{:#?}",
            self.steps,
            log.join("\n"),
            self.recorded().join("\n"),
            errors(&self.problems)
        );
        self
    }
}
