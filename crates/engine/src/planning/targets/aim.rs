//! Membership of instances in a plan with targets or excludes.

use std::collections::HashSet;

use groma_address::{ConfigResource, ResourceInstance, Target};

/// The addresses that a partial plan covers.
#[derive(Debug)]
pub(super) enum Aim {
    /// The instances that a target names.
    At(Vec<Target>),
    /// All instances except the excluded ones and those that must stay with them.
    Past {
        excludes: Vec<Target>,
        /// Dependents of excluded resources; in a destroy plan, their dependencies.
        stays: HashSet<ConfigResource>,
    },
}

impl Aim {
    /// Whether the plan includes no instance of a resource.
    pub(super) fn leaves_out(&self, address: &ConfigResource) -> bool {
        match self {
            Self::At(_) => false,
            Self::Past { excludes, stays } => {
                stays.contains(address) || excludes.iter().any(|target| covers(target, address) && is_whole(target))
            }
        }
    }

    /// Whether a target names others of its likes.
    pub(super) fn is_beside_chosen(&self, address: &ResourceInstance) -> bool {
        match self {
            Self::At(targets) => {
                let resource = address.config_resource();
                !self.chosen(address) && targets.iter().any(|target| covers(target, &resource))
            }
            Self::Past { .. } => false,
        }
    }

    /// Whether an instance is meant: a target names it, itself or with what is around it; or nothing leaves it out.
    pub(super) fn chosen(&self, address: &ResourceInstance) -> bool {
        match self {
            Self::At(targets) => targets.iter().any(|target| target.contains(address)),
            Self::Past { excludes, stays } => {
                !excludes.iter().any(|target| target.may_mean(address)) && !stays.contains(&address.config_resource())
            }
        }
    }
}

/// Whether a target means all instances of what it covers.
fn is_whole(target: &Target) -> bool {
    let module = match target {
        Target::Module(module) => module,
        Target::Resource(resource) => &resource.module,
        Target::Instance(_) => return false,
    };
    module.steps().iter().all(|step| step.key.is_none())
}

/// Whether a target has to do with a resource as written.
pub(super) fn covers(target: &Target, address: &ConfigResource) -> bool {
    match target {
        Target::Module(module) => module.path().contains(&address.module),
        Target::Resource(resource) => resource.config_resource() == *address,
        Target::Instance(instance) => instance.config_resource() == *address,
    }
}
