//! Addresses of resources and providers in state formats 1 to 3, and of Terraform 0.12.

use groma_address::{
    DEFAULT_PROVIDER_HOST, InstanceKey, Mode, ModuleInstance, ModulePath, Name, ProviderAddress, ProviderConfig,
    Resource, is_identifier,
};

use super::{Outcome, UpgradeError};

/// The key of an entry: `aws_instance.web`, `aws_instance.web.3`, `data.aws_ami.linux`, `data.aws_ami.linux.0`.
pub(super) struct Key {
    pub resource: Resource,
    pub instance: InstanceKey,
}

impl Key {
    pub fn parse(text: &str) -> Outcome<Self> {
        let unknown = || UpgradeError::UnknownKey(text.to_owned());
        let parts: Vec<&str> = text.split('.').collect();
        let (mode, parts) = match &*parts {
            // Two parts are a resource type that is called "data".
            ["data", rest @ ..] if rest.len() > 1 => (Mode::Data, rest),
            all => (Mode::Managed, all),
        };
        let (type_name, name, instance) = match parts {
            [type_name, name] => (type_name, name, InstanceKey::None),
            [type_name, name, index] => (type_name, name, InstanceKey::Int(index.parse().map_err(|_| unknown())?)),
            _ => return Err(unknown()),
        };
        if !is_identifier(type_name) || !is_identifier(name) {
            return Err(unknown());
        }
        Ok(Self { resource: Resource { mode, type_name: (*type_name).into(), name: (*name).into() }, instance })
    }
}

/// The provider configuration that an entry in `module` names: from the root on, or by its name and alias in that module;
/// where it names none, that of its resource type. None where it can be neither.
pub(super) fn provider_of(named: &str, module: &ModuleInstance, type_name: &str) -> Option<ProviderConfig> {
    if named.contains("provider.") {
        return parse_legacy_provider(named);
    }
    let (local, alias) = match named.split_once('.') {
        _ if named.is_empty() => (type_name.split_once('_').map_or(type_name, |(first, _)| first), None),
        Some((local, alias)) => (local, Some(alias)),
        None => (named, None),
    };
    configuration(module.path(), local, alias)
}

/// `provider.aws`, `provider.aws.west`, `module.m.provider.aws`: as Terraform 0.11 and 0.12 wrote provider configurations.
pub(in super::super) fn parse_legacy_provider(text: &str) -> Option<ProviderConfig> {
    let mut parts = text.split('.');
    let mut module = ModulePath::root();
    loop {
        match parts.next()? {
            "module" => module = module.child(&Name::from(parts.next().filter(|name| is_identifier(name))?)),
            "provider" => break,
            _ => return None,
        }
    }
    let (local, alias) = (parts.next()?, parts.next());
    parts.next().is_none().then_some(())?;
    configuration(module, local, alias)
}

/// These versions knew providers by their last name only: a hyphen replaces the namespace, which is not known yet.
fn configuration(module: ModulePath, local: &str, alias: Option<&str>) -> Option<ProviderConfig> {
    if !is_identifier(local) || !alias.is_none_or(is_identifier) {
        return None;
    }
    let provider = match local {
        "terraform" => ProviderAddress::builtin_terraform(),
        _ => ProviderAddress::parse(&format!("-/{local}"), DEFAULT_PROVIDER_HOST).ok()?,
    };
    Some(ProviderConfig { module, provider, alias: alias.map(Name::from), key: InstanceKey::None })
}
