//! What an audit found, for people and for programs.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::calls::Called;
use crate::kind::Kind;
use crate::life::End;
use crate::rule::{Observation, Rule, Step, Weight};

/// What an audit found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The resource types, data sources and so on, kind by kind, and in the order of the provider.
    pub types: Vec<TypeReport>,
}

/// What was found about one resource type, data source, function, or whatever else it is.
#[derive(Clone, Debug, Serialize)]
pub struct TypeReport {
    /// What it is.
    #[serde(skip)]
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// How many configurations led to a whole life.
    pub lived: usize,
    /// How many the provider refused.
    pub refused: usize,
    /// How many could not be made or changed.
    pub failed: usize,
    /// How many left the provider silent.
    pub silent: usize,
    /// How many nearly valid configurations were tried besides.
    pub flawed: usize,
    /// Why the provider refused the last one that it refused.
    pub last_refusal: Option<String>,
    /// The broken rules, the heaviest first.
    pub findings: Vec<Finding>,
}

/// A broken rule, with the smallest configuration that shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The rule.
    #[serde(serialize_with = "rule_id")]
    pub rule: Rule,
    /// How much it matters.
    #[serde(serialize_with = "weight_name")]
    pub weight: Weight,
    /// When it was broken.
    #[serde(serialize_with = "step_name")]
    pub step: Step,
    /// Where in the object; empty for the whole.
    pub place: String,
    /// What is wrong there.
    pub message: String,
    /// The configuration that shows it; empty when it needs none.
    pub configuration: String,
    /// What the configuration was changed to, when it takes a change.
    pub changed_to: Option<String>,
    /// In how many lives it was seen.
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
        let Observation { rule, weight, step, place, message } = seen;
        Self { rule, weight, step, place, message, configuration, changed_to, times }
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

    /// Counts a call of a function.
    pub(crate) fn count_call(&mut self, called: Called) {
        match called {
            Called::Returned => self.lived += 1,
            Called::Silent => self.silent += 1,
            Called::Refused(reason) => {
                self.refused += 1;
                self.last_refusal = Some(reason.lines().take(3).collect::<Vec<_>>().join(" "));
            }
        }
    }

    pub(crate) fn count(&mut self, end: &End) {
        match end {
            End::Lived => self.lived += 1,
            End::Silent => self.silent += 1,
            End::Refused(problems) | End::Failed(problems) => {
                let first = problems.iter().find(|problem| problem.is_error());
                let text = first.map(|problem| format!("{}: {}", problem.summary, problem.detail));
                self.last_refusal = text.map(|text| text.lines().take(3).collect::<Vec<_>>().join(" "));
                if matches!(end, End::Refused(_)) {
                    self.refused += 1;
                } else {
                    self.failed += 1;
                }
            }
        }
    }
}

impl Report {
    /// Whether a rule is broken that stops engines.
    pub fn has_errors(&self) -> bool {
        self.findings().any(|finding| finding.weight == Weight::Error)
    }

    /// What was found about those of a kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &TypeReport> {
        self.types.iter().filter(move |one| one.kind == kind)
    }

    /// All findings.
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
            Kind::Resource => (String::new(), "lived"),
            Kind::DataSource => (format!("{} ", self.kind.name()), "read"),
            Kind::Function => (format!("{} ", self.kind.name()), "called"),
            _ => (format!("{} ", self.kind.name()), "passed"),
        };
        write!(f, "{kind}{}: {} {done}, {} refused", self.name, self.lived, self.refused)?;
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        if self.silent > 0 {
            write!(f, ", {} without an answer", self.silent)?;
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
                "  No made-up configuration was accepted; give one of your own. The last was refused:\n    {reason}"
            )?;
        }
        self.findings.iter().try_for_each(|finding| write!(f, "{finding}"))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.place.is_empty() { String::new() } else { format!(" at {}", self.place) };
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
