//! Module paths and module instances.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::{InstanceKey, Name};

/// One step of a module instance address: a module call and the key of one of its instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleStep {
    /// The label of the `module` block.
    pub name: Name,
    /// Key of the module call's instance.
    pub key: InstanceKey,
}

impl fmt::Display for ModuleStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module.{}{}", self.name, self.key)
    }
}

/// A module before expansion: the names of the module calls from the root module down to it.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
// `None` for the root module avoids an allocation for the most frequent path.
pub struct ModulePath(Option<Arc<[Name]>>);

impl ModulePath {
    /// Returns the path of the root module.
    pub const fn root() -> Self {
        Self(None)
    }

    /// Creates a path from the call names, starting at the root.
    pub fn from_names(names: impl IntoIterator<Item = Name>) -> Self {
        let names: Arc<[Name]> = names.into_iter().collect();
        Self((!names.is_empty()).then_some(names))
    }

    /// Returns the path of the module that the block `name` in this module calls.
    #[must_use]
    pub fn child(&self, name: &Name) -> Self {
        Self::from_names(self.steps().iter().cloned().chain([name.clone()]))
    }

    /// Returns the path of the calling module; `None` for the root module.
    pub fn parent(&self) -> Option<Self> {
        let (_, parents) = self.steps().split_last()?;
        Some(Self::from_names(parents.iter().cloned()))
    }

    /// Call names from the root down.
    pub fn steps(&self) -> &[Name] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_none()
    }

    /// Whether `other` is this module or a descendant.
    pub fn contains(&self, other: &Self) -> bool {
        other.steps().starts_with(self.steps())
    }

    /// Returns the module instance in which no step has a key.
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

/// Formats the path as `module.a.module.b`; empty for the root module.
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

/// An instance of a module: the root module, or one step for each call from the root down to it.
///
/// Sorts by depth first, then by steps, as in Terraform.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
// `None` for the root module avoids an allocation for the most frequent module.
pub struct ModuleInstance(Option<Arc<[ModuleStep]>>);

impl ModuleInstance {
    /// Returns the root module's only instance.
    pub const fn root() -> Self {
        Self(None)
    }

    /// Creates an instance address from its steps, starting at the root.
    pub fn from_steps(steps: impl IntoIterator<Item = ModuleStep>) -> Self {
        let steps: Arc<[ModuleStep]> = steps.into_iter().collect();
        Self((!steps.is_empty()).then_some(steps))
    }

    /// Returns the instance `key` of the module that the block `name` in this module instance calls.
    #[must_use]
    pub fn child(&self, name: Name, key: InstanceKey) -> Self {
        Self::from_steps(self.steps().iter().cloned().chain([ModuleStep { name, key }]))
    }

    /// Returns the calling module instance; `None` for the root module.
    pub fn parent(&self) -> Option<Self> {
        let (_, parents) = self.steps().split_last()?;
        Some(Self::from_steps(parents.iter().cloned()))
    }

    /// Steps from the root down.
    pub fn steps(&self) -> &[ModuleStep] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the module path, without instance keys.
    pub fn path(&self) -> ModulePath {
        ModulePath::from_names(self.steps().iter().map(|step| step.name.clone()))
    }

    /// Whether `other` is this module instance or a descendant. A step without a key matches all instances of its
    /// call.
    pub fn contains(&self, other: &Self) -> bool {
        let (own, other) = (self.steps(), other.steps());
        own.len() <= other.len() && own.iter().zip(other).all(|(own, other)| step_covers(own, other))
    }

    /// Whether `other` is this module instance. A step without a key matches all instances of its call.
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

/// Formats the address as `module.a["x"].module.b[0]`; empty for the root module.
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

/// Compares two step lists by length, then by content.
fn shorter_first<T: Ord>(one: Option<&Arc<[T]>>, other: Option<&Arc<[T]>>) -> Ordering {
    match (one, other) {
        // Addresses in one module usually share the list, so the pointer comparison decides most calls of a sort.
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
    fn modules_sort_by_depth_first() {
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
    fn parents_and_children() {
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
    fn step_without_key_matches_all_instances() {
        assert!(instance("module.a").contains(&instance("module.a[3].module.b")));
        assert!(instance("module.a[3]").contains(&instance("module.a[3].module.b")));
        assert!(!instance("module.a[4]").contains(&instance("module.a[3].module.b")));
        assert!(!instance("module.a.module.b").contains(&instance("module.a")));
        assert!(instance("module.a").covers(&instance("module.a[3]")));
        assert!(!instance("module.a").covers(&instance("module.a[3].module.b")));
    }
}
