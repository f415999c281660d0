//! Requests to a Tablestore table.

use std::time::Duration;

use groma_cloud::alibaba::AlibabaCredentials;
use prost::Message;

use super::plain_buffer::{Row, RowUse, encoded_value};
use crate::error::StoreError;
use crate::stores::lock_table::{Columns, KEY, LockTable, RowCondition, RowOutcome, Rows};
use crate::stores::token_errors::token_error;

/// The attempts of a request that meets another one at the same row, or a table that is busy.
const ATTEMPTS: u32 = 6;
const PAUSE: Duration = Duration::from_millis(50);

/// The locks and digests in Tablestore.
pub(super) type Table = LockTable<TablestoreRows>;

/// The rows of one table.
pub(super) struct TablestoreRows {
    pub credentials: AlibabaCredentials,
    /// The URL of the instance.
    pub endpoint: String,
    pub instance: String,
    pub name: String,
}

#[derive(Clone, PartialEq, Message)]
struct PutRow {
    #[prost(string, required, tag = "1")]
    table: String,
    #[prost(bytes = "vec", required, tag = "2")]
    row: Vec<u8>,
    #[prost(message, required, tag = "3")]
    condition: Condition,
}

#[derive(Clone, PartialEq, Message)]
struct DeleteRow {
    #[prost(string, required, tag = "1")]
    table: String,
    #[prost(bytes = "vec", required, tag = "2")]
    key: Vec<u8>,
    #[prost(message, required, tag = "3")]
    condition: Condition,
}

