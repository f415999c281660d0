//! Provider calls whose requests and responses are bytes.

use groma_plugin::transport::Connection;
use groma_plugin::{MESSAGE_LIMIT, Protocol, Raw};
use prost::Message;
use prost::bytes::Bytes;
use tonic::Request;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;

/// A result with an error message for the terminal.
pub type Outcome<T> = Result<T, String>;

/// One encoded call, which can be sent repeatedly.
#[derive(Clone, Debug)]
pub struct Call {
    path: PathAndQuery,
    message: Bytes,
}

impl Call {
    /// Creates a call from the method's names in versions 5 and 6.
    pub fn new(protocol: Protocol, names: [&str; 2], message: &impl Message) -> Self {
        let path = match protocol {
            Protocol::V5 => format!("/tfplugin5.Provider/{}", names[0]),
            Protocol::V6 => format!("/tfplugin6.Provider/{}", names[1]),
        };
        let path = PathAndQuery::try_from(path).unwrap_or_else(|_| PathAndQuery::from_static("/"));
        Self { path, message: message.encode_to_vec().into() }
    }
}

/// Sends a call and returns the undecoded response.
pub async fn ask(connection: &Connection, call: &Call) -> Outcome<Bytes> {
    let mut client = Grpc::new(connection.channel())
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    client.ready().await.map_err(|error| error.to_string())?;
    let answer = client.unary(Request::new(call.message.clone()), call.path.clone(), Raw).await;
    Ok(answer.map_err(|status| format!("{}: {status}", call.path))?.into_inner())
}
