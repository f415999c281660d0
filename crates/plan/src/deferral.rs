//! Changes that a plan defers to a later run (PL-29, PL-45).

use groma_address::ResourceInstance;
use groma_provider::Deferred;

use crate::change::ResourceChange;
use crate::invocation::Invocation;

/// The reason for deferring a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeferralReason {
    /// The number of instances is not known yet (PL-29).
    InstanceCountUnknown,
    /// The configuration holds unknown values that the provider needs (PL-45).
    ResourceConfigUnknown,
    /// The provider's own configuration holds unknown values that it needs.
    ProviderConfigUnknown,
    /// The provider says that something does not exist yet.
    AbsentPrerequisite,
    /// It depends on something that is left to a later run.
    DeferredPrerequisite,
    /// The provider does not say.
    Unknown,
}

impl DeferralReason {
    /// The name that the plan JSON uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::InstanceCountUnknown => "instance_count_unknown",
            Self::ResourceConfigUnknown => "resource_config_unknown",
            Self::ProviderConfigUnknown => "provider_config_unknown",
            Self::AbsentPrerequisite => "absent_prereq",
            Self::DeferredPrerequisite => "deferred_prereq",
            Self::Unknown => "unknown",
        }
    }

    /// The reason with this name in the plan JSON.
    pub fn from_name(name: &str) -> Option<Self> {
        const ALL: [DeferralReason; 6] = [
            DeferralReason::InstanceCountUnknown,
            DeferralReason::ResourceConfigUnknown,
            DeferralReason::ProviderConfigUnknown,
            DeferralReason::AbsentPrerequisite,
            DeferralReason::DeferredPrerequisite,
            DeferralReason::Unknown,
        ];
        ALL.into_iter().find(|reason| reason.name() == name)
    }
}

impl From<Deferred> for DeferralReason {
    fn from(deferred: Deferred) -> Self {
        match deferred {
            Deferred::Unknown => Self::Unknown,
            Deferred::ResourceConfigUnknown => Self::ResourceConfigUnknown,
            Deferred::ProviderConfigUnknown => Self::ProviderConfigUnknown,
            Deferred::AbsentPrerequisite => Self::AbsentPrerequisite,
        }
    }
}

/// A change that is left to a later run, as far as it is known.
#[derive(Clone, Debug)]
pub struct DeferredChange {
    /// Why.
    pub reason: DeferralReason,
    /// The change as far as it is known.
    pub change: ResourceChange,
    /// The steps of its address whose keys are unknown: modules from 0, then the resource. The change then represents all
    /// future instances.
    pub open_steps: Vec<usize>,
    /// The origin of the import target of an imported object.
    pub source: Source,
}

/// An invocation of an action that is left to a later run.
#[derive(Clone, Debug)]
pub struct DeferredInvocation {
    /// Why.
    pub reason: DeferralReason,
    /// The invocation as far as it is known.
    pub invocation: Invocation,
    /// Whether it is known which instance of the action that is. Its address has no key where it is not.
    pub which: Which,
}

/// Whether it is known which instance of an action a list means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The instance is known.
    Known,
    /// Only a later run will know.
    Unknown,
}

impl DeferredInvocation {
    /// The address of the action, with `[*]` where the key of the instance is not known.
    pub fn address(&self) -> String {
        match self.which {
            Which::Known => self.invocation.action.to_string(),
            // Terraform writes an unknown key as `[*]`.
            Which::Unknown => format!("{}[*]", self.invocation.action),
        }
    }
}

/// Whether it is known which object outside an import block means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The import target is known, or there is no import block.
    Known,
    /// Only a later run will know.
    Unknown,
}

impl DeferredChange {
    /// Whether the key of the resource's instance is not known.
    pub fn stands_for_many(&self) -> bool {
        // The position after all module steps means the key of the resource itself.
        self.open_steps.contains(&self.change.address.module.steps().len())
    }

    /// The address, with `[*]` where no key is known.
    pub fn address(&self) -> String {
        let ResourceInstance { resource, key, .. } = &self.change.address;
        let module = self.module_address();
        let dot = if module.is_empty() { "" } else { "." };
        match self.stands_for_many() {
            true => format!("{module}{dot}{resource}[*]"),
            false => format!("{module}{dot}{resource}{key}"),
        }
    }

    /// The address of the module instance, in the same way; empty for the root.
    pub fn module_address(&self) -> String {
        let steps = self.change.address.module.steps().iter().enumerate();
        let steps = steps.map(|(at, step)| match self.open_steps.contains(&at) {
            true => format!("module.{}[*]", step.name),
            false => format!("module.{}{}", step.name, step.key),
        });
        steps.collect::<Vec<_>>().join(".")
    }
}
