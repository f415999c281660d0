//! List resources: the objects of a type, for queries.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_framework::{
    Answer, ListResource, ProviderDiagnostic, ProviderDiagnostics, ResourceSchema, SchemaBuilder, SchemaProblem,
};
use groma_provider::{ListControl, ListDetail, ListRequest, Listed};
use groma_value::Value;
use serde_json::{Map, Value as Json};

use super::access::Access;
use super::connection::Connection;
use super::declare;
use super::document::{Part, of_value};
use super::fields::Field;
use super::interpreted::Interpreted;
use super::present::{present_state, with_id};
use super::region::REGION;
use crate::schema::Handler;

/// The list resource of a type.
pub struct Listing {
    schema: ResourceSchema,
    inputs: Vec<Field>,
    interpreted: Arc<Interpreted>,
    access: Access,
}

impl Listing {
    /// The list resource of a type with a list handler, reached through `access`.
    pub fn new(interpreted: Arc<Interpreted>, handler: &Handler, access: Access) -> Result<Self, Vec<SchemaProblem>> {
        let is_input =
            |field: &&Field| field.property.as_ref().is_some_and(|property| handler.required_inputs.contains(property));
        let inputs: Vec<Field> = interpreted.fields.list.iter().filter(is_input).cloned().collect();
        let mut schema = SchemaBuilder::new();
        for field in &inputs {
            schema = schema.attribute(field.attribute.clone(), declare::input(field));
        }
        if interpreted.has_region() {
            schema = schema.attribute(REGION, groma_framework::Attribute::string().optional());
        }
        Ok(Self { schema: schema.build()?, inputs, interpreted, access })
    }

    async fn search(&self, request: &ListRequest) -> Result<(), ProviderDiagnostic> {
        let region = request.config.attribute(REGION).and_then(|region| region.as_str().map(str::to_owned));
        let connection = self.access.in_region(region.as_deref().filter(|_| self.interpreted.has_region()))?;
        let schema = &self.interpreted.schema;
        let model = self.model(&request.config);
        let identifiers = connection.list(&schema.type_name, model).await.map_err(|failure| {
            ProviderDiagnostic::error(failure.summary.clone(), format!("{}: {}", schema.type_name, failure.detail))
        })?;
        let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
        for identifier in identifiers.into_iter().take(limit) {
            let Some(listed) = self.listed(&connection, &identifier, region.as_deref(), request.detail).await else {
                continue;
            };
            if (request.found)(listed) == ListControl::Stop {
                break;
            }
        }
        Ok(())
    }

    /// The properties that the list handler of the service needs: JSON text.
    fn model(&self, config: &Value) -> Option<String> {
        let members: BTreeMap<String, Json> = self
            .inputs
            .iter()
            .filter_map(|field| {
                let value = config.attribute(&field.attribute)?;
                Some((field.property.as_ref()?.to_string(), of_value(&field.shape, &value, Part::Given)?))
            })
            .collect();
        (!members.is_empty()).then(|| Json::Object(members.into_iter().collect::<Map<_, _>>()).to_string())
    }

    /// One object; none if it is gone meanwhile.
    async fn listed(
        &self,
        connection: &Connection,
        identifier: &str,
        region: Option<&str>,
        detail: ListDetail,
    ) -> Option<Listed> {
        let identity = self.interpreted.identity.value(identifier, connection);
        let mut listed = Listed {
            identity,
            display_name: identifier.to_owned(),
            object: None,
            diagnostics: ProviderDiagnostics::new(),
        };
        if detail == ListDetail::Objects {
            let fields = &self.interpreted.fields;
            let wanted = with_id(fields, fields.block.empty_value(), identifier);
            let wanted = self.interpreted.with_region(&wanted, region);
            match present_state(connection, &self.interpreted, &wanted).await {
                Ok(Some(object)) => listed.object = Some(object),
                Ok(None) => return None,
                Err(problem) => listed.diagnostics.push(problem),
            }
        }
        Some(listed)
    }
}

impl ListResource for Listing {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn list(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(async move {
            match self.search(&request).await {
                Ok(()) => ProviderDiagnostics::new(),
                Err(problem) => problem.into(),
            }
        })
    }
}
