//! State files of the formats 1 to 3, which Terraform wrote before 0.12: read as what version 4 says, as Terraform 1.15
//! reads them.
//!
//! What these formats held of an object stays a flat map of texts, because only its provider can make values of it. What
//! depended on the omitted parts: the next plan detects it again.

mod layout;

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_address::{InstanceKey, ModuleInstance, ProviderConfig, ResourceInstance, is_identifier};
use thiserror::Error;

use self::layout::{FileLayout, InstanceLayout, ModuleLayout, ResourceLayout};
use crate::error::{StateError, StateErrorKind};
use crate::model::State;
use crate::object::{AttributesJson, DeposedKey, ForeignKeys, ObjectRecord, ObjectStatus};
use layout::Key;
pub(super) use layout::parse_legacy_provider;

/// The formats that are read here.
pub(super) const LEGACY_VERSIONS: std::ops::RangeInclusive<u64> = 1..=3;

/// The key under which the SDK stored the schema version of an object.
const SCHEMA_VERSION: &str = "schema_version";

/// Reads a file of format `version`, one of [`LEGACY_VERSIONS`].
pub(super) fn read(text: &str, version: u64) -> Result<State, StateError> {
    let layout: FileLayout<'_> = serde_json::from_str(text).map_err(|error| super::refusal::wrong_types(&error))?;
    Upgrade { version, state: State::default() }.file(layout).map_err(|problem| {
        let detail = format!(
            "The state file has format version {version}, which Terraform wrote before 0.12, and cannot be brought to \
             version {}: {problem}. Nothing was changed.",
            super::FORMAT_VERSION
        );
        StateError::new(StateErrorKind::Malformed, "State format upgrade failed", detail)
    })
}

struct Upgrade {
    version: u64,
    state: State,
}

/// The reason why a file cannot be upgraded, as a clause.
#[derive(Clone, Debug, PartialEq, Error)]
enum UpgradeError {
    #[error("its serial is {0}, less than zero")]
    NegativeSerial(i64),
    #[error("it has a module whose path does not begin with \"root\"")]
    NoRoot,
    #[error("it has a module {0:?}, which is not a valid name anymore; rename it with Terraform 0.11 first")]
    ModuleName(String),
    #[error("it has {0} more than once")]
    Duplicate(ResourceInstance),
    #[error(
        "its resource {resource:?} has the provider {provider:?}, which is not a valid provider configuration{}",
        advice_for(provider)
    )]
    NoProvider { resource: String, provider: String },
    #[error("its resource {0:?} is named in no way that is known")]
    UnknownKey(String),
    #[error("its output {0:?} has no value")]
    NoValue(String),
    #[error("its output {0:?} is invalid")]
    InvalidOutput(String),
}

type Outcome<T> = Result<T, UpgradeError>;

impl Upgrade {
    fn file(mut self, layout: FileLayout<'_>) -> Outcome<State> {
        let serial = layout.serial.unwrap_or_default();
        self.state.serial = u64::try_from(serial).map_err(|_| UpgradeError::NegativeSerial(serial))?;
        self.state.lineage = layout.lineage.unwrap_or_default().into_owned();
        self.state.terraform_version = layout.terraform_version.unwrap_or_default().into_owned();
        for module in layout.modules.unwrap_or_default() {
            self.module(module)?;
        }
        Ok(self.state)
    }

    fn module(&mut self, layout: ModuleLayout<'_>) -> Outcome<()> {
        let module = self.module_address(layout.path.as_deref().unwrap_or_default())?;
        // Each entry is an instance; instances of one resource are separate entries.
        for (key, resource) in layout.resources.unwrap_or_default() {
            self.resource(&module, &key, resource)?;
        }
        // Only the outputs of the root module are part of a state today.
        if module.is_root() {
            for (name, output) in layout.outputs.unwrap_or_default() {
                let value = layout::upgrade(&name, output.get())?;
                self.state.outputs.insert((&*name).into(), value);
            }
        }
        Ok(())
    }

    fn module_address<T: AsRef<str>>(&self, path: &[T]) -> Outcome<ModuleInstance> {
        let steps = match path.split_first() {
            Some((root, steps)) if root.as_ref() == "root" => steps,
            // The oldest format left the path of the root module out at times.
            None if self.version == 1 => &[],
            _ => return Err(UpgradeError::NoRoot),
        };
        steps.iter().map(AsRef::as_ref).try_fold(ModuleInstance::root(), |module, name| match is_identifier(name) {
            true => Ok(module.child(name.into(), InstanceKey::None)),
            false => Err(UpgradeError::ModuleName(name.to_owned())),
        })
    }

