//! Providers and their configurations.

use std::fmt;

use groma_diagnostics::write_literal;

use crate::host::{normal_host, normal_label};
use crate::{InstanceKey, ModulePath, Name};

/// The registry that a source without a host name means.
pub const DEFAULT_PROVIDER_HOST: &str = "registry.terraform.io";

/// The registry that a source without a host name means where OpenTofu wrote the lock file or state.
pub const OPENTOFU_PROVIDER_HOST: &str = "registry.opentofu.org";

const BUILT_IN_HOST: &str = "terraform.io";
const BUILT_IN_NAMESPACE: &str = "builtin";
const DEFAULT_NAMESPACE: &str = "hashicorp";
const UNTOLD_NAMESPACE: &str = "-";

/// The full source address of a provider: `registry.terraform.io/hashicorp/aws`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderAddress {
    /// The registry's host name, in lower case.
    pub hostname: Name,
    /// The namespace in the registry, in lower case.
    pub namespace: Name,
    /// The provider's own name, in lower case.
    pub type_name: Name,
}

/// The reason why a text is not a provider source address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidProvider {
    /// The invalid part of the address.
    pub part: ProviderPart,
    /// A whole sentence that says what is wrong and what is right.
    pub message: String,
}

/// A part of a provider's source address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderPart {
    /// The address as a whole.
    Source,
    /// The host of the registry.
    Host,
    /// The namespace in the registry.
    Namespace,
    /// The provider's own name.
    Name,
}

impl fmt::Display for InvalidProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InvalidProvider {}

impl ProviderAddress {
    /// The provider that the local name means where no `required_providers` entry names a source:
    /// `terraform` is built in, everything else is `hashicorp/NAME` in the default registry.
    pub fn default_for(local_name: &str) -> Self {
        if local_name == "terraform" {
            return Self::builtin_terraform();
        }
        Self {
            hostname: DEFAULT_PROVIDER_HOST.into(),
            namespace: DEFAULT_NAMESPACE.into(),
            type_name: local_name.to_lowercase().into(),
        }
    }

    /// `terraform.io/builtin/terraform`: `terraform_data` and `terraform_remote_state`.
    pub fn builtin_terraform() -> Self {
        Self { hostname: BUILT_IN_HOST.into(), namespace: BUILT_IN_NAMESPACE.into(), type_name: "terraform".into() }
    }

    /// Whether it is part of the engine and never installed.
    pub fn is_builtin(&self) -> bool {
        &*self.hostname == BUILT_IN_HOST && &*self.namespace == BUILT_IN_NAMESPACE
    }

    /// Whether the namespace is a dash: states from before Terraform 0.13 do not contain it.
    pub fn is_half_named(&self) -> bool {
        &*self.namespace == UNTOLD_NAMESPACE
    }

    /// Reads `aws`, `namespace/aws` or `host/namespace/aws`; `default_host` completes the first two.
    ///
    /// # Errors
    /// When a part is missing, or holds what the registry does not allow; when the name behind a namespace begins like that of a
    /// repository.
    pub fn parse(source: &str, default_host: &str) -> Result<Self, InvalidProvider> {
        let address = Self::parse_recorded(source, default_host)?;
        match address.type_name.strip_prefix("terraform-") {
            // A mere name is one in the default namespace, whatever it looks like.
            Some(name) if source.contains('/') => Err(InvalidProvider {
                part: ProviderPart::Name,
                message: format!(
                    "The address of a provider has its name without the beginning that its repository and its program have: \
                     write {}/{}.",
                    address.namespace,
                    name.strip_prefix("provider-").unwrap_or(name)
                ),
            }),
            _ => Ok(address),
        }
    }

