//! Resources and their instances.

use std::cmp::Ordering;
use std::fmt;

use crate::{InstanceKey, ModuleInstance, ModulePath, Name};

/// The kind of block that declares a resource.
///
/// Sorts as in Terraform: ephemeral resources, data sources, managed resources. List resources, which never appear in
/// a state, come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A `resource` block.
    Managed,
    /// A `data` block.
    Data,
    /// An `ephemeral` block.
    Ephemeral,
    /// A `list` block of a query.
    List,
}

impl Mode {
    fn rank(self) -> u8 {
        match self {
            // The order in which Terraform lists resources in states and plans.
            Self::Ephemeral => 0,
            Self::Data => 1,
            Self::Managed => 2,
            Self::List => 3,
        }
    }

    /// Returns the part of an address before the type, including its dot.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Managed => "",
            Self::Data => "data.",
            Self::Ephemeral => "ephemeral.",
            Self::List => "list.",
        }
    }

    /// Returns the mode's name in state files and plans.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Data => "data",
            Self::Ephemeral => "ephemeral",
            Self::List => "list",
        }
    }

    /// Returns the mode whose block keyword begins an address, as in `data.aws_ami.x` or `resource.aws_instance.x`.
    pub fn from_block_keyword(word: &str) -> Option<Self> {
        [Self::Managed, Self::Data, Self::Ephemeral, Self::List].into_iter().find(|mode| mode.block_keyword() == word)
    }

    /// Returns the keyword of the declaring block.
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

/// A resource address within its module: `aws_x.y`, `data.aws_x.y`, `ephemeral.x.y`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource {
    /// Managed, data, ephemeral or list.
    pub mode: Mode,
    /// The resource type: the block's first label.
    pub type_name: Name,
    /// The block's second label.
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

    /// Returns the local name of the provider that manages this type unless the block has a `provider` argument: the
    /// type up to its first underscore.
    pub fn implied_provider(&self) -> &str {
        self.type_name.split('_').next().unwrap_or_default()
    }

    /// Returns the address of this resource in a module instance.
    pub fn absolute(&self, module: ModuleInstance) -> AbsResource {
        AbsResource { module, resource: self.clone() }
    }

    /// Returns the address of this resource in an unexpanded module.
    pub fn in_module(&self, module: ModulePath) -> ConfigResource {
        ConfigResource { module, resource: self.clone() }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without `write!`: addresses are formatted for every instance, several times a run.
        for part in [self.mode.prefix(), &self.type_name, ".", &self.name] {
            f.write_str(part)?;
        }
        Ok(())
    }
}

/// A resource before expansion: the path of its module and the resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigResource {
    /// Path of the declaring module.
    pub module: ModulePath,
    /// Address within the module.
    pub resource: Resource,
}

/// Formats the address as `module.a.aws_x.y`.
impl fmt::Display for ConfigResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)
    }
}

/// A resource in a module instance, with all its instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsResource {
    /// The module instance that contains the resource.
    pub module: ModuleInstance,
    /// Address within the module.
    pub resource: Resource,
}

impl AbsResource {
    /// Returns the address of one instance.
    pub fn instance(&self, key: InstanceKey) -> ResourceInstance {
        ResourceInstance { module: self.module.clone(), resource: self.resource.clone(), key }
    }

    /// Returns the address before expansion, without module keys.
    pub fn config_resource(&self) -> ConfigResource {
        ConfigResource { module: self.module.path(), resource: self.resource.clone() }
    }
}

/// Formats the address as `module.a["x"].aws_x.y`.
impl fmt::Display for AbsResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)
    }
}

/// One instance of a resource in one instance of its module: the unit that a provider manages as one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceInstance {
    /// The module instance that contains the resource.
    pub module: ModuleInstance,
    /// Address within the module.
    pub resource: Resource,
    /// Index of `count`, key of `for_each`, or none.
    pub key: InstanceKey,
}

impl ResourceInstance {
    /// Creates the address of an instance in the root module.
    pub fn in_root(resource: Resource, key: InstanceKey) -> Self {
        Self { module: ModuleInstance::root(), resource, key }
    }

    /// Returns the address of all instances of the same resource in the same module instance.
    pub fn abs_resource(&self) -> AbsResource {
        AbsResource { module: self.module.clone(), resource: self.resource.clone() }
    }

    /// Returns the address before expansion, without any keys.
    pub fn config_resource(&self) -> ConfigResource {
        ConfigResource { module: self.module.path(), resource: self.resource.clone() }
    }

    /// Appends the displayed address to a string, without the overhead of `fmt`.
    pub fn push_to(&self, text: &mut String) {
        for step in self.module.steps() {
            text.push_str("module.");
            text.push_str(&step.name);
            step.key.push_to(text);
            text.push('.');
        }
        for part in [self.resource.mode.prefix(), &self.resource.type_name, ".", &self.resource.name] {
            text.push_str(part);
        }
        self.key.push_to(text);
    }

    /// Displays the address within its module: `aws_x.y["k"]`.
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

/// Formats the address as `module.a["x"].aws_x.y["k"]`.
impl fmt::Display for ResourceInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)?;
        self.key.fmt(f)
    }
}

/// One instance of an `action` block in one instance of its module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ActionInstance {
    /// The module instance that contains the action.
    pub module: ModuleInstance,
    /// The action type: the block's first label.
    pub type_name: Name,
    /// The block's second label.
    pub name: Name,
    /// Index of `count`, key of `for_each`, or none.
    pub key: InstanceKey,
}

impl ActionInstance {
    /// Returns the displayed address within its module: `action.aws_x.y["k"]`.
    pub fn local(&self) -> String {
        format!("action.{}.{}{}", self.type_name, self.name, self.key)
    }
}

/// Formats the address as `module.a["x"].action.aws_x.y["k"]`.
impl fmt::Display for ActionInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        f.write_str(&self.local())
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
    fn instance_address_conversions() {
        let instance: ResourceInstance = r#"module.a["x"].data.aws_x.y["k"]"#.parse().unwrap();
        assert_eq!(instance.abs_resource().to_string(), r#"module.a["x"].data.aws_x.y"#);
        assert_eq!(instance.config_resource().to_string(), "module.a.data.aws_x.y");
        assert_eq!(instance.display_relative().to_string(), r#"data.aws_x.y["k"]"#);
        assert_eq!(instance.resource.implied_provider(), "aws");
        assert_eq!(instance.abs_resource().instance(1.into()).to_string(), r#"module.a["x"].data.aws_x.y[1]"#);
    }

    #[test]
    fn addresses_of_actions_name_module_and_key() {
        let (type_name, name) = (Name::from("aws_x"), Name::from("y"));
        let mut action = ActionInstance { module: ModuleInstance::root(), type_name, name, key: InstanceKey::None };
        assert_eq!(action.to_string(), "action.aws_x.y");
        action.module = r#"module.a["x"]"#.parse().unwrap();
        action.key = 2.into();
        assert_eq!(action.to_string(), r#"module.a["x"].action.aws_x.y[2]"#);
        assert_eq!(action.local(), "action.aws_x.y[2]");
    }
}
