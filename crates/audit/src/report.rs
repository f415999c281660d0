//! The report of an audit, for people and as JSON.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::calls::CallOutcome;
use crate::lifecycle::Outcome;
use crate::options::Kind;
use crate::rule::{Observation, Rule, Step, Weight};

/// The findings of an audit by type.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The types by category, in the provider's order.
    pub types: Vec<TypeReport>,
}

/// The findings about one resource type, data source, function and so on.
#[derive(Clone, Debug, Serialize)]
pub struct TypeReport {
    /// The category of the type.
    #[serde(skip)]
    pub kind: Kind,
    /// The name of the type or function.
    pub name: String,
    /// The number of completed lifecycles.
    pub lived: usize,
    /// The number of configurations that the provider rejected.
    pub refused: usize,
    /// The number of lifecycles in which a creation or update failed.
    pub failed: usize,
    /// The number of lifecycles without a response.
    pub silent: usize,
    /// The number of additional nearly valid configurations.
    pub flawed: usize,
    /// The error about the last rejected configuration.
    pub last_refusal: Option<String>,
    /// The violated rules, most severe first.
    pub findings: Vec<Finding>,
}

/// A violated rule with the smallest configuration that reproduces it.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The violated rule; its ID in JSON.
    #[serde(serialize_with = "rule_id")]
    pub rule: Rule,
    /// The severity; its name in JSON.
    #[serde(serialize_with = "weight_name")]
    pub weight: Weight,
    /// The lifecycle step of the violation.
    #[serde(serialize_with = "step_name")]
    pub step: Step,
    /// The path within the object; empty for the whole object.
    #[serde(rename = "place")]
    pub path: String,
    /// A clause that describes the violation.
    pub message: String,
    /// The configuration that reproduces the violation; empty if none is needed.
    pub configuration: String,
    /// The configuration to update to, if reproducing needs an update.
    pub changed_to: Option<String>,
    /// The number of lifecycles with this violation.
    pub times: usize,
}

fn rule_id<S: Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.id())
}

fn weight_name<S: Serializer>(weight: &Weight, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(weight.name())
}

fn step_name<S: Serializer>(step: &Step, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(step)
}

impl Finding {
    pub(crate) fn new(seen: Observation, configuration: String, changed_to: Option<String>, times: usize) -> Self {
        let Observation { rule, weight, step, path, message } = seen;
        Self { rule, weight, step, path, message, configuration, changed_to, times }
    }
}

impl TypeReport {
    pub(crate) fn of(kind: Kind, name: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            lived: 0,
            refused: 0,
            failed: 0,
            silent: 0,
            flawed: 0,
            last_refusal: None,
            findings: Vec::new(),
        }
    }

    /// Counts a function call.
    pub(crate) fn count_call(&mut self, called: CallOutcome) {
        match called {
            CallOutcome::Returned => self.lived += 1,
            CallOutcome::Unresponsive => self.silent += 1,
            CallOutcome::Refused(reason) => {
                self.refused += 1;
                self.last_refusal = Some(reason.lines().take(3).collect::<Vec<_>>().join(" "));
            }
        }
    }

    pub(crate) fn count(&mut self, end: &Outcome) {
        match end {
            Outcome::Completed => self.lived += 1,
            Outcome::Unresponsive => self.silent += 1,
            Outcome::Refused(problems) | Outcome::Failed(problems) => {
                let first = problems.iter().find(|problem| problem.is_error());
                let text = first.map(|problem| format!("{}: {}", problem.summary, problem.detail));
                self.last_refusal = text.map(|text| text.lines().take(3).collect::<Vec<_>>().join(" "));
                if matches!(end, Outcome::Refused(_)) {
                    self.refused += 1;
                } else {
                    self.failed += 1;
                }
            }
        }
    }
}

impl Report {
    /// Whether any violated rule would stop an engine.
    pub fn has_errors(&self) -> bool {
        self.findings().any(|finding| finding.weight == Weight::Error)
    }

    /// Returns the reports of a category.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &TypeReport> {
        self.types.iter().filter(move |one| one.kind == kind)
    }

    /// Iterates over the findings of all types.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.types.iter().flat_map(|one| &one.findings)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.types {
            writeln!(f, "{one}")?;
        }
        let count = |weight: Weight| self.findings().filter(|finding| finding.weight == weight).count();
        let kinds = Kind::ALL.into_iter().filter_map(|kind| match self.of_kind(kind).count() {
            0 => None,
            1 => Some(format!("1 {}", kind.name())),
            several => Some(format!("{several} {}s", kind.name())),
        });
        writeln!(
            f,
            "{}: {} errors, {} exempt, {} pieces of advice.",
            kinds.collect::<Vec<_>>().join(", "),
            count(Weight::Error),
            count(Weight::Exempt),
            count(Weight::Advice)
        )
    }
}

impl fmt::Display for TypeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, done) = match self.kind {
            Kind::Resource => (String::new(), "completed"),
            Kind::DataSource => (format!("{} ", self.kind.name()), "read"),
            Kind::Function => (format!("{} ", self.kind.name()), "called"),
            _ => (format!("{} ", self.kind.name()), "passed"),
        };
        write!(f, "{kind}{}: {} {done}, {} rejected", self.name, self.lived, self.refused)?;
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        if self.silent > 0 {
            write!(f, ", {} without a response", self.silent)?;
        }
        match self.kind {
            Kind::Function => writeln!(f)?,
            _ => writeln!(f, "; {} nearly valid", self.flawed)?,
        }
        if self.lived == 0
            && let Some(reason) = &self.last_refusal
        {
            writeln!(
                f,
                "  No generated configuration was accepted; provide your own. The last error was:\n    {reason}"
            )?;
        }
        self.findings.iter().try_for_each(|finding| write!(f, "{finding}"))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.path.is_empty() { String::new() } else { format!(" at {}", self.path) };
        writeln!(f, "\n  {} {} when {}{at}: {}.", self.weight.name(), self.rule.id(), self.step, self.message)?;
        writeln!(f, "    {}", self.rule.wants())?;
        let mut show = |text: &str| text.lines().try_for_each(|line| writeln!(f, "      {line}"));
        show(&self.configuration)?;
        if let Some(changed) = &self.changed_to {
            writeln!(f, "    changed to")?;
            changed.lines().try_for_each(|line| writeln!(f, "      {line}"))?;
        }
        Ok(())
    }
}