    /// Reads the address of a provider that manages objects already, whatever its name begins with.
    pub(crate) fn parse_recorded(source: &str, default_host: &str) -> Result<Self, InvalidProvider> {
        let parts: Vec<&str> = source.split('/').collect();
        let (host, namespace, type_name) = match parts[..] {
            [type_name] => (default_host, DEFAULT_NAMESPACE, type_name),
            [namespace, type_name] => (default_host, namespace, type_name),
            [host, namespace, type_name] => (host, namespace, type_name),
            _ => {
                return Err(InvalidProvider {
                    part: ProviderPart::Source,
                    message: format!(
                        "{source:?} is no provider source address: it has {} parts. Write NAME, NAMESPACE/NAME or \
                         HOST/NAMESPACE/NAME.",
                        parts.len()
                    ),
                });
            }
        };
        let hostname = normal_registry(host, source)?;
        Ok(Self {
            // Who reads a state from before namespaces writes a single dash for them, all of the registry that is the default there.
            namespace: if namespace == UNTOLD_NAMESPACE
                && [DEFAULT_PROVIDER_HOST, OPENTOFU_PROVIDER_HOST, default_host].contains(&&*hostname)
            {
                namespace.into()
            } else {
                normal_part(namespace, ProviderPart::Namespace, source)?
            },
            type_name: normal_part(type_name, ProviderPart::Name, source)?,
            hostname,
        })
    }

    /// Without the host name where that is the default registry: `hashicorp/aws`.
    pub fn display_short(&self) -> impl fmt::Display + '_ {
        struct Short<'a>(&'a ProviderAddress);
        impl fmt::Display for Short<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let ProviderAddress { hostname, namespace, type_name } = self.0;
                match &**hostname {
                    DEFAULT_PROVIDER_HOST => write!(f, "{namespace}/{type_name}"),
                    _ => self.0.fmt(f),
                }
            }
        }
        Short(self)
    }
}

/// `HOST/NAMESPACE/NAME`.
impl fmt::Display for ProviderAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.hostname, self.namespace, self.type_name)
    }
}

fn normal_part(part: &str, which: ProviderPart, source: &str) -> Result<Name, InvalidProvider> {
    let what = if which == ProviderPart::Namespace { "namespace" } else { "name" };
    if part.is_empty() {
        return Err(InvalidProvider {
            part: ProviderPart::Source,
            message: format!("{source:?} is no provider source address: its {what} is empty."),
        });
    }
    let invalid = |rule: &str| InvalidProvider {
        part: which,
        message: format!("{source:?} is no provider source address: the {what} {part:?} {rule}."),
    };
    if part.contains("--") {
        return Err(invalid("has two dashes in a row"));
    }
    if part.starts_with('-') || part.ends_with('-') {
        return Err(invalid("begins or ends with a dash"));
    }
    normal_label(part).map(Name::from).ok_or_else(|| invalid("may hold only letters, digits and dashes"))
}

fn normal_registry(host: &str, source: &str) -> Result<Name, InvalidProvider> {
    normal_host(host).map(Name::from).ok_or_else(|| InvalidProvider {
        part: if host.is_empty() { ProviderPart::Source } else { ProviderPart::Host },
        message: format!(
            "{source:?} is no provider source address: {host:?} is not the name of a host. Write it in letters, digits and \
             dashes, parted by dots, with a port if need be."
        ),
    })
}

/// A provider configuration: a `provider` block of a module (or the implicit empty one), or one of the
/// instances that the block's `for_each` makes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderConfig {
    /// The module with the block.
    pub module: ModulePath,
    /// The address of the provider.
    pub provider: ProviderAddress,
    /// The alias of the block.
    pub alias: Option<Name>,
    /// The instance key of a block with `for_each`; none for the block itself.
    pub key: InstanceKey,
}

impl ProviderConfig {
    /// The configuration without alias of the root module.
    pub fn default_in_root(provider: ProviderAddress) -> Self {
        Self { module: ModulePath::root(), provider, alias: None, key: InstanceKey::None }
    }

    /// The instance `key` of the same block.
    #[must_use]
    pub fn instance(&self, key: InstanceKey) -> Self {
        let Self { module, provider, alias, key: _ } = self;
        Self { module: module.clone(), provider: provider.clone(), alias: alias.clone(), key }
    }

    /// The block that it is an instance of.
    #[must_use]
    pub fn block(&self) -> Self {
        self.instance(InstanceKey::None)
    }

    /// Whether both are of the same block.
    pub fn is_of_block(&self, other: &Self) -> bool {
        self.module == other.module && self.provider == other.provider && self.alias == other.alias
    }
}

