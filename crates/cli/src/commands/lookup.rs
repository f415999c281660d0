//! Decodes the objects of a state with the schemas of their providers.

use std::collections::HashMap;
use std::sync::Arc;

use groma_address::{Mode, ProviderAddress};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_engine::{ProviderSource, raw_state};
use groma_provider::{Provider, Schema, UpgradeRequest};
use groma_state::{DeposedKey, InstanceView, ObjectRecord, ObjectStatus, State};
use groma_value::{Marks, PathMarks, Value};

use super::context::Context;
use super::outcome::fail;
use super::packages::Packages;
use super::session::{Detail, Included};
use crate::views::state::StoredObject;

/// Providers started for their schemas, by address.
pub(super) struct Lookup {
    source: Included,
    providers: HashMap<ProviderAddress, Arc<dyn Provider>>,
}

impl Lookup {
    /// Creates a lookup without started providers.
    ///
    /// # Errors
    /// The CLI configuration is invalid.
    pub fn new(context: &Context) -> Result<Self, Diagnostics> {
        // A state may contain objects of providers that the configuration no longer requires.
        Ok(Self { source: Included::unless(Packages::without_configuration(context)?), providers: HashMap::new() })
    }

    /// Creates a lookup for schemas with descriptions.
    ///
    /// # Errors
    /// The CLI configuration is invalid.
    pub fn with_descriptions(context: &Context) -> Result<Self, Diagnostics> {
        let Self { source, providers } = Self::new(context)?;
        Ok(Self { source: source.with_detail(Detail::Descriptions), providers })
    }

    /// Returns the provider at `address`, which is started on first use.
    pub fn provider(&mut self, address: &ProviderAddress) -> Result<&Arc<dyn Provider>, Diagnostics> {
        if !self.providers.contains_key(address) {
            self.providers.insert(address.clone(), self.source.start(address)?);
        }
        self.providers
            .get(address)
            .ok_or_else(|| fail("Provider not available", format!("{address} cannot be started.")))
    }

    /// Decodes all objects of `state`, in its order.
    pub fn objects(&mut self, state: &State) -> Result<Vec<StoredObject>, Diagnostics> {
        let mut objects = Vec::with_capacity(state.len());
        for view in state.iter() {
            objects.extend(self.objects_of(&view)?);
        }
        Ok(objects)
    }

    /// Decodes the objects of one instance: the current one first, then deposed ones.
    pub fn objects_of(&mut self, view: &InstanceView<'_>) -> Result<Vec<StoredObject>, Diagnostics> {
        let current = view.record.current.iter().map(|record| (None, record));
        let deposed = view.record.deposed.iter().map(|(key, record)| (Some(key), record));
        current.chain(deposed).map(|(key, record)| self.object(view, key, record)).collect()
    }

    fn object(
        &mut self,
        view: &InstanceView<'_>,
        deposed: Option<&DeposedKey>,
        record: &ObjectRecord,
    ) -> Result<StoredObject, Diagnostics> {
        let provider = self.provider(&view.provider.provider)?;
        let resource = &view.resource.resource;
        let schema = match resource.mode {
            Mode::Managed => provider.resource_schema(&resource.type_name),
            Mode::Data => provider.data_schema(&resource.type_name),
            Mode::Ephemeral => provider.ephemeral_schema(&resource.type_name),
            Mode::List => provider.list_schema(&resource.type_name),
        };
        let address = view.address();
        let absent = || {
            fail(
                "No schema for a resource in the state",
                format!(
                    "The provider {} does not have the type {:?} of {address}.",
                    view.provider.provider, &*resource.type_name
                ),
            )
        };
        let schema = schema.map_err(|_| absent())?.ok_or_else(absent)?;
        let value = decode(provider, &schema, resource.mode, &resource.type_name, record)
            .map_err(|problem| Diagnostics::from(problem.about(&address)))?;
        Ok(StoredObject {
            address,
            deposed: deposed.cloned(),
            tainted: record.status == ObjectStatus::Tainted,
            provider: view.provider.clone(),
            value,
            schema,
            depends_on: record.dependencies.iter().map(|dependency| dependency.to_string()).collect(),
            identity: record.identity.clone(),
        })
    }
}

