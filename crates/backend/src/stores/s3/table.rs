//! The DynamoDB table with locks and digests.

use groma_cloud::aws::{AwsClient, AwsRequest, AwsService, RequestError};
use serde_json::{Value as Json, json};

use super::errors::Subject;
use crate::error::StoreError;
use crate::lock_info::LockInfo;
use crate::stores::digests::Digest;

const TARGET: &str = "DynamoDB_20120810";

/// A table with the partition key `LockID`.
pub(super) struct Table {
    pub client: AwsClient,
    pub name: String,
}

/// The result of an attempt to put a lock.
#[derive(Debug)]
pub(super) enum PutLock {
    Done,
    /// Another item is there, with this info if it can be read.
    Held(Option<LockInfo>),
}

impl Table {
    async fn call(
        &self,
        operation: &'static str,
        action: &'static str,
        body: &Json,
    ) -> Result<Result<Json, Refused>, StoreError> {
        let request = AwsRequest::json(AwsService::DYNAMODB, TARGET, operation, "1.0", body.to_string().into_bytes());
        match self.client.send(request).await {
            Ok(response) => Ok(Ok(serde_json::from_slice(&response.body).unwrap_or_default())),
            Err(problem) if problem.code() == Some("ConditionalCheckFailedException") => Ok(Err(Refused)),
            Err(problem) => Err(self.failed(action, &problem)),
        }
    }

    fn failed(&self, action: &'static str, problem: &RequestError) -> StoreError {
        let location = format!("dynamodb table {}", self.name);
        Subject { service: "DynamoDB", location: &location, container: &self.name, action }.error(problem)
    }

    async fn item(&self, id: &str, action: &'static str) -> Result<Json, StoreError> {
        // An eventually consistent read could miss a lock that another run has just put.
        let body = json!({ "TableName": self.name, "Key": { "LockID": { "S": id } }, "ConsistentRead": true });
        let answer = self.call("GetItem", action, &body).await?;
        Ok(answer.map(|mut answer| answer["Item"].take()).unwrap_or_default())
    }

    /// Returns the stored info of the lock with this key; `None` without a lock.
    pub async fn lock(&self, key: &str) -> Result<Option<String>, StoreError> {
        let item = self.item(key, "read the lock").await?;
        if item.is_null() {
            return Ok(None);
        }
        Ok(Some(item["Info"]["S"].as_str().unwrap_or_default().to_owned()))
    }

    /// Puts a lock if the table has no item of this key.
    pub async fn put_lock(&self, key: &str, info: &LockInfo) -> Result<PutLock, StoreError> {
        let text = serde_json::to_string(info).unwrap_or_default();
        let body = json!({
            "TableName": self.name,
            "Item": { "LockID": { "S": key }, "Info": { "S": text } },
            "ConditionExpression": "attribute_not_exists(LockID)",
        });
        // The holder may release the lock between the two requests; then it is free for another attempt.
        const ATTEMPTS: u32 = 3;
        for _ in 0..ATTEMPTS {
            if self.call("PutItem", "write the lock", &body).await?.is_ok() {
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
        let body = json!({
            "TableName": self.name,
            "Item": { "LockID": { "S": key }, "Info": { "S": text } },
            "ConditionExpression": "Info = :stored",
            "ExpressionAttributeValues": { ":stored": { "S": stored } },
        });
        match self.call("PutItem", "write the lock", &body).await? {
            Ok(_) => Ok(()),
            Err(Refused) => Err(StoreError::lock_loss(key.to_owned(), None)),
        }
    }

    /// Deletes the lock if it still has this info.
    pub async fn delete_lock(&self, key: &str, info: &str) -> Result<(), StoreError> {
        // A missing item passes: the deletion is repeated after a lost answer.
        let body = json!({
            "TableName": self.name,
            "Key": { "LockID": { "S": key } },
            "ConditionExpression": "attribute_not_exists(LockID) OR Info = :info",
            "ExpressionAttributeValues": { ":info": { "S": info } },
        });
        match self.call("DeleteItem", "delete the lock", &body).await? {
            Ok(_) => Ok(()),
            Err(Refused) => Err(StoreError::LockLost {
                location: key.to_owned(),
                reason: "another run has replaced the lock in the meantime".to_owned(),
            }),
        }
    }

    /// Returns the digest of the state whose lock has this key.
    pub async fn digest(&self, key: &str) -> Result<Option<Digest>, StoreError> {
        let item = self.item(&digest_key(key), "read the digest of the state").await?;
        let text = |name: &str| item[name]["S"].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(text("Digest").map(|md5| Digest { md5, written: text("Written") }))
    }

    /// Records the digest of a state.
    pub async fn put_digest(&self, key: &str, digest: &Digest) -> Result<(), StoreError> {
        let mut item = json!({ "LockID": { "S": digest_key(key) }, "Digest": { "S": digest.md5 } });
        if let Some(written) = &digest.written {
            item["Written"] = json!({ "S": written });
        }
        let body = json!({ "TableName": self.name, "Item": item });
        self.call("PutItem", "write the digest of the state", &body).await.map(|_| ())
    }

    /// Replaces a digest, unless another run has written one in the meantime.
    pub async fn replace_digest(&self, key: &str, old: &Digest, new: &Digest) -> Result<(), StoreError> {
        let mut item = json!({ "LockID": { "S": digest_key(key) }, "Digest": { "S": new.md5 } });
        if let Some(written) = &new.written {
            item["Written"] = json!({ "S": written });
        }
        let body = json!({
            "TableName": self.name,
            "Item": item,
            "ConditionExpression": "Digest = :old",
            "ExpressionAttributeValues": { ":old": { "S": old.md5 } },
        });
        // A refusal means that another run has recorded a digest since, which is the newer one.
        self.call("PutItem", "write the digest of the state", &body).await.map(|_| ())
    }

    /// Deletes the digest of a state.
    pub async fn delete_digest(&self, key: &str) -> Result<(), StoreError> {
        let body = json!({ "TableName": self.name, "Key": { "LockID": { "S": digest_key(key) } } });
        self.call("DeleteItem", "delete the digest of the state", &body).await.map(|_| ())
    }
}

/// The condition of a request does not hold.
struct Refused;

fn digest_key(key: &str) -> String {
    format!("{key}-md5")
}
