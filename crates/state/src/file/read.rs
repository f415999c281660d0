//! From the file's bytes to a [`State`].

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_address::{
    AbsResource, InstanceKey, Mode, ModuleInstance, Name, ProviderConfig, Resource, ResourceInstance, is_identifier,
    parse_abs_resource, parse_module_instance, parse_provider_config,
};
use groma_value::{Path, Type};
use serde_json::value::RawValue;

use super::layout::{
    CheckLayout, FileParts, InstanceLayout, OutputLayout, OutputsLayout, Refused, ResourceLayout, read_file,
};
use super::legacy::{self, LEGACY_VERSIONS, parse_legacy_provider};
use super::refusal::{INVALID, INVALID_INSTANCE, RESTORE, UNSUPPORTED, not_json, other_version, wrong_types};
use super::{FORMAT_VERSION, paths};
use crate::dependencies::{AddressTable, Dependencies};
use crate::error::StateError;
use crate::json;
use crate::model::{CheckResult, CheckStatus, CheckedObject, OutputValue, State};
use crate::object::{AttributesJson, DeposedKey, ForeignKeys, Identity, ObjectRecord, ObjectStatus};

/// Whether the bytes hold nothing: such a file is the state of a configuration that was never applied.
pub fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// Reads a state file's content.
///
/// # Errors
/// When it is blank (see [`is_blank`]), no JSON, no state, of a format version that is not known, or contradicts itself.
pub fn read(bytes: &[u8]) -> Result<State, StateError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let detail = format!("The state file is not valid UTF-8 from byte {} on. {RESTORE}", error.valid_up_to());
        StateError::malformed(UNSUPPORTED, detail)
    })?;
    let mut reader = Reader::default();
    match read_file(text, &mut reader) {
        Ok(()) if reader.version == Some(FORMAT_VERSION) => Ok(reader.state),
        other => read_otherwise(text, other.err(), reader.refusal),
    }
}

/// What `text` is where it is no state of the format of today: one of an older format, or why it is none.
fn read_otherwise(
    text: &str,
    error: Option<serde_json::Error>,
    refusal: Option<StateError>,
) -> Result<State, StateError> {
    #[derive(serde::Deserialize)]
    struct Sniff<'a> {
        #[serde(borrow)]
        version: Option<&'a RawValue>,
        #[serde(borrow)]
        terraform_version: Option<&'a RawValue>,
        #[serde(borrow)]
        encrypted_data: Option<&'a RawValue>,
    }
    if is_blank(text.as_bytes()) {
        return Err(StateError::malformed(UNSUPPORTED, format!("The state file is empty. {RESTORE}")));
    }
    let sniff = match serde_json::from_str::<Sniff<'_>>(text) {
        Ok(sniff) => sniff,
        Err(error) => return Err(not_json(text, &error)),
    };
    let Some(version) = sniff.version.map(RawValue::get) else {
        let detail = if sniff.encrypted_data.is_some() {
            "The state file is encrypted, and no encryption block in the terraform block, nor the environment variable \
             TF_ENCRYPTION, says how. Add the one with which it was written."
                .to_owned()
        } else {
            format!("The file has no \"version\" at its top level, so it is not a state file. {RESTORE}")
        };
        return Err(StateError::malformed(UNSUPPORTED, detail));
    };
    let Ok(number) = version.parse::<u64>() else {
        let detail = format!("The version in the state file is not a whole number. {RESTORE}");
        return Err(StateError::malformed(UNSUPPORTED, detail));
    };
    match (number, error) {
        (FORMAT_VERSION, Some(error)) => Err(refusal.unwrap_or_else(|| wrong_types(&error))),
        (FORMAT_VERSION, None) => Err(StateError::malformed(INVALID, RESTORE)),
        _ if LEGACY_VERSIONS.contains(&number) => legacy::read(text, number),
        _ => Err(other_version(number, sniff.terraform_version)),
    }
}

/// Reads outputs as the file holds them, from compact or indented JSON.
pub(crate) fn decode_outputs(text: &str) -> Result<BTreeMap<Name, OutputValue>, StateError> {
    let layout: OutputsLayout<'_> = serde_json::from_str(text).map_err(|error| wrong_types(&error))?;
    outputs(layout)
}

/// Reads check results as the file holds them, from compact or indented JSON.
pub(crate) fn decode_check_results(text: &str) -> Result<Option<Vec<CheckResult>>, StateError> {
    let layout: Option<Vec<CheckLayout<'_>>> = serde_json::from_str(text).map_err(|error| wrong_types(&error))?;
    Ok(layout.map(check_results))
}

/// Reads sensitive paths as the file holds them.
pub(crate) fn parse_paths(text: &str) -> Result<Vec<Path>, String> {
    paths::parse(text)
}

fn outputs(layout: OutputsLayout<'_>) -> Result<BTreeMap<Name, OutputValue>, StateError> {
    layout.into_iter().map(|(name, output)| Ok((Name::from(&*name), output_value(&name, &output)?))).collect()
}

