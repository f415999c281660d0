//! Origins of deprecations.

use std::fmt;

use crate::{ConfigResource, InstanceKey, ModulePath, Name, ResourceInstance};

/// The deprecated item whose use is reported.
///
/// It displays as OpenTofu describes it: `module.network.old`, `aws_x.y[0].size`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeprecationOrigin {
    /// An output of a called module.
    Output {
        /// Path of the module that declares the output.
        module: ModulePath,
        /// Name of the output.
        name: Name,
    },
    /// An output in the state that a `terraform_remote_state` data source reads.
    RemoteOutput {
        /// The data source; `None` if the reader is not a resource of a configuration.
        data: Option<ResourceInstance>,
        /// Name of the output.
        name: Name,
    },
    /// A resource type, or an attribute or a block of it, that the provider has deprecated.
    Object {
        /// The resource, without the keys of its module.
        resource: ConfigResource,
        /// The instance key of the object.
        key: InstanceKey,
        /// Path of the attribute or block as displayed, such as `.size`; empty for the whole object.
        path: Name,
    },
}

impl DeprecationOrigin {
    /// Whether the author of a module deprecated the item, not the author of a provider.
    pub fn is_of_module(&self) -> bool {
        !matches!(self, Self::Object { .. })
    }

    /// Whether the item is an output of the module at `path`, or of a module called in it.
    pub fn is_output_below(&self, path: &ModulePath) -> bool {
        matches!(self, Self::Output { module, .. } if path.contains(module))
    }
}

impl fmt::Display for DeprecationOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output { module, name } => write!(f, "{module}.{name}"),
            Self::RemoteOutput { data: Some(data), name } => write!(f, "{data}.outputs.{name}"),
            Self::RemoteOutput { data: None, name } => write!(f, ".outputs.{name}"),
            Self::Object { resource, key, path } => write!(f, "{resource}{key}{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_config_resource, parse_module_path};

    fn output(module: &str) -> DeprecationOrigin {
        DeprecationOrigin::Output { module: parse_module_path(module).unwrap(), name: "old".into() }
    }

    #[test]
    fn origins_display_as_addresses() {
        assert_eq!(output("module.a.module.b").to_string(), "module.a.module.b.old");
        let data = Some("data.terraform_remote_state.net".parse().unwrap());
        let remote = DeprecationOrigin::RemoteOutput { data, name: "old".into() };
        assert_eq!(remote.to_string(), "data.terraform_remote_state.net.outputs.old");
        let resource = parse_config_resource("module.a.aws_x.y").unwrap();
        let object = DeprecationOrigin::Object { resource, key: 0.into(), path: ".size".into() };
        assert_eq!(object.to_string(), "module.a.aws_x.y[0].size");
        assert!(remote.is_of_module() && !object.is_of_module());
    }

    #[test]
    fn outputs_are_below_their_module_and_its_callers() {
        let path = parse_module_path("module.a").unwrap();
        assert!(output("module.a").is_output_below(&path));
        assert!(output("module.a.module.b").is_output_below(&path));
        assert!(!output("module.ab").is_output_below(&path));
    }
}
