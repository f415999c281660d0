//! The parts of a file of the format of today, as they come: from resources and instances to a [`State`].

use std::borrow::Cow;
use std::sync::Arc;

use groma_address::{
    AbsResource, InstanceKey, Mode, ModuleInstance, Name, ProviderConfig, Resource, ResourceInstance, is_identifier,
    parse_module_instance, parse_provider_config,
};
use serde_json::value::RawValue;

use super::object::Known;
use super::object::Objects;
use super::values::{check_results, outputs};
use crate::error::StateError;
use crate::file::layout::{CheckLayout, FileParts, InstanceLayout, OutputsLayout, Refused, ResourceLayout};
use crate::file::legacy::parse_legacy_provider;
use crate::file::refusal::{INVALID, INVALID_INSTANCE};
use crate::file::refusal::{KeyProblem, ObjectProblem};
use crate::model::State;
use crate::object::DeposedKey;

/// Takes a file in, and shares what many of its records have in common.
#[derive(Default)]
pub(super) struct Reader<'a> {
    pub(super) state: State,
    pub(super) version: Option<u64>,
    pub(super) refusal: Option<StateError>,
    modules: Known<Cow<'a, str>, ModuleInstance>,
    names: Known<Cow<'a, str>, Name>,
    providers: Known<Cow<'a, str>, ProviderConfig>,
    objects: Objects<'a>,
}

impl<'a> FileParts<'a> for Reader<'a> {
    fn version(&mut self, version: Option<u64>) {
        self.version = version;
    }

    fn terraform_version(&mut self, version: Option<String>) {
        self.state.terraform_version = version.unwrap_or_default();
    }

    fn serial(&mut self, serial: Option<u64>) {
        self.state.serial = serial.unwrap_or_default();
    }

    fn lineage(&mut self, lineage: Option<String>) {
        self.state.lineage = lineage.unwrap_or_default();
    }

    fn outputs(&mut self, layout: Option<OutputsLayout<'a>>) -> Result<(), Refused> {
        self.state.outputs = outputs(layout.unwrap_or_default()).map_err(|error| self.refuse(error))?;
        Ok(())
    }

    fn resource(&mut self, resource: ResourceLayout<'a>) -> Result<(), Refused> {
        self.resource_entry(resource).map_err(|error| self.refuse(error))
    }

    fn check_results(&mut self, results: Option<Vec<CheckLayout<'a>>>) {
        self.state.check_results = results.map(check_results);
    }
}

impl<'a> Reader<'a> {
    fn refuse(&mut self, error: StateError) -> Refused {
        self.refusal = Some(error);
        Refused
    }

    fn resource_entry(&mut self, layout: ResourceLayout<'a>) -> Result<(), StateError> {
        let address = self.resource_address(&layout)?;
        let instances = layout.instances.unwrap_or_default();
        let of_instance = instances.iter().find_map(|instance| instance.provider.clone());
        let Some(provider) = layout.provider.or(of_instance) else {
            let detail = format!("The resource {address} in the state file names no provider.");
            return Err(StateError::damaged("Invalid provider configuration address", detail));
        };
        let provider = self.provider(provider, &address)?;
        if instances.is_empty() {
            self.state.ensure_resource(address, &provider);
            return Ok(());
        }
        for mut instance in instances {
            match instance.provider.take().filter(|text| !text.is_empty()) {
                None => self.instance(instance, &address, &provider)?,
                Some(text) => {
                    let own = self.provider(text, &address)?;
                    self.instance(instance, &address, &own)?;
                }
            }
        }
        Ok(())
    }