fn output_value(name: &str, output: &OutputLayout<'_>) -> Result<OutputValue, StateError> {
    let ty = output.ty.map_or("\"dynamic\"", RawValue::get);
    let ty = Type::from_json(ty.as_bytes()).map_err(|_| {
        let detail = format!("The type of the output {name:?} in the state file is not a valid type. {RESTORE}");
        StateError::malformed("Invalid output value type in state", detail)
    })?;
    let value = output.value.map_or("null", RawValue::get);
    let value = groma_value::json::from_json(value.as_bytes(), &ty).map_err(|_| {
        let detail = format!("The value of the output {name:?} in the state file does not fit its type. {RESTORE}");
        StateError::malformed("Invalid output value saved in state", detail)
    })?;
    Ok(OutputValue {
        ty: if ty == Type::Dynamic { value.ty() } else { ty },
        value,
        sensitive: output.sensitive.unwrap_or_default(),
        deprecated: output.deprecated.as_deref().map(Name::from),
    })
}

fn check_results(layout: Vec<CheckLayout<'_>>) -> Vec<CheckResult> {
    let objects = |layout: CheckLayout<'_>| CheckResult {
        object_kind: layout.object_kind.into_owned(),
        config_addr: layout.config_addr.into_owned(),
        status: check_status(&layout.status),
        objects: layout.objects.filter(|objects| !objects.is_empty()).map(|objects| {
            let object = |object: super::layout::CheckedObjectLayout<'_>| CheckedObject {
                object_addr: object.object_addr.into_owned(),
                status: check_status(&object.status),
                failure_messages: object
                    .failure_messages
                    .unwrap_or_default()
                    .into_iter()
                    .map(Cow::into_owned)
                    .collect(),
            };
            objects.into_iter().map(object).collect()
        }),
    };
    layout.into_iter().map(objects).collect()
}

fn check_status(text: &str) -> CheckStatus {
    match text {
        "pass" => CheckStatus::Pass,
        "fail" => CheckStatus::Fail,
        "error" => CheckStatus::Error,
        _ => CheckStatus::Unknown,
    }
}

