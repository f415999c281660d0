//! The mutex of Terraform and OpenTofu: a tag of the account, which only one run can create.
//!
//! The lock itself is an object. Its creation needs no mutex here, but Terraform and OpenTofu look for the object and create it in two
//! steps, and the mutex prevents that between these steps this run creates it.

use std::time::Duration;

use groma_cloud::tencent::{TencentCredentials, TencentRequest};
use serde_json::{Value as Json, json};

use crate::error::StoreError;
use crate::stores::digests::md5;
use crate::stores::token_errors::token_error;

const KEY: &str = "tencentcloud-terraform-lock";

/// The attempts of Terraform and OpenTofu, once a second.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_secs(1);

/// The API of tags.
pub(super) struct Tags {
    pub credentials: TencentCredentials,
    pub host: String,
    pub region: String,
    pub bucket: String,
}

impl Tags {
    async fn call(&self, action: &'static str, file: &str) -> Result<Json, StoreError> {
        let value = md5(format!("{}:{file}", self.bucket).as_bytes());
        let request = TencentRequest {
            service: "tag",
            host: self.host.clone(),
            action,
            version: "2018-08-13",
            region: self.region.clone(),
            body: json!({ "TagKey": KEY, "TagValue": value }),
        };
        self.credentials.call(&request).await.map_err(|problem| token_error("Tencent Cloud", &problem))
    }

    /// Creates the tag of a lock file, and waits while another run has it.
    pub async fn create(&self, file: &str) -> Result<(), StoreError> {
        for _ in 0..ATTEMPTS {
            let answer = self.call("CreateTag", file).await?;
            let Some(code) = answer["Error"]["Code"].as_str() else { return Ok(()) };
            if !code.starts_with("ResourceInUse") {
                return Err(self.failed("CreateTag", code, &answer));
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(StoreError::Service {
            service: "Tencent Cloud".to_owned(),
            action: "lock the state".to_owned(),
            reason: format!(
                "the tag {KEY} of the lock stays: a run was killed while it had it. Delete the tag with the value {} in the console",
                md5(format!("{}:{file}", self.bucket).as_bytes())
            ),
        })
    }

    /// Deletes the tag of a lock file.
    pub async fn delete(&self, file: &str) -> Result<(), StoreError> {
        let answer = self.call("DeleteTag", file).await?;
        match answer["Error"]["Code"].as_str() {
            Some(code) if !code.starts_with("ResourceNotFound") => Err(self.failed("DeleteTag", code, &answer)),
            _ => Ok(()),
        }
    }

    fn failed(&self, action: &str, code: &str, answer: &Json) -> StoreError {
        let reason = format!("{code}: {}", answer["Error"]["Message"].as_str().unwrap_or_default());
        if code.starts_with("UnauthorizedOperation") {
            return StoreError::AccessDenied {
                resource: format!("the tag {KEY}"),
                permission: Some(format!("tag:{action}")),
                reason,
                advice: "Grant tag:CreateTag, tag:DescribeTags and tag:DeleteTag to the user (CAM): locks need them."
                    .to_owned(),
            };
        }
        if code.starts_with("AuthFailure") {
            return StoreError::Unauthenticated {
                service: "Tencent Cloud".to_owned(),
                reason,
                advice: "Check secret_id and secret_key, and the clock of this machine.".to_owned(),
            };
        }
        StoreError::Service { service: "Tencent Cloud".to_owned(), action: "lock the state".to_owned(), reason }
    }
}
