//! Resources and their instances.

use std::cmp::Ordering;
use std::fmt;

use crate::{InstanceKey, ModuleInstance, ModulePath, Name};

/// The resource mode: the kind of block that declares a resource.
///
/// Sorts as Terraform does: ephemeral resources, data sources, managed resources; lists, which no state has, come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Declared by a `resource` block.
    Managed,
    /// Declared by a `data` block.
    Data,
    /// Declared by an `ephemeral` block.
    Ephemeral,
    /// A `list` block of a query.
    List,
}

impl Mode {
    fn rank(self) -> u8 {
        match self {
            Self::Ephemeral => 0,
            Self::Data => 1,
            Self::Managed => 2,
            Self::List => 3,
        }
    }

    /// Returns the prefix of the type in addresses, with its dot.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Managed => "",
            Self::Data => "data.",
            Self::Ephemeral => "ephemeral.",
            Self::List => "list.",
        }
    }

    /// The word that state files and plans use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Data => "data",
            Self::Ephemeral => "ephemeral",
            Self::List => "list",
        }
    }

    /// The one whose addresses begin with `word` and a dot, before the type.
    pub fn beginning_with(word: &str) -> Option<Self> {
        [Self::Managed, Self::Data, Self::Ephemeral, Self::List].into_iter().find(|mode| mode.block_keyword() == word)
    }

    /// The keyword of the block that declares it.
    pub fn block_keyword(self) -> &'static str {
        match self {
            Self::Managed => "resource",
            Self::Data => "data",
            Self::Ephemeral => "ephemeral",
            Self::List => "list",
        }
    }
}

impl Ord for Mode {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Mode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A resource within its module, as written: `aws_x.y`, `data.aws_x.y`, `ephemeral.x.y`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource {
    /// The mode of the resource.
    pub mode: Mode,
    /// The resource type: the first label.
    pub type_name: Name,
    /// Its own name: the second label.
    pub name: Name,
}

impl Resource {
    /// Creates the address of a managed resource.
    pub fn managed(type_name: impl Into<Name>, name: impl Into<Name>) -> Self {
        Self { mode: Mode::Managed, type_name: type_name.into(), name: name.into() }
    }

    /// Creates the address of a data source.
    pub fn data(type_name: impl Into<Name>, name: impl Into<Name>) -> Self {
        Self { mode: Mode::Data, type_name: type_name.into(), name: name.into() }
    }

    /// The local name of the provider that a resource of this type belongs to unless its block says otherwise: the
    /// type's first word.
    pub fn implied_provider(&self) -> &str {
        self.type_name.split('_').next().unwrap_or_default()
    }

    /// This resource in a module instance.
    pub fn absolute(&self, module: ModuleInstance) -> AbsResource {
        AbsResource { module, resource: self.clone() }
    }

    /// This resource in a module as written.
    pub fn in_module(&self, module: ModulePath) -> ConfigResource {
        ConfigResource { module, resource: self.clone() }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Piece by piece: addresses are written for every instance, several times a run.
        for piece in [self.mode.prefix(), &self.type_name, ".", &self.name] {
            f.write_str(piece)?;
        }
        Ok(())
    }
}

/// A resource of the configuration: its module as written, and itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigResource {
    /// The module that declares it.
    pub module: ModulePath,
    /// The resource within it.
    pub resource: Resource,
}

/// `module.a.aws_x.y`.
impl fmt::Display for ConfigResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)
    }
}

/// A resource of a module instance, all its instances together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsResource {
    /// The module instance it is in.
    pub module: ModuleInstance,
    /// The resource within it.
    pub resource: Resource,
}

impl AbsResource {
    /// One instance of it.
    pub fn instance(&self, key: InstanceKey) -> ResourceInstance {
        ResourceInstance { module: self.module.clone(), resource: self.resource.clone(), key }
    }

    /// The resource as written.
    pub fn config_resource(&self) -> ConfigResource {
        ConfigResource { module: self.module.path(), resource: self.resource.clone() }
    }
}

/// `module.a["x"].aws_x.y`.
impl fmt::Display for AbsResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)
    }
}

/// One instance of a resource in one instance of its module: what a provider manages as one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceInstance {
    /// The module instance it is in.
    pub module: ModuleInstance,
    /// The resource within it.
    pub resource: Resource,
    /// The key of the instance.
    pub key: InstanceKey,
}

impl ResourceInstance {
    /// An instance in the root module.
    pub fn in_root(resource: Resource, key: InstanceKey) -> Self {
        Self { module: ModuleInstance::root(), resource, key }
    }

    /// The resource it is an instance of.
    pub fn abs_resource(&self) -> AbsResource {
        AbsResource { module: self.module.clone(), resource: self.resource.clone() }
    }

    /// The resource as written.
    pub fn config_resource(&self) -> ConfigResource {
        ConfigResource { module: self.module.path(), resource: self.resource.clone() }
    }

    /// Appends the address to a text: what formatting it gives, without the machinery of formatting.
    pub fn push_to(&self, text: &mut String) {
        for step in self.module.steps() {
            text.push_str("module.");
            text.push_str(&step.name);
            step.key.push_to(text);
            text.push('.');
        }
        for piece in [self.resource.mode.prefix(), &self.resource.type_name, ".", &self.resource.name] {
            text.push_str(piece);
        }
        self.key.push_to(text);
    }

    /// The address within its module: `aws_x.y["k"]`.
    pub fn display_relative(&self) -> impl fmt::Display + '_ {
        struct Relative<'a>(&'a ResourceInstance);
        impl fmt::Display for Relative<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", self.0.resource, self.0.key)
            }
        }
        Relative(self)
    }
}

/// `module.a["x"].aws_x.y["k"]`.
impl fmt::Display for ResourceInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)?;
        self.key.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_sort_by_module_mode_type_name_and_key() {
        let order = [
            "ephemeral.z.z",
            "data.b.a",
            "data.b.b",
            "a.b",
            "a.c",
            "a.c[2]",
            "a.c[10]",
            "a.c[\"1\"]",
            "b.a",
            "module.z.data.a.a",
            "module.z.a.a",
            "module.z[0].a.a",
            "module.z[18446744073709551615].a.a",
            "module.z[\"k\"].a.a",
            "module.a.module.a.a.a",
        ];
        let instances: Vec<ResourceInstance> = order.iter().map(|text| text.parse().unwrap()).collect();
        assert!(instances.is_sorted());
        assert_eq!(instances.iter().map(ToString::to_string).collect::<Vec<_>>(), order);
        let pushed = |instance: &ResourceInstance| {
            let mut text = String::new();
            instance.push_to(&mut text);
            text
        };
        assert_eq!(instances.iter().map(pushed).collect::<Vec<_>>(), order);
    }

    #[test]
    fn an_instance_knows_its_resource_and_its_configuration() {
        let instance: ResourceInstance = r#"module.a["x"].data.aws_x.y["k"]"#.parse().unwrap();
        assert_eq!(instance.abs_resource().to_string(), r#"module.a["x"].data.aws_x.y"#);
        assert_eq!(instance.config_resource().to_string(), "module.a.data.aws_x.y");
        assert_eq!(instance.display_relative().to_string(), r#"data.aws_x.y["k"]"#);
        assert_eq!(instance.resource.implied_provider(), "aws");
        assert_eq!(instance.abs_resource().instance(1.into()).to_string(), r#"module.a["x"].data.aws_x.y[1]"#);
    }
}
