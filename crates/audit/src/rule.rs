//! What a provider is held to, and what is found.

use std::fmt;

use groma_provider::contract::{Problem, Violation};

/// A rule that providers must keep, or had better keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Schemas are sound.
    Schema,
    /// Every call gets an answer, and the provider lives on.
    Answer,
    /// Objects have the type of the schema.
    Shape,
    /// What is accepted when it is known is accepted while it is not known yet.
    Unknown,
    /// What is configured is planned as configured.
    AsConfigured,
    /// What only the configuration gives is planned as null when it does not.
    NotComputed,
    /// Blocks neither appear nor vanish.
    Blocks,
    /// What the first plan knows, the final plan says too.
    FinalPlan,
    /// What was planned comes true, in the author's form.
    AsPlanned,
    /// After apply everything is known.
    Known,
    /// What is deleted is gone; what is made is there.
    Existence,
    /// Stored objects of today's shape are taken as they are.
    Upgrade,
    /// Reading gives known values.
    Read,
    /// Reading right after apply finds what apply returned.
    Drift,
    /// With the same configuration there is nothing left to do.
    Stable,
    /// An object is imported by what names it, and is the same as before.
    Import,
    /// Write-only values are kept nowhere.
    WriteOnly,
    /// Identities are whole and of their type.
    Identity,
    /// Attributes that ask for a replacement exist.
    Replacement,
    /// What was opened is renewed and closed.
    Lease,
    /// A function gives the same result for the same arguments.
    Pure,
}

impl Rule {
    /// Its id in docs/rules.md.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Schema => "LC-32",
            Self::Answer => "FW-21",
            Self::Shape => "LC-01",
            Self::Unknown => "LC-03",
            Self::AsConfigured => "LC-07",
            Self::NotComputed => "LC-08",
            Self::Blocks => "LC-09",
            Self::FinalPlan => "LC-10",
            Self::AsPlanned => "LC-12",
            Self::Known => "LC-13",
            Self::Existence => "LC-15",
            Self::Upgrade => "LC-20",
            Self::Read => "LC-21",
            Self::Drift => "LC-22",
            Self::Stable => "FW-03",
            Self::Import => "LC-24",
            Self::WriteOnly => "LC-29",
            Self::Identity => "LC-31",
            Self::Replacement => "FW-06",
            Self::Lease | Self::Pure => "FW-19",
        }
    }

    /// What it wants, in a sentence.
    pub const fn wants(self) -> &'static str {
        match self {
            Self::Schema => "A schema must be sound.",
            Self::Answer => "Every call must get an answer, whatever the configuration, and the provider must live on.",
            Self::Shape => "An object must have the type of its schema.",
            Self::Unknown => "A value that is known after apply only must be accepted where a known one is.",
            Self::AsConfigured => "What the configuration sets must be planned as it is, or as the prior state has it.",
            Self::NotComputed => "What only a configuration can set must be planned as null when it does not.",
            Self::Blocks => "The number of nested blocks must be that of the configuration.",
            Self::FinalPlan => "What a plan knows must stay when more becomes known.",
            Self::AsPlanned => "What was planned as known must be returned exactly so.",
            Self::Known => "Everything must be known after apply.",
            Self::Existence => "Deleting must return nothing, creating and changing an object.",
            Self::Upgrade => "A stored object of the present schema version must be taken as it is.",
            Self::Read => "Reading must give known values.",
            Self::Drift => "Reading right after apply should find what apply returned.",
            Self::Stable => "Planning the same configuration again should find nothing to do.",
            Self::Import => "An imported object should be the one that was made.",
            Self::WriteOnly => "A write-only value must be null in everything that is kept.",
            Self::Identity => "An identity must be known and of its type.",
            Self::Replacement => "An attribute that asks for a replacement must exist.",
            Self::Lease => "What was opened must be renewable where it asks for that, and closable.",
            Self::Pure => "A function must give the same result for the same arguments.",
        }
    }

    /// The rule that a violation found after planning breaks.
    pub(crate) fn of_plan(violation: &Violation) -> Self {
        match violation.problem {
            Problem::Missing | Problem::Unwanted if violation.path.is_empty() => Self::Existence,
            Problem::NotComputed { .. } => Self::NotComputed,
            Problem::NotAsConfigured { .. } | Problem::UnknownForConfigured => Self::AsConfigured,
            Problem::Shape(_) => Self::Shape,
            Problem::WriteOnly => Self::WriteOnly,
            _ => Self::Blocks,
        }
    }

    /// The rule that a violation found after apply breaks.
    pub(crate) fn of_result(violation: &Violation) -> Self {
        match violation.problem {
            Problem::Shape(_) => Self::Shape,
            Problem::WriteOnly => Self::WriteOnly,
            Problem::Unknown | Problem::BecameUnknown => Self::Known,
            Problem::CountChanged { .. } => Self::Blocks,
            _ => Self::AsPlanned,
        }
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weight {
    /// An engine stops with an error.
    Error,
    /// It would, were the provider not one of the older type system, which is exempt.
    Exempt,
    /// No engine stops, but users will wonder.
    Advice,
}

impl Weight {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Exempt => "exempt",
            Self::Advice => "advice",
        }
    }
}

/// A call of the life of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The schema was loaded.
    Schema,
    /// The configuration was checked.
    Validate,
    /// The creation was planned.
    Plan,
    /// The object was created.
    Create,
    /// It was read.
    Read,
    /// It was planned again without a change.
    PlanAgain,
    /// It was upgraded from the stored form.
    Upgrade,
    /// It was imported.
    Import,
    /// A change was planned.
    PlanUpdate,
    /// It was changed.
    Update,
    /// The deletion was planned.
    PlanDelete,
    /// It was deleted.
    Delete,
    /// An ephemeral resource was opened.
    Open,
    /// It was renewed.
    Renew,
    /// It was closed.
    Close,
    /// Objects were searched for.
    Search,
    /// The invocation of an action was planned.
    PlanAction,
    /// It was invoked.
    Invoke,
    /// A function was called.
    Call,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Schema => "loading the schema",
            Self::Validate => "validating",
            Self::Plan => "planning the creation",
            Self::Create => "creating",
            Self::Read => "reading",
            Self::PlanAgain => "planning again",
            Self::Upgrade => "upgrading the stored object",
            Self::Import => "importing",
            Self::PlanUpdate => "planning a change",
            Self::Update => "changing",
            Self::PlanDelete => "planning the deletion",
            Self::Delete => "deleting",
            Self::Open => "opening",
            Self::Renew => "renewing",
            Self::Close => "closing",
            Self::Search => "searching",
            Self::PlanAction => "planning the invocation",
            Self::Invoke => "invoking",
            Self::Call => "calling",
        })
    }
}

/// A rule broken in the life of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The rule.
    pub rule: Rule,
    /// How much it matters.
    pub weight: Weight,
    /// When.
    pub step: Step,
    /// Where in the object; empty for the whole.
    pub place: String,
    /// What is wrong there.
    pub message: String,
}

impl Observation {
    /// What makes two observations the same finding: values and positions may differ.
    pub(crate) fn key(&self) -> (Rule, Weight, Step, String) {
        let mut place = String::new();
        let mut depth = 0_u32;
        for character in self.place.chars() {
            match character {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                other if depth == 0 => place.push(other),
                _ => {}
            }
        }
        (self.rule, self.weight, self.step, place)
    }
}
