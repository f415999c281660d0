//! The audited rules and their violations.

use std::fmt;

use groma_provider::contract::{Problem, Violation};

/// A rule that providers must or should obey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Schemas are valid.
    Schema,
    /// Every call is answered, and the provider keeps running.
    Answer,
    /// Objects conform to their schema.
    Shape,
    /// Unknown values are accepted wherever known ones are.
    Unknown,
    /// Configured attributes are planned as configured.
    AsConfigured,
    /// Attributes that are not computed are planned as null unless configured.
    NotComputed,
    /// The number of nested blocks matches the configuration.
    Blocks,
    /// The final plan keeps all known values of the first plan.
    FinalPlan,
    /// Known planned values are returned unchanged.
    AsPlanned,
    /// All values are known after apply.
    Known,
    /// Deletions return no object; creations and updates return one.
    Existence,
    /// Stored objects of the current schema version are upgraded without changes.
    Upgrade,
    /// Reads return known values.
    Read,
    /// A read right after apply returns the applied values.
    Drift,
    /// Planning the same configuration again finds no changes.
    Stable,
    /// An imported object equals the created one.
    Import,
    /// Write-only values are never returned for storage.
    WriteOnly,
    /// Identities are known and conform to their schema.
    Identity,
    /// Attributes that require replacement exist.
    Replacement,
    /// Opened ephemeral resources can be renewed and closed.
    Lease,
    /// Functions return equal results for equal arguments.
    Pure,
}

impl Rule {
    /// Returns the rule's ID in docs/contributing/rules.md.
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

    /// Returns the rule as a sentence for reports.
    pub const fn wants(self) -> &'static str {
        match self {
            Self::Schema => "A schema must be valid.",
            Self::Answer => {
                "Every call must be answered, whatever the configuration, and the provider must keep running."
            }
            Self::Shape => "An object must conform to its schema.",
            Self::Unknown => "An unknown value must be accepted wherever a known one is.",
            Self::AsConfigured => "A configured attribute must be planned with its configured or its prior value.",
            Self::NotComputed => "An attribute that is not computed must be planned as null unless it is configured.",
            Self::Blocks => "The number of nested blocks must match the configuration.",
            Self::FinalPlan => "Known planned values must not change when more values become known.",
            Self::AsPlanned => "A known planned value must be returned unchanged.",
            Self::Known => "All values must be known after apply.",
            Self::Existence => "A deletion must return no object, a creation or update must return one.",
            Self::Upgrade => "A stored object of the current schema version must be upgraded without changes.",
            Self::Read => "A read must return known values.",
            Self::Drift => "A read right after apply should return the applied values.",
            Self::Stable => "Planning the same configuration again should find no changes.",
            Self::Import => "An imported object should equal the created one.",
            Self::WriteOnly => "A write-only value must be null in all stored objects.",
            Self::Identity => "An identity must be known and conform to its schema.",
            Self::Replacement => "An attribute that requires replacement must exist.",
            Self::Lease => "An opened resource must be renewable if it requests that, and closable.",
            Self::Pure => "A function must return the same result for the same arguments.",
        }
    }

    /// Returns the rule that a violation in a plan breaks.
    pub(crate) fn of_plan(violation: &Violation) -> Self {
        match violation.problem {
            Problem::Missing | Problem::NotConfigured if violation.path.is_empty() => Self::Existence,
            Problem::NotComputed { .. } => Self::NotComputed,
            Problem::NotAsConfigured { .. } | Problem::UnknownForConfigured => Self::AsConfigured,
            Problem::Shape(_) => Self::Shape,
            Problem::WriteOnly => Self::WriteOnly,
            _ => Self::Blocks,
        }
    }

    /// Returns the rule that a violation in an apply result breaks.
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

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weight {
    /// The engine would report an error.
    Error,
    /// The engine would report an error, but the provider's legacy type system is exempt.
    Exempt,
    /// The engine would continue, but the behavior is confusing for users.
    Advice,
}

impl Weight {
    /// Returns the name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Exempt => "exempt",
            Self::Advice => "advice",
        }
    }
}

/// The lifecycle step in which a rule was violated, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Load of the schema.
    Schema,
    /// Validation of the configuration.
    Validate,
    /// Plan of the creation.
    Plan,
    /// Creation of the object.
    Create,
    /// Read of the object.
    Read,
    /// Second plan with an unchanged configuration.
    PlanAgain,
    /// Upgrade of the stored object.
    Upgrade,
    /// Import by identity or ID.
    Import,
    /// Plan of the update.
    PlanUpdate,
    /// Update of the object.
    Update,
    /// Plan of the deletion.
    PlanDelete,
    /// Deletion of the object.
    Delete,
    /// Opening of an ephemeral resource.
    Open,
    /// Renewal of an ephemeral resource.
    Renew,
    /// Closing of an ephemeral resource.
    Close,
    /// List query for objects.
    Search,
    /// Plan of an action.
    PlanAction,
    /// Invocation of an action.
    Invoke,
    /// Call of a function.
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
            Self::Search => "listing",
            Self::PlanAction => "planning the invocation",
            Self::Invoke => "invoking",
            Self::Call => "calling",
        })
    }
}

/// A rule violation in the lifecycle of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The violated rule.
    pub rule: Rule,
    /// The severity of the violation.
    pub weight: Weight,
    /// The lifecycle step of the violation.
    pub step: Step,
    /// The path within the object; empty for the whole object.
    pub path: String,
    /// A clause that describes the violation.
    pub message: String,
}

impl Observation {
    /// Returns the identity of the finding, which ignores values and indexes.
    pub(crate) fn key(&self) -> (Rule, Weight, Step, String) {
        let mut path = String::new();
        let mut depth = 0_u32;
        for character in self.path.chars() {
            match character {
                // Map keys may contain brackets, so nesting is tracked.
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                other if depth == 0 => path.push(other),
                _ => {}
            }
        }
        (self.rule, self.weight, self.step, path)
    }
}
