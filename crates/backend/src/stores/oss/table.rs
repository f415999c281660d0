//! The table of Tablestore with locks and digests.

use groma_cloud::alibaba::AlibabaCredentials;
use prost::Message;

use super::plain_buffer::{Row, RowUse, encoded_value};
use crate::error::StoreError;
use crate::lock_info::LockInfo;
use crate::stores::digests::Digest;
use crate::stores::token_errors::token_error;

/// The column of the primary key.
const KEY: &str = "LockID";

/// The column of locks.
const INFO: &str = "Info";

/// A table with the primary key `LockID`.
pub(super) struct Table {
    pub credentials: AlibabaCredentials,
    /// The URL of the instance.
    pub endpoint: String,
    pub instance: String,
    pub name: String,
}

/// The result of an attempt to put a lock.
#[derive(Debug)]
pub(super) enum PutLock {
    Done,
    /// Another row is there, with this info if it can be read.
    Held(Option<LockInfo>),
}

/// The condition of a write does not hold.
struct Refused;

#[derive(Clone, PartialEq, Message)]
struct PutRow {
    #[prost(string, required, tag = "1")]
    table: String,
    #[prost(bytes = "vec", required, tag = "2")]
    row: Vec<u8>,
    #[prost(message, required, tag = "3")]
    condition: RowCondition,
}

#[derive(Clone, PartialEq, Message)]
struct DeleteRow {
    #[prost(string, required, tag = "1")]
    table: String,
    #[prost(bytes = "vec", required, tag = "2")]
    key: Vec<u8>,
    #[prost(message, required, tag = "3")]
    condition: RowCondition,
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
struct RowCondition {
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

impl RowCondition {
    /// The write replaces any row.
    fn none() -> Self {
        // RowExistenceExpectation of the protocol: 0 ignores the row, 1 expects it, 2 expects that it is missing.
        Self { existence: 0, column: None }
    }

    fn absent() -> Self {
        Self { existence: 2, column: None }
    }

    /// The row exists, and its column has this value.
    fn of_column(name: &str, value: &str) -> Self {
        // A row without the column must not pass: nothing is known about its holder.
        let equal = ColumnFilter {
            comparator: 1,
            name: name.to_owned(),
            value: encoded_value(value),
            filter_if_missing: true,
            latest_version_only: true,
        };
        let filter = Filter { kind: 1, filter: equal.encode_to_vec() };
        Self { existence: 1, column: Some(filter.encode_to_vec()) }
    }
}

impl Table {
    fn row(key: &str, columns: &[(&str, &str)]) -> Row {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Row { key: vec![owned(&(KEY, key))], columns: columns.iter().map(owned).collect() }
    }

