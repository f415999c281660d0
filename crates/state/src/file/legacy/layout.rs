//! The shape of state files of versions 1 to 3, and the addresses in them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use groma_address::{
    DEFAULT_PROVIDER_HOST, InstanceKey, Mode, ModuleInstance, ModulePath, Name, ProviderAddress, ProviderConfig,
    Resource, is_identifier,
};
use groma_value::{Type, json};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Outcome, UpgradeError};
use crate::model::OutputValue;

#[derive(Deserialize)]
pub(super) struct FileLayout<'a> {
    #[serde(borrow)]
    pub terraform_version: Option<Cow<'a, str>>,
    pub serial: Option<i64>,
    #[serde(borrow)]
    pub lineage: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub modules: Option<Vec<ModuleLayout<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct ModuleLayout<'a> {
    pub path: Option<Vec<String>>,
    #[serde(borrow)]
    pub outputs: Option<BTreeMap<Cow<'a, str>, &'a RawValue>>,
    #[serde(borrow)]
    pub resources: Option<BTreeMap<Cow<'a, str>, ResourceLayout<'a>>>,
}

/// An instance, which these formats called a resource.
#[derive(Deserialize)]
pub(super) struct ResourceLayout<'a> {
    #[serde(borrow)]
    pub provider: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub primary: Option<InstanceLayout<'a>>,
    #[serde(borrow)]
    pub deposed: Option<Vec<InstanceLayout<'a>>>,
    /// Of format 1 alone.
    #[serde(borrow)]
    pub tainted: Option<Vec<InstanceLayout<'a>>>,
}

/// The object of an instance.
#[derive(Deserialize)]
pub(super) struct InstanceLayout<'a> {
    #[serde(borrow)]
    pub id: Option<Cow<'a, str>>,
    pub attributes: Option<BTreeMap<String, String>>,
    pub meta: Option<BTreeMap<String, serde_json::Value>>,
    pub tainted: Option<bool>,
}

/// Gives the counts of what must be maps their name of today, and leaves out the counts of what is empty, since nobody can
/// tell what that is: its provider sees that it is not there.
pub(super) fn name_maps(flat: &mut BTreeMap<String, String>) {
    let prefixes: Vec<String> = flat
        .keys()
        .filter_map(|key| key.strip_suffix('#'))
        // The count of the object as a whole has no dot before it.
        .filter(|prefix| prefix.ends_with('.'))
        .map(Into::into)
        .collect();
    for prefix in prefixes {
        let names = element_names(flat, &prefix);
        // Numeric names are the indexes of a list or the hashes of a set, which keep their count.
        if !names.is_empty() && names.iter().all(|name| is_index(name)) {
            continue;
        }
        let count = flat.remove(&format!("{prefix}#"));
        if let Some(count) = count.filter(|_| !names.is_empty()) {
            flat.insert(format!("{prefix}%"), count);
        }
    }
}

/// The names or indexes directly below `prefix`.
fn element_names(flat: &BTreeMap<String, String>, prefix: &str) -> BTreeSet<String> {
    let below = flat.range(prefix.to_owned()..).map_while(|(key, _)| key.strip_prefix(prefix));
    below.filter(|rest| *rest != "#").map(|rest| rest.split('.').next().unwrap_or_default().to_owned()).collect()
}

/// The index of a list, or the hash of a set's element.
fn is_index(name: &str) -> bool {
    name.parse::<i64>().is_ok()
}

/// Reads an output of formats 2 and 3. Its type distinguishes string, list and map at most.
#[derive(Deserialize)]
struct Described<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
    sensitive: Option<bool>,
}

/// The output called `name`, in JSON: described, or, in format 1, nothing but its text.
pub(super) fn upgrade(name: &str, output: &str) -> Outcome<OutputValue> {
    let (value, sensitive) = match serde_json::from_str::<Described<'_>>(output) {
        Ok(described) => (described.value.get(), described.sensitive.unwrap_or_default()),
        // Format 1 stored outputs as bare strings.
        Err(_) if output.starts_with('"') => (output, false),
        Err(_) => return Err(UpgradeError::NoValue(name.to_owned())),
    };
    let implied = json::implied_type(value.as_bytes()).map_err(|_| UpgradeError::InvalidOutput(name.to_owned()))?;
    let ty = collected(&implied);
    let value = json::from_json(value.as_bytes(), &ty).map_err(|_| UpgradeError::InvalidOutput(name.to_owned()))?;
    Ok(OutputValue { value, ty, sensitive, deprecated: None })
}

/// Lists and maps, where the elements are all alike: these formats had nothing else.
fn collected(ty: &Type) -> Type {
    match ty {
        Type::Tuple(elements) => match elements.split_first() {
            Some((first, rest)) if rest.iter().all(|other| other == first) => Type::list(collected(first)),
            // Mixed elements cannot come from these formats, so their type stays as it is.
            _ => ty.clone(),
        },
        Type::Object(object) => {
            let mut types = object.iter().map(|(_, ty)| ty);
            match types.next() {
                Some(first) if types.all(|other| other == first) => Type::map(collected(first)),
                _ => ty.clone(),
            }
        }
        _ => ty.clone(),
    }
}

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
            // An entry with an invalid name could never be declared or addressed again.
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
    // More parts than an alias mean that the text is something else.
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
        // Terraform 0.13 resolves the hyphen when it knows the configuration.
        _ => ProviderAddress::parse(&format!("-/{local}"), DEFAULT_PROVIDER_HOST).ok()?,
    };
    Some(ProviderConfig { module, provider, alias: alias.map(Name::from), key: InstanceKey::None })
}
