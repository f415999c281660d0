//! Addresses that `-target`, `-exclude` and `-replace` accept.

use std::fmt;

use crate::{AbsResource, ConfigResource, ModuleInstance, Resource, ResourceInstance};

/// The objects that one address on the command line selects.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A module instance with everything in it; without the last key, all instances of the call.
    Module(ModuleInstance),
    /// All instances of a resource.
    Resource(AbsResource),
    /// A single resource instance.
    Instance(ResourceInstance),
}

impl Target {
    /// Whether `instance` is selected. Only the last key of a module address may be omitted; all enclosing modules
    /// need their keys.
    pub fn contains(&self, instance: &ResourceInstance) -> bool {
        match self {
            Self::Module(module) => {
                let (own, other) = (module.steps(), instance.module.steps());
                // `module.a` selects all instances of `module.a`, but `module.a.x.y` only the one without a key.
                let enclosing = own.len().saturating_sub(1);
                own.get(..enclosing) == other.get(..enclosing) && module.contains(&instance.module)
            }
            Self::Resource(own) => own.resource == instance.resource && own.module == instance.module,
            Self::Instance(own) => own == instance,
        }
    }

    /// Whether `instance` matches if every module step without a key selects all instances of its call.
    pub fn may_mean(&self, instance: &ResourceInstance) -> bool {
        match self {
            Self::Module(module) => module.contains(&instance.module),
            Self::Resource(own) => own.resource == instance.resource && own.module.covers(&instance.module),
            Self::Instance(own) => {
                own.key == instance.key && own.resource == instance.resource && own.module.covers(&instance.module)
            }
        }
    }

    /// Whether instances of `resource` may be selected; keys are ignored because `count` and `for_each` are not
    /// evaluated yet.
    pub fn may_contain(&self, resource: &ConfigResource) -> bool {
        let same = |module: &ModuleInstance, own: &Resource| {
            // Compared without keys: which instances exist is unknown until the resource is expanded.
            *own == resource.resource && module.steps().iter().map(|step| &step.name).eq(resource.module.steps().iter())
        };
        match self {
            Self::Module(module) => {
                let (own, other) = (module.steps(), resource.module.steps());
                own.len() <= other.len() && own.iter().zip(other).all(|(step, name)| step.name == *name)
            }
            Self::Resource(own) => same(&own.module, &own.resource),
            Self::Instance(own) => same(&own.module, &own.resource),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Module(module) => module.fmt(f),
            Self::Resource(resource) => resource.fmt(f),
            Self::Instance(instance) => instance.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(target: &str, instance: &str) -> bool {
        let (target, instance): (Target, ResourceInstance) = (target.parse().unwrap(), instance.parse().unwrap());
        let contains = target.contains(&instance);
        assert!(!contains || target.may_contain(&instance.config_resource()));
        contains
    }

    #[test]
    fn target_selects_its_descendants() {
        assert!(contains("module.a", "module.a.x.y"));
        assert!(contains("module.a", "module.a[1].module.b.x.y[2]"));
        assert!(contains("module.a[1]", "module.a[1].x.y"));
        assert!(!contains("module.a[1]", "module.a[2].x.y"));
        assert!(!contains("module.a", "x.y"));
        assert!(contains("x.y", "x.y"));
        assert!(contains("x.y", "x.y[1]"));
        assert!(contains("x.y[1]", "x.y[1]"));
        assert!(!contains("x.y[1]", "x.y[2]"));
        assert!(!contains("x.y", "data.x.y"));
        assert!(!contains("module.a.x.y", "module.a.module.b.x.y"));
    }

    #[test]
    fn enclosing_modules_of_a_target_need_their_keys() {
        assert!(!contains("module.a.x.y", "module.a[\"k\"].x.y"));
        assert!(!contains("module.a.x.y[0]", "module.a[1].x.y[0]"));
        assert!(contains("module.a[0].module.b", "module.a[0].module.b[1].x.y"));
        assert!(!contains("module.a.module.b", "module.a[0].module.b.x.y"));
        assert!(!contains("module.a.module.b[0]", "module.a[0].module.b[0].x.y"));
        let (target, instance): (Target, ResourceInstance) =
            ("module.a.x.y".parse().unwrap(), "module.a[1].x.y[0]".parse().unwrap());
        assert!(target.may_mean(&instance));
    }

    #[test]
    fn keys_are_ignored_before_expansion() {
        let target: Target = "module.a[1].x.y[2]".parse().unwrap();
        assert!(target.may_contain(&"module.a.x.y".parse().unwrap()));
        assert!(!target.may_contain(&"module.b.x.y".parse().unwrap()));
        let target: Target = "module.a[1]".parse().unwrap();
        assert!(target.may_contain(&"module.a.module.c.x.y".parse().unwrap()));
        assert!(!target.may_contain(&"x.y".parse().unwrap()));
    }
}