    async fn call(
        &self,
        operation: &str,
        action: &str,
        request: &impl Message,
    ) -> Result<Result<Vec<u8>, Refused>, StoreError> {
        let failed = |problem| token_error("Tablestore", &problem);
        let body = request.encode_to_vec();
        let request = self.credentials.tablestore_request(&self.endpoint, &self.instance, operation, body);
        let response = self.credentials.api().send(&request.await.map_err(failed)?).await.map_err(failed)?;
        if response.status.is_success() {
            return Ok(Ok(response.body));
        }
        // A proxy may answer without a protocol buffer; then the status has to suffice.
        let failure = Failure::decode(&*response.body).unwrap_or_default();
        match failure.code.as_deref().unwrap_or_default() {
            "OTSConditionCheckFail" => Ok(Err(Refused)),
            code => Err(self.failed(operation, action, response.status.as_u16(), code, &failure)),
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
                     String, one version and no expiry.",
                    self.name
                ),
            },
            "OTSInvalidPK" | "OTSParameterInvalid" => StoreError::InvalidData {
                location: table,
                reason,
                advice: "A table for locks has one primary key column, \"LockID\" of type String.".to_owned(),
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

    async fn get(&self, key: &str, action: &str) -> Result<Option<Row>, StoreError> {
        let key = Self::row(key, &[]).encoded(RowUse::Data);
        let request = GetRow { table: self.name.clone(), key, versions: Some(1) };
        // Reads have no condition.
        let body = self.call("GetRow", action, &request).await?.unwrap_or_default();
        let unexpected = || StoreError::InvalidData {
            location: format!("the table {:?} of the Tablestore instance {:?}", self.name, self.instance),
            reason: "the row has a form that no lock and no digest has".to_owned(),
            advice: "Check tablestore_table: it must name a table for locks.".to_owned(),
        };
        let found = FoundRow::decode(&*body).map_err(|_| unexpected())?;
        // The service answers with an empty row if none has the key.
        let row = found.row.filter(|row| !row.is_empty());
        row.map(|row| Row::decode(&row).ok_or_else(unexpected)).transpose()
    }

    async fn put(
        &self,
        key: &str,
        columns: &[(&str, &str)],
        condition: RowCondition,
        action: &str,
    ) -> Result<Result<(), Refused>, StoreError> {
        let row = Self::row(key, columns).encoded(RowUse::Data);
        let request = PutRow { table: self.name.clone(), row, condition };
        Ok(self.call("PutRow", action, &request).await?.map(|_| ()))
    }

    async fn delete(
        &self,
        key: &str,
        condition: RowCondition,
        action: &str,
    ) -> Result<Result<(), Refused>, StoreError> {
        let key = Self::row(key, &[]).encoded(RowUse::Deletion);
        let request = DeleteRow { table: self.name.clone(), key, condition };
        Ok(self.call("DeleteRow", action, &request).await?.map(|_| ()))
    }

    /// Returns the stored info of the lock with this key; `None` without a lock.
    pub async fn lock(&self, key: &str) -> Result<Option<String>, StoreError> {
        let found = self.get(key, "read the lock").await?;
        Ok(found.map(|row| row.column(INFO).unwrap_or_default().to_owned()))
    }

    /// Puts a lock if the table has no row of this key.
    pub async fn put_lock(&self, key: &str, info: &LockInfo) -> Result<PutLock, StoreError> {
        let text = serde_json::to_string(info).unwrap_or_default();
        // The holder may release the lock between the two requests; then it is free for another attempt.
        const ATTEMPTS: u32 = 3;
        for _ in 0..ATTEMPTS {
            if self.put(key, &[(INFO, &text)], RowCondition::absent(), "write the lock").await?.is_ok() {
                return Ok(PutLock::Done);
            }
            let Some(found) = self.lock(key).await? else { continue };
            let holder: Option<LockInfo> = serde_json::from_str(&found).ok();
            // The answer to an earlier attempt was lost: the lock is this run's own.
            if holder.as_ref().is_some_and(|holder| holder.id == info.id) {
                return Ok(PutLock::Done);
            }
            return Ok(PutLock::Held(holder));
        }
        Ok(PutLock::Held(None))
    }

    /// Replaces the lock if it still has the info `stored`.
    pub async fn replace_lock(&self, key: &str, stored: &str, info: &LockInfo) -> Result<(), StoreError> {
        let text = serde_json::to_string(info).unwrap_or_default();
        match self.put(key, &[(INFO, &text)], RowCondition::of_column(INFO, stored), "write the lock").await? {
            Ok(()) => Ok(()),
            Err(Refused) => Err(StoreError::lock_loss(key.to_owned(), None)),
        }
    }

    /// Deletes the lock if it still has this info.
    pub async fn delete_lock(&self, key: &str, info: &str) -> Result<(), StoreError> {
        if self.delete(key, RowCondition::of_column(INFO, info), "delete the lock").await?.is_ok() {
            return Ok(());
        }
        match self.lock(key).await? {
            // The answer to an earlier attempt was lost.
            None => Ok(()),
            Some(_) => Err(StoreError::LockLost {
                location: key.to_owned(),
                reason: "another run has replaced the lock in the meantime".to_owned(),
            }),
        }
    }

    /// Returns the digest of the state whose lock has this key.
    pub async fn digest(&self, key: &str) -> Result<Option<Digest>, StoreError> {
        let Some(row) = self.get(&digest_key(key), "read the digest of the state").await? else { return Ok(None) };
        let text = |name: &str| row.column(name).filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(text("Digest").map(|md5| Digest { md5, written: text("Written") }))
    }

    /// Records the digest of a state.
    pub async fn put_digest(&self, key: &str, digest: &Digest) -> Result<(), StoreError> {
        // Without a condition, nothing is refused.
        self.write_digest(key, digest, RowCondition::none()).await
    }

    /// Replaces a digest, unless another run has written one in the meantime.
    pub async fn replace_digest(&self, key: &str, old: &Digest, new: &Digest) -> Result<(), StoreError> {
        self.write_digest(key, new, RowCondition::of_column("Digest", &old.md5)).await
    }

    async fn write_digest(&self, key: &str, digest: &Digest, condition: RowCondition) -> Result<(), StoreError> {
        let mut columns = vec![("Digest", digest.md5.as_str())];
        columns.extend(digest.written.as_deref().map(|written| ("Written", written)));
        // A refusal means that another run has recorded a digest since, which is the newer one.
        self.put(&digest_key(key), &columns, condition, "write the digest of the state").await.map(|_| ())
    }

    /// Deletes the digest of a state.
    pub async fn delete_digest(&self, key: &str) -> Result<(), StoreError> {
        self.delete(&digest_key(key), RowCondition::none(), "delete the digest of the state").await.map(|_| ())
    }
}

fn digest_key(key: &str) -> String {
    format!("{key}-md5")
}
