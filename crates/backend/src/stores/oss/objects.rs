//! The objects of a bucket of OSS.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_cloud::alibaba::AlibabaCredentials;
use groma_cloud::api::ApiRequest;
use groma_cloud::http::HttpResponse;
use md5::{Digest as _, Md5};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use crate::error::StoreError;
use crate::stores::digests::{Object, md5};
use crate::stores::token_errors::token_error;
use crate::stores::xml;
use crate::stores::xml_bucket::{Refusal, XmlBucket, XmlService};

/// Object storage of Alibaba Cloud.
pub(super) struct Oss(pub AlibabaCredentials);

impl XmlBucket<Oss> {
    /// Reads an object; `None` if it does not exist.
    pub async fn get(&self, key: &str) -> Result<Option<Object>, StoreError> {
        let Some(response) = self.response(key).await? else { return Ok(None) };
        let date = |name: &str| OffsetDateTime::parse(response.header(name)?, &Rfc2822).ok();
        let modified = date("last-modified");
        // Both times are the service's, so a wrong clock of this machine has no effect on the age.
        let age = date("date").zip(modified).and_then(|(now, modified)| Duration::try_from(now - modified).ok());
        // OSS has no conditions on versions, so the digest of the content identifies a state.
        Ok(Some(Object { version: md5(&response.body), age, modified, note: None, bytes: response.body }))
    }
}

impl XmlService for Oss {
    const NAME: &'static str = "Alibaba Cloud OSS";
    const PREFIX: &'static str = "oss";
    const ACL_HEADER: &'static str = "x-oss-object-acl";
    const LIST_OPERATION: &'static str = "ListObjects";

    async fn send(&self, bucket: &str, key: &str, request: ApiRequest) -> Result<HttpResponse, StoreError> {
        let failed = |problem| token_error(Self::NAME, &problem);
        // The signature covers the plain key, not its form in the URL.
        let resource = format!("/{bucket}/{key}");
        let request = self.0.sign_object_request(request, &resource).await.map_err(failed)?;
        self.0.api().send(&request).await.map_err(failed)
    }

    fn digest_header(bytes: &[u8]) -> (&'static str, String) {
        ("content-md5", STANDARD.encode(Md5::digest(bytes)))
    }

    fn refused(&self, bucket: &str, refusal: &Refusal<'_>) -> Option<StoreError> {
        let endpoint = xml::text(refusal.document, "Endpoint");
        Some(match (refusal.status, refusal.code) {
            (404, _) => StoreError::NotFound {
                what: format!("the OSS bucket {bucket:?}"),
                advice: format!(
                    "Check bucket and region, or create it, with versioning to keep old states: ossutil mb oss://{bucket} && ossutil \
                     bucket-versioning --method put oss://{bucket} enabled"
                ),
            },
            // With this code, an endpoint in the answer is that of the bucket's region.
            (403, "AccessDenied") if endpoint.is_some() => StoreError::InvalidArgument {
                argument: "region".to_owned(),
                reason: format!(
                    "the bucket {bucket:?} is in another region; its endpoint is {}",
                    endpoint.unwrap_or_default()
                ),
            },
            (403, "InvalidAccessKeyId" | "SignatureDoesNotMatch" | "RequestTimeTooSkewed" | "SecurityTokenExpired")
            | (401, _) => StoreError::Unauthenticated {
                service: Self::NAME.to_owned(),
                reason: refusal.reason.clone(),
                advice: "Check access_key and secret_key, and the clock of this machine.".to_owned(),
            },
            (403, _) => StoreError::AccessDenied {
                resource: refusal.location.clone(),
                permission: Some(refusal.permission.to_owned()),
                reason: refusal.reason.clone(),
                advice: format!(
                    "Grant oss:ListObjects on acs:oss:*:*:{bucket}, and oss:GetObject, oss:PutObject and oss:DeleteObject on \
                     acs:oss:*:*:{bucket}/*, in a RAM policy of the user or role."
                ),
            },
            _ => return None,
        })
    }
}
