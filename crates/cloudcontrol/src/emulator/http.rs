//! The emulator on a port, in the wire protocol of AWS (CC-60): Cloud Control in JSON, `sts:GetCallerIdentity` in XML.

use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpListener;

use super::store::Store;
use crate::api::{ApiError, Fault};

/// The region of a request that does not say.
const DEFAULT_REGION: &str = "us-east-1";
/// Bodies are refused beyond this; documents of the API end at a quarter of a megabyte.
const LARGEST_BODY: usize = 4 * 1024 * 1024;
const CONTENT_TYPE: &str = "application/x-amz-json-1.0";

/// The emulator as a server, bound to its port.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    store: Arc<Store>,
}

impl Server {
    /// Takes the port. Port 0 takes a free one: see [`Self::address`].
    pub async fn bind(address: SocketAddr, store: Arc<Store>) -> std::io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, store })
    }

    /// Returns the listening address.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the future is dropped.
    pub async fn run(self) -> std::io::Result<()> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let store = self.store.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request| answer(store.clone(), request));
                // A client that goes away is no matter of ours.
                let _ =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }
}

async fn answer(store: Arc<Store>, request: Request<Incoming>) -> std::io::Result<Response<Full<Bytes>>> {
    let latency = store.damage_cases.latency();
    if !latency.is_zero() {
        tokio::time::sleep(latency).await;
    }
    if store.damage_cases.drops() {
        return Err(std::io::ErrorKind::ConnectionReset.into());
    }
    let region = region(&request).unwrap_or_else(|| DEFAULT_REGION.to_owned());
    let target = request
        .headers()
        .get("x-amz-target")
        .and_then(|value| value.to_str().ok())
        .and_then(|target| target.strip_prefix("CloudApiService."))
        .map(str::to_owned);
    let body = match Limited::new(request.into_body(), LARGEST_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => {
            return Ok(refusal(&ApiError::new(Fault::Serialization, format!("the body cannot be read: {error}"))));
        }
    };
    Ok(match target {
        Some(operation) => match dispatch(&store, &region, &operation, &body) {
            Ok(answer) => respond(CONTENT_TYPE, answer),
            Err(error) => refusal(&error),
        },
        None if is_caller_identity(&body) => respond("text/xml", caller_identity(&store)),
        None => refusal(&ApiError::new(
            Fault::UnknownOperation,
            "this is an emulator of AWS Cloud Control: it takes POST / with X-Amz-Target: CloudApiService.<operation>",
        )),
    })
}

/// The region in the scope of the signature: `Credential=<key>/<date>/<region>/<service>/aws4_request`.
fn region(request: &Request<Incoming>) -> Option<String> {
    let authorization = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (_, scope) = authorization.split_once("Credential=")?;
    let region = scope.split(',').next()?.split('/').nth(2)?;
    (!region.is_empty()).then(|| region.to_owned())
}

fn dispatch(store: &Store, region: &str, operation: &str, body: &[u8]) -> Result<Vec<u8>, ApiError> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct ByToken {
        request_token: String,
    }
    match operation {
        "CreateResource" => progress(&store.create_resource(region, &read(body)?)?),
        "UpdateResource" => progress(&store.update_resource(region, &read(body)?)?),
        "DeleteResource" => progress(&store.delete_resource(region, &read(body)?)?),
        "GetResourceRequestStatus" => {
            let event = store.get_resource_request_status(&read::<ByToken>(body)?.request_token)?;
            write(&serde_json::json!({"ProgressEvent": event, "HooksProgressEvent": event.hooks}))
        }
        "CancelResourceRequest" => progress(&store.cancel_resource_request(&read::<ByToken>(body)?.request_token)?),
        "ListResources" => write(&store.list_resources(region, &read(body)?)?),
        "ListResourceRequests" => write(&store.list_resource_requests(&read(body)?)?),
        "GetResource" => {
            let request: crate::api::GetResource = read(body)?;
            let description = store.get_resource(region, &request)?;
            write(&serde_json::json!({"TypeName": request.type_name, "ResourceDescription": description}))
        }
        other => Err(ApiError::new(Fault::UnknownOperation, format!("there is no operation {other}"))),
    }
}

fn progress(event: &crate::api::ProgressEvent) -> Result<Vec<u8>, ApiError> {
    write(&serde_json::json!({ "ProgressEvent": event }))
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(|error| {
        let fault = if error.is_data() { Fault::Validation } else { Fault::Serialization };
        ApiError::new(fault, error.to_string())
    })
}

fn write<T: Serialize>(answer: &T) -> Result<Vec<u8>, ApiError> {
    serde_json::to_vec(answer).map_err(|error| ApiError::new(Fault::Other, error.to_string()))
}

fn is_caller_identity(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_ok_and(|text| text.split('&').any(|pair| pair == "Action=GetCallerIdentity"))
}

fn caller_identity(store: &Store) -> Vec<u8> {
    let account = store.account();
    format!(
        "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><GetCallerIdentityResult>\
         <Arn>arn:aws:iam::{account}:user/groma</Arn><UserId>AIDAGROMAEMULATOR0000</UserId><Account>{account}</Account>\
         </GetCallerIdentityResult><ResponseMetadata><RequestId>00000000-0000-4000-8000-000000000000</RequestId>\
         </ResponseMetadata></GetCallerIdentityResponse>"
    )
    .into_bytes()
}

fn respond(content_type: &'static str, body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response
}

fn refusal(error: &ApiError) -> Response<Full<Bytes>> {
    let kind = format!("com.amazonaws.cloudapiservice#{}", error.fault.code());
    let body = serde_json::json!({"__type": kind, "Message": error.message}).to_string();
    let mut response = Response::new(Full::new(Bytes::from(body)));
    let server = error.fault.is_server_fault();
    *response.status_mut() = if server { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::BAD_REQUEST };
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(CONTENT_TYPE));
    response
}
