//! Providers and their configurations.

use std::fmt;

use crate::write_literal;

use crate::host::{normal_host, normal_label};
use crate::{InstanceKey, ModulePath, Name};

/// Default registry host of Terraform.
pub const DEFAULT_PROVIDER_HOST: &str = "registry.terraform.io";

/// Default registry host of OpenTofu, used for lock files and states that OpenTofu wrote.
pub const OPENTOFU_PROVIDER_HOST: &str = "registry.opentofu.org";

const BUILT_IN_HOST: &str = "terraform.io";
const BUILT_IN_NAMESPACE: &str = "builtin";
const DEFAULT_NAMESPACE: &str = "hashicorp";
const LEGACY_NAMESPACE: &str = "-";

/// A fully qualified provider source address: `registry.terraform.io/hashicorp/aws`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderAddress {
    /// The registry's host name, in lower case.
    pub hostname: Name,
    /// The namespace in the registry, in lower case.
    pub namespace: Name,
    /// The provider's type within the namespace, in lower case.
    pub type_name: Name,
}

/// Reason why a string is not a provider source address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidProvider {
    /// The invalid part of the address.
    pub part: ProviderPart,
    /// A complete sentence with the problem and the correct form.
    pub message: String,
}

/// A part of a provider's source address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderPart {
    /// The address as a whole: wrong number of parts, or an empty part.
    Source,
    /// The registry's host name.
    Host,
    /// The namespace in the registry.
    Namespace,
    /// The provider's type.
    Name,
}

impl fmt::Display for InvalidProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InvalidProvider {}

impl ProviderAddress {
    /// Returns the provider that a local name means without a `required_providers` entry:
    /// `terraform` is built in, everything else is `hashicorp/NAME` in the default registry.
    pub fn default_for(local_name: &str) -> Self {
        // Terraform's only built-in provider.
        if local_name == "terraform" {
            return Self::builtin_terraform();
        }
        Self {
            hostname: DEFAULT_PROVIDER_HOST.into(),
            namespace: DEFAULT_NAMESPACE.into(),
            type_name: local_name.to_lowercase().into(),
        }
    }

    /// Returns `terraform.io/builtin/terraform`, the provider of `terraform_data` and `terraform_remote_state`.
    pub fn builtin_terraform() -> Self {
        Self { hostname: BUILT_IN_HOST.into(), namespace: BUILT_IN_NAMESPACE.into(), type_name: "terraform".into() }
    }

    /// Whether the provider is part of the program and never installed.
    pub fn is_builtin(&self) -> bool {
        &*self.hostname == BUILT_IN_HOST && &*self.namespace == BUILT_IN_NAMESPACE
    }

    /// Whether this is a legacy address from a state before Terraform 0.13, which records `-` instead of the unknown
    /// namespace.
    pub fn is_legacy(&self) -> bool {
        &*self.namespace == LEGACY_NAMESPACE
    }

    /// Parses `aws`, `namespace/aws` or `host/namespace/aws`; `default_host` completes the first two.
    ///
    /// # Errors
    /// A part is missing or contains characters that the registry does not allow, or the type has the `terraform-`
    /// prefix of a repository name.
    pub fn parse(source: &str, default_host: &str) -> Result<Self, InvalidProvider> {
        let address = Self::parse_recorded(source, default_host)?;
        match address.type_name.strip_prefix("terraform-") {
            // A single name means the default namespace, whatever prefix it has.
            Some(name) if source.contains('/') => Err(InvalidProvider {
                part: ProviderPart::Name,
                message: format!(
                    "A provider source address does not include the \"terraform-provider-\" prefix of the provider's repository: \
                     write {}/{}.",
                    address.namespace,
                    name.strip_prefix("provider-").unwrap_or(name)
                ),
            }),
            _ => Ok(address),
        }
    }

