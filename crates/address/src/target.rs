//! Targets of options such as `-target`.

use std::fmt;

use crate::{AbsResource, ConfigResource, ModuleInstance, Resource, ResourceInstance};

/// A part of the infrastructure, as a person names it on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A module instance (all instances of a call where the last key is left out) with everything below it.
    Module(ModuleInstance),
    /// All instances of a resource.
    Resource(AbsResource),
    /// One resource instance.
    Instance(ResourceInstance),
}

impl Target {
    /// Whether `instance` is part of it. Only the last key may be left out: it is said of every module around it which
    /// instance is meant.
    pub fn contains(&self, instance: &ResourceInstance) -> bool {
        match self {
            Self::Module(module) => {
                let (own, other) = (module.steps(), instance.module.steps());
                let around = own.len().saturating_sub(1);
                own.get(..around) == other.get(..around) && module.contains(&instance.module)
            }
            Self::Resource(own) => own.resource == instance.resource && own.module == instance.module,
            Self::Instance(own) => own == instance,
        }
    }

    /// Whether `instance` may be part of the target, where module steps without key match all instances of their call.
    pub fn may_mean(&self, instance: &ResourceInstance) -> bool {
        match self {
            Self::Module(module) => module.contains(&instance.module),
            Self::Resource(own) => own.resource == instance.resource && own.module.covers(&instance.module),
            Self::Instance(own) => {
                own.key == instance.key && own.resource == instance.resource && own.module.covers(&instance.module)
            }
        }
    }

    /// Whether instances of `resource` may be part of it: what can be said before `count` and `for_each` are known.
    pub fn may_contain(&self, resource: &ConfigResource) -> bool {
        let same = |module: &ModuleInstance, own: &Resource| {
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
    fn a_target_selects_everything_below_it() {
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
    fn of_the_modules_around_a_target_the_instance_is_said() {
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
    fn before_expansion_a_key_excludes_nothing() {
        let target: Target = "module.a[1].x.y[2]".parse().unwrap();
        assert!(target.may_contain(&"module.a.x.y".parse().unwrap()));
        assert!(!target.may_contain(&"module.b.x.y".parse().unwrap()));
        let target: Target = "module.a[1]".parse().unwrap();
        assert!(target.may_contain(&"module.a.module.c.x.y".parse().unwrap()));
        assert!(!target.may_contain(&"x.y".parse().unwrap()));
    }
}