/// As state files and plans write it: `module.m.provider["registry.terraform.io/hashicorp/aws"].west`, with the key of an
/// instance at its end.
impl fmt::Display for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        f.write_str("provider[")?;
        write_literal(&self.provider.to_string(), f)?;
        f.write_str("]")?;
        match &self.alias {
            Some(alias) => write!(f, ".{alias}{}", self.key),
            None => write!(f, "{}", self.key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str) -> Result<ProviderAddress, InvalidProvider> {
        ProviderAddress::parse(source, DEFAULT_PROVIDER_HOST)
    }

    #[test]
    fn a_source_may_leave_out_the_host_and_the_namespace() {
        assert_eq!(parse("aws").unwrap().to_string(), "registry.terraform.io/hashicorp/aws");
        assert_eq!(parse("Acme/Cloud").unwrap().to_string(), "registry.terraform.io/acme/cloud");
        assert_eq!(parse("Example.com:08080/a/b-c").unwrap().to_string(), "example.com:8080/a/b-c");
        assert_eq!(parse("a.b:443/Nä/x").unwrap().to_string(), "a.b/nä/x");
        assert_eq!(parse("mirror/a/b").unwrap().to_string(), "mirror/a/b");
        let opentofu = ProviderAddress::parse("hashicorp/aws", OPENTOFU_PROVIDER_HOST).unwrap();
        assert_eq!(opentofu.to_string(), "registry.opentofu.org/hashicorp/aws");
        assert_eq!(opentofu.display_short().to_string(), "registry.opentofu.org/hashicorp/aws");
        assert_eq!(parse("aws").unwrap().display_short().to_string(), "hashicorp/aws");
    }

    #[test]
    fn a_name_does_not_begin_like_that_of_a_repository() {
        for (source, right) in [
            ("hashicorp/terraform-provider-aws", "hashicorp/aws"),
            ("a/terraform-b", "a/b"),
            ("x.y/Acme/Terraform-Provider-C", "acme/c"),
        ] {
            let problem = parse(source).unwrap_err();
            assert_eq!(problem.part, ProviderPart::Name, "{source}");
            assert!(problem.message.ends_with(&format!("write {right}.")), "{}", problem.message);
        }
        assert_eq!(parse("terraform-x").unwrap().to_string(), "registry.terraform.io/hashicorp/terraform-x");
        // What manages an object is not left out of the state for its name.
        let written = "provider[\"registry.terraform.io/hashicorp/terraform-x\"]";
        assert_eq!(crate::parse_provider_config(written).unwrap().to_string(), written);
    }

    #[test]
    fn terraform_is_built_in() {
        assert_eq!(ProviderAddress::default_for("terraform").to_string(), "terraform.io/builtin/terraform");
        assert!(ProviderAddress::default_for("terraform").is_builtin());
        assert!(!ProviderAddress::default_for("aws").is_builtin());
    }

    #[test]
    fn a_wrong_source_says_which_part_is_wrong() {
        for (source, part, expected) in [
            ("", ProviderPart::Source, "its name is empty"),
            ("a/b/c/d", ProviderPart::Source, "it has 4 parts"),
            ("a//b", ProviderPart::Source, "its namespace is empty"),
            ("/a/b", ProviderPart::Source, "not the name of a host"),
            ("hashi corp/aws", ProviderPart::Namespace, "may hold only letters"),
            ("registry.terraform.io/aws", ProviderPart::Namespace, "may hold only letters"),
            ("a--b/aws", ProviderPart::Namespace, "two dashes"),
            ("localhost/-/aws", ProviderPart::Namespace, "begins or ends"),
            ("-a/aws", ProviderPart::Namespace, "begins or ends"),
            ("a/b_c", ProviderPart::Name, "may hold only letters"),
            ("a/b.c", ProviderPart::Name, "may hold only letters"),
            ("-a.b/hashicorp/aws", ProviderPart::Host, "not the name of a host"),
            ("a.b:99999/hashicorp/aws", ProviderPart::Host, "not the name of a host"),
        ] {
            let problem = parse(source).unwrap_err();
            assert_eq!(problem.part, part, "{source}");
            assert!(problem.message.contains(expected), "{source}: {}", problem.message);
        }
    }
}