    fn resource(&mut self, module: &ModuleInstance, key: &str, layout: ResourceLayout<'_>) -> Outcome<()> {
        let Key { resource, instance } = Key::parse(key)?;
        let named = layout.provider.as_deref().unwrap_or_default();
        let provider = layout::provider_of(named, module, &resource.type_name)
            .ok_or_else(|| UpgradeError::NoProvider { resource: key.to_owned(), provider: named.to_owned() })?;
        let address = ResourceInstance { module: module.clone(), resource, key: instance };
        let resource = address.abs_resource();
        // Today a resource has one provider configuration, and not one for each instance.
        let provider = self.state.resource(&resource).map_or(provider, |entry| (*entry.provider).clone());
        self.state.ensure_resource(resource, &provider);
        if let Some(primary) = &layout.primary {
            self.object(&address, None, &provider, primary)?;
        }
        // The oldest format kept apart what had to be destroyed, which is what a deposed object is for.
        let tainted = layout.tainted.filter(|_| self.version == 1).unwrap_or_default();
        let marked = tainted.into_iter().map(|layout| InstanceLayout { tainted: Some(true), ..layout });
        for (position, layout) in layout.deposed.unwrap_or_default().into_iter().chain(marked).enumerate() {
            // The old formats had no keys for deposed objects, and the position is unique within the instance.
            let key = DeposedKey::new(&format!("{:08x}", position + 1));
            self.object(&address, key.as_ref(), &provider, &layout)?;
        }
        Ok(())
    }

    fn object(
        &mut self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
        provider: &ProviderConfig,
        layout: &InstanceLayout<'_>,
    ) -> Outcome<()> {
        let object = Arc::new(self.record(layout));
        match self.state.insert(address, deposed, provider, object) {
            None => Ok(()),
            Some(_) => Err(UpgradeError::Duplicate(address.clone())),
        }
    }

    fn record(&self, layout: &InstanceLayout<'_>) -> ObjectRecord {
        let (schema_version, private) = converted_by_serde(layout);
        ObjectRecord {
            status: match layout.tainted {
                Some(true) => ObjectStatus::Tainted,
                _ => ObjectStatus::Ready,
            },
            private: private.into(),
            foreign: self.attributes(layout).map(|flat| {
                let text = serde_json::to_string(&flat).unwrap_or_default();
                Box::new(ForeignKeys { attributes_flat: Some(text.into()), ..ForeignKeys::default() })
            }),
            ..ObjectRecord::new(schema_version, AttributesJson::empty())
        }
    }

    /// The flat map of texts; none where nothing at all is known of the object.
    fn attributes(&self, layout: &InstanceLayout<'_>) -> Option<BTreeMap<String, String>> {
        let mut flat = layout.attributes.clone();
        // Format 3 already names the counts of maps as the SDK does today.
        if self.version < 3
            && let Some(flat) = &mut flat
        {
            layout::name_maps(flat);
        }
        let id = layout.id.as_deref().unwrap_or_default();
        if !id.is_empty() {
            let kept = flat.get_or_insert_default().entry("id".to_owned()).or_default();
            // The ID of the instance was authoritative; some providers did not repeat it in the attributes.
            if kept.is_empty() {
                id.clone_into(kept);
            }
        }
        flat
    }
}

fn advice_for(provider: &str) -> &'static str {
    match provider.contains("${") {
        true => "; an alias never could be worked out, so give it a plain name with Terraform 0.11 first",
        false => "",
    }
}

/// The schema version, which libraries of providers kept among their own notes, and the rest of the notes as JSON.
fn converted_by_serde(layout: &InstanceLayout<'_>) -> (u64, Vec<u8>) {
    let mut notes = layout.meta.clone().unwrap_or_default();
    let version = notes.get(SCHEMA_VERSION).and_then(|kept| match kept {
        serde_json::Value::String(text) => text.parse().ok(),
        // A library of another language may have written a fraction; what it meant is the whole number.
        kept => kept.as_u64().or_else(|| kept.as_f64().filter(|kept| *kept >= 0.0).map(|kept| kept as u64)),
    });
    // The version has a field of its own today, and would otherwise be stored twice.
    if version.is_some() {
        notes.remove(SCHEMA_VERSION);
    }
    let private = match notes.is_empty() {
        true => Vec::new(),
        false => serde_json::to_vec(&notes).unwrap_or_default(),
    };
    (version.unwrap_or_default(), private)
}

#[cfg(test)]
mod tests;
