//! Data sources: one object by identifier, or the identifiers of all.

use groma_provider::{ProviderDiagnostic, ReadDataRequest, ReadDataResponse};
use groma_value::{Type, Value};

use super::connection::Connection;
use super::interpreted::{Entry, Interpreted, plural_data_source};
use super::resource::present_state;
use super::resource::with_id;

/// Reads a data source of either kind.
pub async fn read(connection: &Connection, entry: &Entry, request: ReadDataRequest) -> ReadDataResponse {
    let read = match entry {
        Entry::One(interpreted) => one(connection, interpreted, &request.config).await,
        Entry::Many(type_name) => many(connection, type_name).await,
    };
    match read {
        Ok(state) => ReadDataResponse { state, deferred: None, diagnostics: Default::default() },
        Err(problem) => ReadDataResponse { state: request.config, deferred: None, diagnostics: problem.into() },
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

async fn many(connection: &Connection, type_name: &str) -> Result<Value, ProviderDiagnostic> {
    let identifiers = connection.list(type_name).await.map_err(|failure| {
        ProviderDiagnostic::error(failure.summary.clone(), format!("{type_name}: {}", failure.detail))
    })?;
    let ids = Value::set(Type::String, identifiers.iter().map(Value::string).collect());
    Ok(plural_data_source().block.object(vec![Value::string(&connection.region), ids]))
}
