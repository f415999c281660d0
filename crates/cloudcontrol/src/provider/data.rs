//! Data sources: one object by identifier, or the identifiers of all.

use std::sync::Arc;

use groma_framework::{
    Answer, Attribute, DataSource, ProviderDiagnostic, ReadDataRequest, ReadDataResponse, ResourceSchema,
    SchemaBuilder, SchemaProblem,
};
use groma_value::{Type, Value};

use super::access::Access;
use super::connection::Connection;
use super::declare;
use super::interpreted::Interpreted;
use super::present::{present_state, with_id};
use super::region::REGION;
use crate::Name;

/// The data source of one object of a type.
pub struct One {
    schema: ResourceSchema,
    interpreted: Arc<Interpreted>,
    access: Access,
}

impl One {
    /// The data source of a type, reached through `access`.
    pub fn new(interpreted: Arc<Interpreted>, access: Access) -> Result<Self, Vec<SchemaProblem>> {
        Ok(Self { schema: declare::data_source(&interpreted.fields)?, interpreted, access })
    }

    /// The attributes of an object that the data source has.
    fn projected(&self, object: &Value) -> Value {
        let block = self.schema.block();
        let Some(empty) = block.empty_value().as_object() else { return object.clone() };
        let value = |(name, empty): (&Name, &Value)| object.attribute(name).unwrap_or_else(|| empty.clone());
        let values = empty.iter().map(value).collect();
        block.object(values)
    }
}

impl DataSource for One {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn read(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        Answer::pending(async move {
            let region = request.config.attribute(REGION).and_then(|region| region.as_str().map(str::to_owned));
            let region = region.filter(|_| self.interpreted.has_region());
            let read = match self.access.in_region(region.as_deref()) {
                Ok(connection) => one(&connection, &self.interpreted, &request.config).await,
                Err(problem) => Err(problem),
            };
            let read = read.map(|object| self.projected(&self.interpreted.with_region(&object, region.as_deref())));
            read.map_or_else(ReadDataResponse::failed, ReadDataResponse::found)
        })
    }
}

/// The data source of the identifiers of all objects of a type.
pub struct Many {
    schema: ResourceSchema,
    cloud_name: Name,
    access: Access,
}

impl Many {
    /// The data source of the type `cloud_name`, reached through `access`.
    pub fn new(cloud_name: Name, access: Access) -> Result<Self, Vec<SchemaProblem>> {
        let schema = SchemaBuilder::new()
            .attribute("id", Attribute::string().computed())
            .attribute("ids", Attribute::set(Type::String).computed());
        Ok(Self { schema: schema.build()?, cloud_name, access })
    }
}

impl DataSource for Many {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn read(&self, _: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        Answer::pending(async move {
            let read = match self.access.connection() {
                Ok(connection) => self.many(&connection).await,
                Err(problem) => Err(problem),
            };
            read.map_or_else(ReadDataResponse::failed, ReadDataResponse::found)
        })
    }
}

impl Many {
    async fn many(&self, connection: &Connection) -> Result<Value, ProviderDiagnostic> {
        let identifiers = connection.list(&self.cloud_name, None).await.map_err(|failure| {
            ProviderDiagnostic::error(failure.summary.clone(), format!("{}: {}", self.cloud_name, failure.detail))
        })?;
        let ids = Value::set(Type::String, identifiers.iter().map(Value::string).collect());
        Ok(self.schema.block().object(vec![Value::string(&connection.region), ids]))
    }
}

async fn one(connection: &Connection, interpreted: &Interpreted, config: &Value) -> Result<Value, ProviderDiagnostic> {
    let fields = &interpreted.fields;
    let identifier = config.as_object().and_then(|view| view.get("id")).and_then(Value::as_str).unwrap_or_default();
    let wanted = with_id(fields, fields.block.empty_value(), identifier);
    present_state(connection, interpreted, &wanted).await?.ok_or_else(|| {
        ProviderDiagnostic::error(
            "AWS Data Source Not Found",
            format!(
                "There is no {} with the identifier {identifier:?} in {}.",
                interpreted.schema.type_name, connection.region
            ),
        )
    })
}
