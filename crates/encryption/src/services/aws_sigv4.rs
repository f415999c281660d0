//! AWS Signature Version 4.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;

use super::network::{AwsKeys, NetworkRequest};
use crate::error::KeyError;

/// Adds the headers that authenticate a request with Signature Version 4.
pub(super) fn signed(
    mut request: NetworkRequest,
    service: &str,
    region: &str,
    keys: &AwsKeys,
) -> Result<NetworkRequest, KeyError> {
    let failed = |error: &dyn std::fmt::Display| KeyError::system(format!("cannot sign the request: {error}"));
    let identity = Credentials::new(&*keys.id, &*keys.secret, keys.session.clone(), None, "key provider").into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(service)
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| failed(&error))?
        .into();
    let headers = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let signable =
        SignableRequest::new(request.method, request.url.as_str(), headers, SignableBody::Bytes(&request.body))
            .map_err(|error| failed(&error))?;
    let (instructions, _) = sign(signable, &parameters).map_err(|error| failed(&error))?.into_parts();
    let more: Vec<_> = instructions.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    request.headers.extend(more);
    Ok(request)
}