#[derive(Clone, PartialEq, Message)]
struct GetRow {
    #[prost(string, required, tag = "1")]
    table: String,
    #[prost(bytes = "vec", required, tag = "2")]
    key: Vec<u8>,
    #[prost(int32, optional, tag = "5")]
    versions: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct FoundRow {
    #[prost(bytes = "vec", optional, tag = "2")]
    row: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Condition {
    #[prost(int32, required, tag = "1")]
    existence: i32,
    #[prost(bytes = "vec", optional, tag = "2")]
    column: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Filter {
    #[prost(int32, required, tag = "1")]
    kind: i32,
    #[prost(bytes = "vec", required, tag = "2")]
    filter: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct ColumnFilter {
    #[prost(int32, required, tag = "1")]
    comparator: i32,
    #[prost(string, required, tag = "2")]
    name: String,
    #[prost(bytes = "vec", required, tag = "3")]
    value: Vec<u8>,
    #[prost(bool, required, tag = "4")]
    filter_if_missing: bool,
    #[prost(bool, required, tag = "5")]
    latest_version_only: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Failure {
    #[prost(string, optional, tag = "1")]
    code: Option<String>,
    #[prost(string, optional, tag = "2")]
    message: Option<String>,
}

impl Condition {
    fn new(condition: RowCondition<'_>) -> Self {
        // RowExistenceExpectation of the protocol: 0 ignores the row, 1 expects it, 2 expects that it is missing.
        match condition {
            RowCondition::None => Self { existence: 0, column: None },
            RowCondition::Absent => Self { existence: 2, column: None },
            // A row without the column must not pass: nothing is known about its holder.
            RowCondition::Column(name, value) => Self::equal(name, value, true),
            // The filters cannot ask whether a column is missing, but let such rows pass. An empty text says no more.
            RowCondition::NoColumn(name) => Self::equal(name, "", false),
        }
    }

    /// Expects a row with this value in this column.
    fn equal(name: &str, value: &str, filter_if_missing: bool) -> Self {
        let equal = ColumnFilter {
            comparator: 1,
            name: name.to_owned(),
            value: encoded_value(value),
            filter_if_missing,
            latest_version_only: true,
        };
        let filter = Filter { kind: 1, filter: equal.encode_to_vec() };
        Self { existence: 1, column: Some(filter.encode_to_vec()) }
    }
}

/// Whether the service did nothing, and may do it a moment later.
fn is_transient(code: &str) -> bool {
    // Two requests have met at the same row, the table is being loaded, or it has reached its limit of requests.
    matches!(code, "OTSRowOperationConflict" | "OTSTableNotReady" | "OTSNotEnoughCapacityUnit")
}

fn row(key: &str, columns: &[(&str, &str)]) -> Row {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Row { key: vec![owned(&(KEY, key))], columns: columns.iter().map(owned).collect() }
}

impl TablestoreRows {
    /// Sends a request; `None` if its condition does not hold.
    async fn call(&self, operation: &str, action: &str, request: &impl Message) -> Result<Option<Vec<u8>>, StoreError> {
        let failed = |problem| token_error("Tablestore", &problem);
        let body = request.encode_to_vec();
        let mut attempt = 1;
        loop {
            // Signed again for each attempt, because the service refuses old signatures.
            let request = self.credentials.tablestore_request(&self.endpoint, &self.instance, operation, body.clone());
            let response = self.credentials.api().send(&request.await.map_err(failed)?).await.map_err(failed)?;
            if response.status.is_success() {
                return Ok(Some(response.body));
            }
            // A proxy may answer without a protocol buffer; then the status has to suffice.
            let failure = Failure::decode(&*response.body).unwrap_or_default();
            match failure.code.as_deref().unwrap_or_default() {
                "OTSConditionCheckFail" => return Ok(None),
                code if is_transient(code) && attempt < ATTEMPTS => {}
                code => return Err(self.failed(operation, action, response.status.as_u16(), code, &failure)),
            }
            tokio::time::sleep(PAUSE * 2_u32.pow(attempt - 1)).await;
            attempt += 1;
        }
    }

    fn failed(&self, operation: &str, action: &str, status: u16, code: &str, failure: &Failure) -> StoreError {
        let message = failure.message.as_deref().unwrap_or_default();
        let reason = format!("HTTP status {status}: {code}: {message}").trim_end_matches([':', ' ', '.']).to_owned();
        let table = format!("the table {:?} of the Tablestore instance {:?}", self.name, self.instance);
        match code {
            "OTSObjectNotExist" | "OTSInstanceNotFound" => StoreError::NotFound {
                what: table,
                advice: format!(
                    "Check tablestore_endpoint and tablestore_table, or create the table {:?} with the primary key \"LockID\" of type \
                     String, one version per column (max versions 1) and no expiry (time to live -1).",
                    self.name
                ),
            },
            "OTSInvalidPK" | "OTSParameterInvalid" => StoreError::InvalidData {
                location: table,
                reason,
                advice: "A lock table has exactly one primary key column, \"LockID\" of type String.".to_owned(),
            },
            "OTSNoPermissionAccess" => StoreError::AccessDenied {
                resource: table,
                permission: Some(format!("ots:{operation}")),
                reason,
                advice:
                    "Grant ots:GetRow, ots:PutRow and ots:DeleteRow on the table in a RAM policy of the user or role."
                        .to_owned(),
            },
            "OTSAuthFailed" => StoreError::Unauthenticated {
                service: "Tablestore".to_owned(),
                reason,
                advice: "Check access_key and secret_key, tablestore_instance_name, and the clock of this machine."
                    .to_owned(),
            },
            _ => StoreError::Service { service: "Tablestore".to_owned(), action: action.to_owned(), reason },
        }
    }

    fn unexpected_row(&self) -> StoreError {
        StoreError::InvalidData {
            location: format!("the table {:?} of the Tablestore instance {:?}", self.name, self.instance),
            reason: "a row is neither a lock nor a digest".to_owned(),
            advice: "Set tablestore_table to a table that has only locks and digests of states.".to_owned(),
        }
    }
}

fn outcome(answer: Option<Vec<u8>>) -> RowOutcome {
    answer.map_or(RowOutcome::Refused, |_| RowOutcome::Done)
}

impl Rows for TablestoreRows {
    fn name(&self) -> &str {
        &self.name
    }

    async fn get(&self, key: &str, action: &'static str) -> Result<Option<Columns>, StoreError> {
        let key = row(key, &[]).encoded(RowUse::Data);
        let request = GetRow { table: self.name.clone(), key, versions: Some(1) };
        let body = self.call("GetRow", action, &request).await?.unwrap_or_default();
        let found = FoundRow::decode(&*body).map_err(|_| self.unexpected_row())?;
        // The service answers with an empty row if none has the key.
        let Some(bytes) = found.row.filter(|row| !row.is_empty()) else { return Ok(None) };
        let row = Row::decode(&bytes).ok_or_else(|| self.unexpected_row())?;
        Ok(Some(row.columns.into_iter().collect()))
    }

    async fn put(
        &self,
        key: &str,
        columns: &[(&str, &str)],
        condition: RowCondition<'_>,
        action: &'static str,
    ) -> Result<RowOutcome, StoreError> {
        let row = row(key, columns).encoded(RowUse::Data);
        let request = PutRow { table: self.name.clone(), row, condition: Condition::new(condition) };
        Ok(outcome(self.call("PutRow", action, &request).await?))
    }

    async fn delete(
        &self,
        key: &str,
        condition: RowCondition<'_>,
        action: &'static str,
    ) -> Result<RowOutcome, StoreError> {
        let key = row(key, &[]).encoded(RowUse::Deletion);
        let request = DeleteRow { table: self.name.clone(), key, condition: Condition::new(condition) };
        Ok(outcome(self.call("DeleteRow", action, &request).await?))
    }
}
