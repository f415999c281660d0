//! The objects of a bucket of COS.

use groma_cloud::api::ApiRequest;
use groma_cloud::http::HttpResponse;
use groma_cloud::tencent::TencentCredentials;

use crate::error::StoreError;
use crate::store::RESTORE_OBJECT;
use crate::stores::digests::md5;
use crate::stores::token_errors::token_error;
use crate::stores::xml_bucket::{Refusal, XmlBucket, XmlService};

/// The header with the digest of an object.
const DIGEST: &str = "x-cos-meta-md5";

/// Object storage of Tencent Cloud.
pub(super) struct Cos(pub TencentCredentials);

impl XmlBucket<Cos> {
    /// Reads an object and checks its digest; `None` if it does not exist.
    pub async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(response) = self.response(key).await? else { return Ok(None) };
        let computed = md5(&response.body);
        match response.header(DIGEST) {
            Some(recorded) if recorded != computed => Err(StoreError::InvalidData {
                location: self.location(key),
                reason: format!("its digest is {computed}, and its metadata says {recorded}"),
                advice: RESTORE_OBJECT.to_owned(),
            }),
            // An object that somebody uploaded by hand has no digest, which is no reason to refuse it.
            _ => Ok(Some(response.body)),
        }
    }
}

impl XmlService for Cos {
    const NAME: &'static str = "Tencent COS";
    const PREFIX: &'static str = "cos";
    const ACL_HEADER: &'static str = "x-cos-acl";
    const LIST_OPERATION: &'static str = "GetBucket";

    async fn send(&self, _: &str, _: &str, request: ApiRequest) -> Result<HttpResponse, StoreError> {
        let failed = |problem| token_error(Self::NAME, &problem);
        let request = self.0.sign(request).await.map_err(failed)?;
        self.0.api().send(&request).await.map_err(failed)
    }

    fn digest_header(bytes: &[u8]) -> (&'static str, String) {
        (DIGEST, md5(bytes))
    }

    fn refused(&self, bucket: &str, refusal: &Refusal<'_>) -> Option<StoreError> {
        Some(match (refusal.status, refusal.code) {
            (404, _) => StoreError::NotFound {
                what: format!("the COS bucket {bucket:?}"),
                advice: format!(
                    "Check bucket (with its number, as NAME-APPID) and region, or create it in the console or with coscli mb cos://{bucket}"
                ),
            },
            (403, "InvalidAccessKeyId" | "SignatureDoesNotMatch" | "RequestTimeTooSkewed") | (401, _) => {
                StoreError::Unauthenticated {
                    service: Self::NAME.to_owned(),
                    reason: refusal.reason.clone(),
                    advice: "Check secret_id and secret_key, and the clock of this machine.".to_owned(),
                }
            }
            (403, _) => StoreError::AccessDenied {
                resource: refusal.location.clone(),
                permission: Some(refusal.permission.to_owned()),
                reason: refusal.reason.clone(),
                advice: "Grant it in the policy of the bucket or of the user (CAM). Locks also need tag:CreateTag, tag:DescribeTags and \
                         tag:DeleteTag."
                    .to_owned(),
            },
            _ => return None,
        })
    }
}