fn decode(
    provider: &Arc<dyn Provider>,
    schema: &Schema,
    mode: Mode,
    type_name: &groma_address::Name,
    record: &ObjectRecord,
) -> Result<Value, Diagnostic> {
    let unreadable = |text: String| Diagnostic::error("Unreadable object in the state", text);
    // The provider could lose attributes that it does not know yet.
    if record.schema_version > schema.version {
        let text = format!(
            "The object was written by a newer version of its provider: it has schema version {}, but the version in use only \
             supports {}. Upgrade the provider.",
            record.schema_version, schema.version
        );
        return Err(unreadable(text));
    }
    let stored = record.decode(schema.block.implied_type());
    // A provider may change a schema without a new version; what does not decode is upgraded as well.
    let fits = stored.is_ok() && record.schema_version == schema.version;
    // An object in the current schema needs no upgrade call to the provider.
    let value = if mode == Mode::Managed && !fits {
        let request = UpgradeRequest {
            type_name: type_name.clone(),
            version: record.schema_version,
            raw_state: raw_state(record),
        };
        // No async runtime is active here, so the wait blocks nothing else.
        let response = provider.upgrade_resource(request).wait();
        if response.diagnostics.has_errors() {
            return Err(unreadable(
                "The provider cannot upgrade the object, which another version of the provider wrote.".to_owned(),
            ));
        }
        response.upgraded_state
    } else {
        stored
            .map_err(|problem| unreadable(format!("The attributes do not match the schema of the type: {problem}.")))?
    };
    // The state records marks of values; the schema adds attributes that are always sensitive.
    let paths = record.sensitive_attributes.iter().cloned().chain(schema.block.sensitive_paths(&value));
    let marks: PathMarks = paths.map(|path| (path, Marks::SENSITIVE)).collect();
    Ok(value.mark_paths(&marks))
}

#[cfg(test)]
mod tests {
    use groma_provider::{Attribute, Block, NestedBlock, ProviderDiagnostics, UpgradeResponse};
    use groma_scripted::{ResourceScript, Scripted};
    use groma_state::AttributesJson;
    use groma_value::Type;

    use super::*;

    /// Provider whose upgrade changes an object, so that the test detects upgrades.
    #[test]
    fn upgrades_only_objects_in_another_schema_version() {
        let block = Block::new([("a", Attribute::optional(Type::String))], Vec::<(&str, NestedBlock)>::new());
        let schema = Schema::new(block).versioned(1);
        let script = ResourceScript::new(schema.clone()).on_upgrade(|_, _| UpgradeResponse {
            upgraded_state: Value::object([("a", Value::string("upgraded"))]),
            diagnostics: ProviderDiagnostics::new(),
        });
        let provider: Arc<dyn Provider> = Arc::new(Scripted::new("test").resource("test_a", script));
        let shown = |version: u64, attributes: &str| {
            let record = ObjectRecord::new(version, AttributesJson::new(attributes));
            let value = decode(&provider, &schema, Mode::Managed, &"test_a".into(), &record).unwrap();
            value.attribute("a").and_then(|value| value.as_str().map(str::to_owned))
        };
        // The current version is decoded as it is.
        assert_eq!(shown(1, r#"{"a": null}"#), None);
        // An older version is upgraded.
        assert_eq!(shown(0, r#"{"a": null}"#).as_deref(), Some("upgraded"));
        // A value that does not fit the current schema is upgraded although the version is equal.
        assert_eq!(shown(1, r#"{"a": ["x"]}"#).as_deref(), Some("upgraded"));
    }
}