    /// Parses the address of a provider that already manages objects, so its name may have any prefix.
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
                        "{source:?} is not a valid provider source address: it has {} parts. Use NAME, NAMESPACE/NAME or \
                         HOST/NAMESPACE/NAME.",
                        parts.len()
                    ),
                });
            }
        };
        let hostname = normal_registry(host, source)?;
        Ok(Self {
            // Tools that upgrade a state from before provider namespaces write a dash instead, always with their
            // default registry.
            namespace: if namespace == LEGACY_NAMESPACE
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

    /// Displays the address as Terraform does in messages, without the default registry's host: `hashicorp/aws`.
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

/// Formats the address as `HOST/NAMESPACE/NAME`.
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
            message: format!("{source:?} is not a valid provider source address: its {what} is empty."),
        });
    }
    let invalid = |rule: &str| InvalidProvider {
        part: which,
        message: format!("{source:?} is not a valid provider source address: the {what} {part:?} {rule}."),
    };
    // Terraform refuses consecutive dashes, which Punycode labels (`xn--`) contain.
    if part.contains("--") {
        return Err(invalid("has two dashes in a row"));
    }
    if part.starts_with('-') || part.ends_with('-') {
        return Err(invalid("begins or ends with a dash"));
    }
    normal_label(part).map(Name::from).ok_or_else(|| invalid("may contain only letters, digits and dashes"))
}

fn normal_registry(host: &str, source: &str) -> Result<Name, InvalidProvider> {
    normal_host(host).map(Name::from).ok_or_else(|| InvalidProvider {
        part: if host.is_empty() { ProviderPart::Source } else { ProviderPart::Host },
        message: format!(
            "{source:?} is not a valid provider source address: {host:?} is not a valid hostname. Use letters, digits and dashes, \
             separated by dots, and a port if necessary."
        ),
    })
}

/// The address of a provider configuration: a `provider` block of a module (or the implied empty one), or one instance
/// of a block with `for_each`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderConfig {
    /// The module that contains the block.
    pub module: ModulePath,
    /// The configured provider.
    pub provider: ProviderAddress,
    /// The block's `alias` argument.
    pub alias: Option<Name>,
    /// The instance of a block with `for_each`; none for the block itself.
    pub key: InstanceKey,
}

impl ProviderConfig {
    /// Returns the root module's configuration without an alias.
    pub fn default_in_root(provider: ProviderAddress) -> Self {
        Self { module: ModulePath::root(), provider, alias: None, key: InstanceKey::None }
    }

    /// Returns the instance `key` of the same block.
    #[must_use]
    pub fn instance(&self, key: InstanceKey) -> Self {
        let Self { module, provider, alias, key: _ } = self;
        Self { module: module.clone(), provider: provider.clone(), alias: alias.clone(), key }
    }

    /// Returns the address of the block that this is an instance of.
    #[must_use]
    pub fn block(&self) -> Self {
        self.instance(InstanceKey::None)
    }

    /// Whether both addresses belong to the same block.
    pub fn is_of_block(&self, other: &Self) -> bool {
        self.module == other.module && self.provider == other.provider && self.alias == other.alias
    }
}

/// Formats the address as state files and plans record it:
/// `module.m.provider["registry.terraform.io/hashicorp/aws"].west`, followed by the instance key.
impl fmt::Display for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        f.write_str("provider[")?;
        write_literal(&self.provider.to_string(), f)?;
        f.write_str("]")?;
        match &self.alias {
            // Keys follow the alias in OpenTofu's states.
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
    fn host_and_namespace_have_defaults() {
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
    fn repository_prefix_is_refused() {
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
        // A recorded provider keeps its name: its objects must stay manageable.
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
    fn invalid_source_reports_the_invalid_part() {
        for (source, part, expected) in [
            ("", ProviderPart::Source, "its name is empty"),
            ("a/b/c/d", ProviderPart::Source, "it has 4 parts"),
            ("a//b", ProviderPart::Source, "its namespace is empty"),
            ("/a/b", ProviderPart::Source, "is not a valid hostname"),
            ("hashi corp/aws", ProviderPart::Namespace, "may contain only letters"),
            ("registry.terraform.io/aws", ProviderPart::Namespace, "may contain only letters"),
            ("a--b/aws", ProviderPart::Namespace, "two dashes"),
            ("localhost/-/aws", ProviderPart::Namespace, "begins or ends"),
            ("-a/aws", ProviderPart::Namespace, "begins or ends"),
            ("a/b_c", ProviderPart::Name, "may contain only letters"),
            ("a/b.c", ProviderPart::Name, "may contain only letters"),
            ("-a.b/hashicorp/aws", ProviderPart::Host, "is not a valid hostname"),
            ("a.b:99999/hashicorp/aws", ProviderPart::Host, "is not a valid hostname"),
        ] {
            let problem = parse(source).unwrap_err();
            assert_eq!(problem.part, part, "{source}");
            assert!(problem.message.contains(expected), "{source}: {}", problem.message);
        }
    }
}
