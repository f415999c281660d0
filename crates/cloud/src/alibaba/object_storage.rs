//! Signatures of object storage (OSS), version 1, as the peers send them.

use std::time::SystemTime;

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use futures_util::future::BoxFuture;

use super::credentials::AlibabaCredentials;
use super::signature;
use crate::api::ApiRequest;
use crate::error::TokenError;
use crate::keys::Keys;

impl AlibabaCredentials {
    /// Adds the headers that sign a request to object storage. `resource` is the object of the request, `/BUCKET/KEY`, with
    /// the subresources that are part of the signature. All other headers must be set before.
    ///
    /// # Errors
    /// There are no keys.
    pub fn sign_object_request<'a>(
        &'a self,
        request: ApiRequest,
        resource: &'a str,
    ) -> BoxFuture<'a, Result<ApiRequest, TokenError>> {
        Box::pin(async move {
            let keys = self.keys().await?;
            let request = match &keys.token {
                Some(token) => request.with_header("x-oss-security-token", token.reveal()),
                None => request,
            };
            let date = DateTime::from(SystemTime::now()).fmt(Format::HttpDate);
            let date = date.map_err(|_| TokenError::System("the clock of the system is wrong".to_owned()))?;
            let request = request.with_header("date", date);
            let authorization = authorization(&request, &keys, resource);
            Ok(request.with_header("authorization", authorization))
        })
    }
}

fn authorization(request: &ApiRequest, keys: &Keys, resource: &str) -> String {
    let header = |name: &str| {
        let mut headers = request.headers.iter();
        headers.find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    };
    // Of the headers, the signature covers these and the four below, these sorted by name.
    let mut own: Vec<String> = request
        .headers
        .iter()
        .filter(|(name, _)| name.starts_with("x-oss-"))
        .map(|(name, value)| format!("{name}:{value}\n"))
        .collect();
    own.sort();
    let text = format!(
        "{}\n{}\n{}\n{}\n{}{resource}",
        request.method,
        header("content-md5"),
        header("content-type"),
        header("date"),
        own.concat()
    );
    format!("OSS {}:{}", keys.id, signature(keys.key.reveal(), &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_that_of_terraform() {
        // Recorded from Terraform 1.15, which lists the objects of a bucket.
        let request = ApiRequest::get("http://127.0.0.1/states/?max-keys=1000")
            .with_header("date", "Sun, 29 Nov 2026 06:11:23 GMT");
        let keys = Keys::fixed("a", "b");
        assert_eq!(authorization(&request, &keys, "/states/"), "OSS a:9bVTn1qIQOmlaUPze2T1cMaPCaM=");
        let sealed = request.with_header("x-oss-b", "2").with_header("x-oss-a", "1");
        assert_ne!(authorization(&sealed, &keys, "/states/"), "OSS a:9bVTn1qIQOmlaUPze2T1cMaPCaM=");
    }
}