/// Asked several times for each instance, and once for each of its dependencies; hence the hash.
type Known<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Takes a file in, and shares what many of its records have in common.
#[derive(Default)]
struct Reader<'a> {
    state: State,
    version: Option<u64>,
    refusal: Option<StateError>,
    modules: Known<Cow<'a, str>, ModuleInstance>,
    names: Known<Cow<'a, str>, Name>,
    providers: Known<Cow<'a, str>, ProviderConfig>,
    addresses: AddressTable,
    dependency: Known<Box<str>, u32>,
    /// By the list's text in the file: the same list at the same depth is written the same.
    dependencies: Known<&'a str, Dependencies>,
    empty_attributes: Option<AttributesJson>,
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
            let detail = format!("The resource {address} in the state file names no provider. {RESTORE}");
            return Err(StateError::malformed("Invalid provider configuration address", detail));
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
                     \"data\" are known. {RESTORE}"
                );
                return Err(StateError::malformed("Invalid resource mode in state", detail));
            }
        };
        if !is_identifier(type_name) || !is_identifier(name) {
            let detail = format!(
                "The state file has a resource with type {type_name:?} and name {name:?}, which are no names. {RESTORE}"
            );
            return Err(StateError::malformed(INVALID, detail));
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
            let detail = format!("The state file has the module address {text:?}. {error} {RESTORE}");
            StateError::malformed("Invalid module instance address", detail)
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
                let detail =
                    format!("The resource {resource} in the state file has the provider {text:?}. {error} {RESTORE}");
                StateError::malformed("Invalid provider configuration address", detail)
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
            StateError::malformed(
                INVALID_INSTANCE,
                format!("The resource {resource} has an instance {reason}. {RESTORE}"),
            )
        })?;
        let address = resource.instance(key);
        let invalid = |reason: &str| invalid_instance(&address, reason);
        let deposed = match layout.deposed.as_deref().filter(|key| !key.is_empty()) {
            None => None,
            Some(text) => Some(
                DeposedKey::new(text).ok_or_else(|| invalid("it has a deposed key that has not eight characters"))?,
            ),
        };
        let object = Arc::new(self.object(layout).map_err(|reason| invalid(&reason))?);
        if self.state.insert(&address, deposed.as_ref(), provider, object).is_some() {
            let detail = match deposed {
                None => format!("The instance {address} appears more than once in the state file. {RESTORE}"),
                Some(key) => {
                    format!("The deposed object {key} of {address} appears more than once in the state file. {RESTORE}")
                }
            };
            return Err(StateError::malformed("Duplicate resource instance in state", detail));
        }
        Ok(())
    }

    fn object(&mut self, layout: InstanceLayout<'a>) -> Result<ObjectRecord, String> {
        let foreign = foreign_keys(&layout);
        Ok(ObjectRecord {
            status: match layout.status.as_deref().unwrap_or_default() {
                "" => ObjectStatus::Ready,
                "tainted" => ObjectStatus::Tainted,
                other => return Err(format!("it has the status {other:?}; only \"tainted\" is known")),
            },
            schema_version: layout.schema_version.unwrap_or_default(),
            attributes: match layout.attributes {
                Some(raw) => AttributesJson::new(raw.get()),
                None => self.empty_attributes.get_or_insert_with(AttributesJson::empty).clone(),
            },
            sensitive_attributes: match layout.sensitive_attributes {
                Some(raw) => paths::parse(raw.get())?,
                None => Vec::new(),
            },
            private: match layout.private.as_deref().unwrap_or_default() {
                "" => Arc::default(),
                text => STANDARD.decode(text).map_err(|_| "its private data is not valid base64".to_owned())?.into(),
            },
            identity: identity(&layout),
            dependencies: match layout.dependencies {
                Some(raw) => self.dependencies(raw.get())?,
                None => Dependencies::default(),
            },
            create_before_destroy: layout.create_before_destroy.unwrap_or_default(),
            foreign,
        })
    }

    fn dependencies(&mut self, text: &'a str) -> Result<Dependencies, String> {
        if text == "[]" {
            return Ok(Dependencies::default());
        }
        if let Some(known) = self.dependencies.get(text) {
            return Ok(known.clone());
        }
        let list = match self.plain_list(text) {
            Some(list) => list?,
            None => {
                let addresses: Vec<Cow<'a, str>> = serde_json::from_str(text)
                    .map_err(|_| "its dependencies are not a list of addresses".to_owned())?;
                addresses.iter().map(|address| self.dependency(address)).collect::<Result<_, _>>()?
            }
        };
        let list = self.addresses.list(list.into());
        self.dependencies.insert(text, list.clone());
        Ok(list)
    }

    /// The numbers of a JSON array of nothing but strings without escapes; none for anything else.
    ///
    /// `text` is valid JSON: what is between the strings need only be told from other values and arrays within. There are
    /// millions of strings in large states, so each byte is looked at once.
    fn plain_list(&mut self, text: &str) -> Option<Result<Vec<u32>, String>> {
        let mut rest = text.strip_prefix('[')?.strip_suffix(']')?;
        let mut numbers = Vec::with_capacity(rest.len() / 32);
        // What is between two strings is mostly the same.
        let mut between = "";
        loop {
            let after = match rest.strip_prefix(between) {
                Some(after) if after.starts_with('"') => after,
                _ => rest.trim_start_matches([',', ' ', '\n', '\r', '\t']),
            };
            between = &rest[..rest.len() - after.len()];
            if after.is_empty() {
                return Some(Ok(numbers));
            }
            let string = after.strip_prefix('"')?;
            let end = memchr::memchr2(b'"', b'\\', string.as_bytes())?;
            let (address, after) = string.split_at(end);
            rest = after.strip_prefix('"')?;
            match self.dependency(address) {
                Ok(number) => numbers.push(number),
                Err(problem) => return Some(Err(problem)),
            }
        }
    }

    fn dependency(&mut self, text: &str) -> Result<u32, String> {
        if let Some(known) = self.dependency.get(text) {
            return Ok(*known);
        }
        // Early versions of the format wrote module instances here.
        let resource = parse_abs_resource(text)
            .map_err(|error| format!("its dependencies hold {text:?}, which is no resource address: {error}"))?;
        let number = self.addresses.add(resource.config_resource());
        self.dependency.insert(text.into(), number);
        Ok(number)
    }
}

fn invalid_instance(address: &ResourceInstance, reason: &str) -> StateError {
    StateError::malformed(INVALID_INSTANCE, format!("The instance {address} in the state file: {reason}. {RESTORE}"))
}

fn instance_key(raw: Option<&RawValue>) -> Result<InstanceKey, String> {
    let Some(text) = raw.map(RawValue::get) else { return Ok(InstanceKey::None) };
    if text.starts_with('"') {
        let key: String = serde_json::from_str(text).map_err(|_| "with a key that is no valid text".to_owned())?;
        return Ok(InstanceKey::String(key.into()));
    }
    let whole = text.parse::<u64>().ok().or_else(|| {
        let number = text.parse::<f64>().ok()?;
        (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
    });
    whole.map(InstanceKey::Int).ok_or_else(|| "with a key that is neither a whole number nor a string".to_owned())
}

fn identity(layout: &InstanceLayout<'_>) -> Option<Arc<Identity>> {
    let schema_version = layout.identity_schema_version.unwrap_or_default();
    let json = layout.identity.map(|raw| AttributesJson::new(raw.get()));
    (schema_version != 0 || json.is_some()).then(|| Arc::new(Identity { schema_version, json }))
}

fn foreign_keys(layout: &InstanceLayout<'_>) -> Option<Box<ForeignKeys>> {
    let keys = ForeignKeys {
        attributes_flat: match &layout.attributes_flat {
            Some(flat) if layout.attributes.is_none() => serde_json::to_string(flat).ok().map(Into::into),
            _ => None,
        },
        provider: None,
        depends_on: layout.depends_on.filter(|raw| raw.get() != "[]").map(|raw| json::compact(raw.get()).into()),
        skip_destroy: layout.skip_destroy.unwrap_or_default(),
    };
    (keys != ForeignKeys::default()).then(|| Box::new(keys))
}
