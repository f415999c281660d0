//! Objects that failed creations leave behind (CC-47).

use groma_framework::{CallFate, ObjectResponse, PrivateData, ProviderDiagnostic};
use groma_value::Value;

use super::connection::Connection;
use super::failure::Failure;
use super::failures::{RecordAfterFailure, failed_change};
use super::fields::Fields;
use super::interpreted::Interpreted;
use super::present::{Found, properties, read_found, with_id};
use super::same::agrees;
use crate::api::{HandlerErrorCode, ResourceDescription};

/// Returns the response to a creation that failed. An object that it left behind is kept, tainted, and never orphaned. An
/// object that was there before is somebody else's.
pub(super) async fn not_created(
    connection: &Connection,
    interpreted: &Interpreted,
    planned: &Value,
    private: PrivateData,
    failure: &Failure,
) -> ObjectResponse {
    let failed = |record| failed_change(interpreted, failure, None, record);
    let identifier = match &failure.identifier {
        Some(identifier) if failure.code != Some(HandlerErrorCode::AlreadyExists) => identifier,
        _ => return ObjectResponse::failed(failed(RecordAfterFailure::Absent)),
    };
    match connection.get_result(&interpreted.schema, identifier).await {
        Ok(None) => ObjectResponse::failed(failed(RecordAfterFailure::Absent)),
        Ok(Some(found)) if failure.may_be_foreign && !is_planned(connection, interpreted, planned, &found) => {
            ObjectResponse::failed(failed(RecordAfterFailure::Unclaimed))
        }
        // The record would be tainted, and with it somebody else's object could be destroyed.
        Err(_) if failure.may_be_foreign => ObjectResponse::failed(failed(RecordAfterFailure::Unclaimed)),
        // Whether it is there cannot be said: better a record of nothing than an object nobody knows of.
        Ok(Some(_)) | Err(_) => {
            // Once the object is in the state, nothing needs to be asked for again.
            let problem = failed(RecordAfterFailure::Tainted).unanswered(CallFate::Answered);
            unfinished(&interpreted.fields, planned, identifier, private, problem)
        }
    }
}

/// Returns the response with a tainted record of an object whose change did not end well.
pub(super) fn unfinished(
    fields: &Fields,
    planned: &Value,
    identifier: &str,
    private: PrivateData,
    problem: ProviderDiagnostic,
) -> ObjectResponse {
    let state = with_id(fields, &planned.unknown_as_null(), identifier);
    ObjectResponse::failed_with(state, private, problem)
}

/// Whether every planned attribute that an object has is as planned. Some may be missing, because its creation failed.
fn is_planned(
    connection: &Connection,
    interpreted: &Interpreted,
    planned: &Value,
    found: &ResourceDescription,
) -> bool {
    let Ok(document) = properties(found) else { return false };
    let found = Found::Object { identifier: found.identifier.clone(), document };
    let present = read_found(connection, interpreted, planned, &found);
    let (Some(planned), Some(present)) = (planned.as_object(), present.as_object()) else { return false };
    let pairs = planned.values().iter().zip(present.values());
    let mut attributes = interpreted.fields.list.iter().zip(pairs);
    attributes.all(|(field, (planned, present))| present.is_null() || agrees(&field.shape, planned, present))
}
