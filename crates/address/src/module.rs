//! Places in the tree of modules.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::{InstanceKey, Name};

/// One step down the tree of module instances: a module call and which of its instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleStep {
    /// The name of the `module` block.
    pub name: Name,
    /// The key of the instance.
    pub key: InstanceKey,
}

impl fmt::Display for ModuleStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module.{}{}", self.name, self.key)
    }
}

/// A module as written: the names of the `module` blocks from the root module down to it.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct ModulePath(Option<Arc<[Name]>>);

impl ModulePath {
    /// Returns the root module's path.
    pub const fn root() -> Self {
        Self(None)
    }

    /// The module with these call names from the root down.
    pub fn from_names(names: impl IntoIterator<Item = Name>) -> Self {
        let names: Arc<[Name]> = names.into_iter().collect();
        Self((!names.is_empty()).then_some(names))
    }

    /// The module that the block `name` in this module calls.
    #[must_use]
    pub fn child(&self, name: &Name) -> Self {
        Self::from_names(self.steps().iter().cloned().chain([name.clone()]))
    }

    /// The module that calls this one; none for the root module.
    pub fn parent(&self) -> Option<Self> {
        let (_, parents) = self.steps().split_last()?;
        Some(Self::from_names(parents.iter().cloned()))
    }

    /// The call names from the root down.
    pub fn steps(&self) -> &[Name] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether it is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_none()
    }

    /// Whether `other` is this module or one below it.
    pub fn contains(&self, other: &Self) -> bool {
        other.steps().starts_with(self.steps())
    }

    /// The module instance in which no step has a key.
    pub fn unkeyed(&self) -> ModuleInstance {
        ModuleInstance::from_steps(
            self.steps().iter().map(|name| ModuleStep { name: name.clone(), key: InstanceKey::None }),
        )
    }
}

impl Ord for ModulePath {
    fn cmp(&self, other: &Self) -> Ordering {
        shorter_first(self.0.as_ref(), other.0.as_ref())
    }
}

impl PartialOrd for ModulePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `module.a.module.b`; empty for the root module.
impl fmt::Display for ModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.steps().iter().enumerate() {
            write!(f, "{}module.{name}", if index == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

impl fmt::Debug for ModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModulePath({self})")
    }
}

/// One instance of a module: the root module, or a step for each call on the way down to it.
///
/// Shorter ones sort first, those of the same depth by their steps, as in Terraform.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct ModuleInstance(Option<Arc<[ModuleStep]>>);

impl ModuleInstance {
    /// Returns the root module's address.
    pub const fn root() -> Self {
        Self(None)
    }

    /// The module instance with these steps from the root down.
    pub fn from_steps(steps: impl IntoIterator<Item = ModuleStep>) -> Self {
        let steps: Arc<[ModuleStep]> = steps.into_iter().collect();
        Self((!steps.is_empty()).then_some(steps))
    }

    /// The instance `key` of the module that the block `name` in this module instance calls.
    #[must_use]
    pub fn child(&self, name: Name, key: InstanceKey) -> Self {
        Self::from_steps(self.steps().iter().cloned().chain([ModuleStep { name, key }]))
    }

    /// The module instance that calls this one; none for the root module.
    pub fn parent(&self) -> Option<Self> {
        let (_, parents) = self.steps().split_last()?;
        Some(Self::from_steps(parents.iter().cloned()))
    }

    /// The steps from the root down.
    pub fn steps(&self) -> &[ModuleStep] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether it is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_none()
    }

    /// The module as written, without keys.
    pub fn path(&self) -> ModulePath {
        ModulePath::from_names(self.steps().iter().map(|step| step.name.clone()))
    }

    /// Whether `other` is this module instance or one below it. A step without key matches all instances
    /// of its call.
    pub fn contains(&self, other: &Self) -> bool {
        let (own, other) = (self.steps(), other.steps());
        own.len() <= other.len() && own.iter().zip(other).all(|(own, other)| step_covers(own, other))
    }

    /// Whether `other` is this module instance. A step without key matches all instances of its call.
    pub fn covers(&self, other: &Self) -> bool {
        self.steps().len() == other.steps().len() && self.contains(other)
    }
}

fn step_covers(own: &ModuleStep, other: &ModuleStep) -> bool {
    own.name == other.name && (own.key.is_none() || own.key == other.key)
}

impl Ord for ModuleInstance {
    fn cmp(&self, other: &Self) -> Ordering {
        shorter_first(self.0.as_ref(), other.0.as_ref())
    }
}

impl PartialOrd for ModuleInstance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `module.a["x"].module.b[0]`; empty for the root module.
impl fmt::Display for ModuleInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps().iter().enumerate() {
            write!(f, "{}{step}", if index == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

impl fmt::Debug for ModuleInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModuleInstance({self})")
    }
}

/// Compares two step lists by length, then by content; equal pointers need no comparison.
fn shorter_first<T: Ord>(one: Option<&Arc<[T]>>, other: Option<&Arc<[T]>>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) if Arc::ptr_eq(one, other) => Ordering::Equal,
        (Some(one), Some(other)) => one.len().cmp(&other.len()).then_with(|| one.cmp(other)),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(text: &str) -> ModuleInstance {
        text.parse().unwrap()
    }

    #[test]
    fn shallow_modules_come_before_deep_ones() {
        let order = [
            "",
            "module.a",
            "module.a[2]",
            "module.a[10]",
            "module.a[\"10\"]",
            "module.b",
            "module.z",
            "module.a.module.a",
            "module.a.module.b",
        ];
        let modules: Vec<_> = order.iter().map(|text| instance(text)).collect();
        assert!(modules.is_sorted());
        assert_eq!(modules.iter().map(ToString::to_string).collect::<Vec<_>>(), order);
    }

    #[test]
    fn up_and_down_the_tree() {
        let module = ModuleInstance::root().child("a".into(), "x".into()).child("b".into(), 0.into());
        assert_eq!(module.to_string(), r#"module.a["x"].module.b[0]"#);
        assert_eq!(module.path().to_string(), "module.a.module.b");
        assert_eq!(module.parent().unwrap().to_string(), r#"module.a["x"]"#);
        assert_eq!(module.parent().unwrap().parent(), Some(ModuleInstance::root()));
        assert_eq!(ModuleInstance::root().parent(), None);
        assert_eq!(ModulePath::root().child(&"a".into()).child(&"b".into()), module.path());
        assert_eq!(module.path().parent().unwrap().to_string(), "module.a");
        assert_eq!(module.path().unkeyed().to_string(), "module.a.module.b");
    }

    #[test]
    fn a_step_without_key_stands_for_all_instances_of_the_call() {
        assert!(instance("module.a").contains(&instance("module.a[3].module.b")));
        assert!(instance("module.a[3]").contains(&instance("module.a[3].module.b")));
        assert!(!instance("module.a[4]").contains(&instance("module.a[3].module.b")));
        assert!(!instance("module.a.module.b").contains(&instance("module.a")));
        assert!(instance("module.a").covers(&instance("module.a[3]")));
        assert!(!instance("module.a").covers(&instance("module.a[3].module.b")));
    }
}