    fn resource_address(&mut self, layout: &ResourceLayout<'a>) -> Result<AbsResource, StateError> {
        let type_name = layout.type_name.as_deref().unwrap_or_default();
        let name = layout.name.as_deref().unwrap_or_default();
        let mode = match layout.mode.as_deref().unwrap_or_default() {
            "managed" => Mode::Managed,
            "data" => Mode::Data,
            other => {
                let detail = format!(
                    "The state file has a resource with mode {other:?} ({type_name:?} {name:?}); only \"managed\" and \
                     \"data\" are known."
                );
                return Err(StateError::damaged("Invalid resource mode in state", detail));
            }
        };
        if !is_identifier(type_name) || !is_identifier(name) {
            let detail = format!(
                "The state file has a resource with type {type_name:?} and name {name:?}, which are not valid names."
            );
            return Err(StateError::damaged(INVALID, detail));
        }
        Ok(AbsResource {
            module: self.module(layout.module.clone().unwrap_or_default())?,
            resource: Resource { mode, type_name: self.name(type_name), name: name.into() },
        })
    }

    fn module(&mut self, text: Cow<'a, str>) -> Result<ModuleInstance, StateError> {
        if let Some(known) = self.modules.get(&text) {
            return Ok(known.clone());
        }
        let module = parse_module_instance(&text).map_err(|error| {
            let detail = format!("The state file has the module address {text:?}. {error}");
            StateError::damaged("Invalid module instance address", detail)
        })?;
        self.modules.insert(text, module.clone());
        Ok(module)
    }

    fn name(&mut self, text: &str) -> Name {
        if let Some(known) = self.names.get(text) {
            return known.clone();
        }
        let name = Name::from(text);
        self.names.insert(Cow::Owned(text.to_owned()), name.clone());
        name
    }

    fn provider(&mut self, text: Cow<'a, str>, resource: &AbsResource) -> Result<ProviderConfig, StateError> {
        if let Some(known) = self.providers.get(&text) {
            return Ok(known.clone());
        }
        // Terraform 0.12 wrote this format, but knew providers by their last name only.
        let provider = parse_provider_config(&text).or_else(|error| {
            parse_legacy_provider(&text).ok_or_else(|| {
                let detail = format!("The resource {resource} in the state file has the provider {text:?}. {error}");
                StateError::damaged("Invalid provider configuration address", detail)
            })
        })?;
        self.providers.insert(text, provider.clone());
        Ok(provider)
    }

    fn instance(
        &mut self,
        layout: InstanceLayout<'a>,
        resource: &AbsResource,
        provider: &ProviderConfig,
    ) -> Result<(), StateError> {
        let key = instance_key(layout.index_key).map_err(|reason| {
            StateError::damaged(INVALID_INSTANCE, format!("The resource {resource} has an instance {reason}."))
        })?;
        let address = resource.instance(key);
        let invalid = |reason: ObjectProblem| invalid_instance(&address, &reason);
        let deposed = match layout.deposed.as_deref().filter(|key| !key.is_empty()) {
            None => None,
            Some(text) => Some(DeposedKey::new(text).ok_or_else(|| invalid(ObjectProblem::DeposedKey))?),
        };
        let object = Arc::new(self.objects.object(layout).map_err(invalid)?);
        if self.state.insert(&address, deposed.as_ref(), provider, object).is_some() {
            let detail = match deposed {
                None => format!("The instance {address} appears more than once in the state file."),
                Some(key) => {
                    format!("The deposed object {key} of {address} appears more than once in the state file.")
                }
            };
            return Err(StateError::damaged("Duplicate resource instance in state", detail));
        }
        Ok(())
    }
}

fn invalid_instance(address: &ResourceInstance, reason: &ObjectProblem) -> StateError {
    StateError::damaged(INVALID_INSTANCE, format!("The instance {address} in the state file: {reason}."))
}

fn instance_key(raw: Option<&RawValue>) -> Result<InstanceKey, KeyProblem> {
    let Some(text) = raw.map(RawValue::get) else { return Ok(InstanceKey::None) };
    if text.starts_with('"') {
        let key: String = serde_json::from_str(text).map_err(|_| KeyProblem::String)?;
        return Ok(InstanceKey::String(key.into()));
    }
    let whole = text.parse::<u64>().ok().or_else(|| {
        let number = text.parse::<f64>().ok()?;
        (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
    });
    whole.map(InstanceKey::Int).ok_or(KeyProblem::Type)
}
