//! Auxiliary services of a plugin process: shutdown, standard streams, broker, health.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, stream};
use tokio::sync::watch;
use tonic::{Request, Response, Status, Streaming, async_trait};

use crate::proto::health::health_check_response::ServingStatus;
use crate::proto::health::health_server::Health;
use crate::proto::health::{HealthCheckRequest, HealthCheckResponse};
use crate::proto::plugin::grpc_broker_server::GrpcBroker;
use crate::proto::plugin::grpc_controller_server::GrpcController;
use crate::proto::plugin::grpc_stdio_server::GrpcStdio;
use crate::proto::plugin::{ConnInfo, Empty, StdioData};

/// The service name in health checks of go-plugin hosts.
const SERVICE: &str = "plugin";

type BoxedStream<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The shutdown signal of the process; every holder can trigger it and wait for it.
#[derive(Clone)]
pub(super) struct Shutdown(Arc<watch::Sender<bool>>);

impl Shutdown {
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Triggers the shutdown for all holders.
    pub fn trigger(&self) {
        // Stored even if nobody waits yet.
        self.0.send_replace(true);
    }

    /// Waits for the shutdown.
    pub async fn wait(&self) {
        let _ = self.0.subscribe().wait_for(|come| *come).await;
    }

    /// Streams `items`, and stays open until the shutdown.
    fn stream_until_shutdown<T: Send + 'static>(&self, items: Vec<T>) -> BoxedStream<T> {
        let shutdown = self.clone();
        let state = (items.into_iter(), shutdown);
        Box::pin(stream::unfold(state, |(mut items, shutdown)| async move {
            match items.next() {
                Some(item) => Some((Ok(item), (items, shutdown))),
                None => {
                    // An ended stream would look like a broken connection to go-plugin hosts.
                    shutdown.wait().await;
                    None
                }
            }
        }))
    }
}

#[async_trait]
impl GrpcController for Shutdown {
    async fn shutdown(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        self.trigger();
        Ok(Response::new(Empty {}))
    }
}

#[async_trait]
impl GrpcStdio for Shutdown {
    type StreamStdioStream = BoxedStream<StdioData>;

    /// Sends nothing: the host also reads the standard streams directly.
    async fn stream_stdio(&self, _: Request<()>) -> Result<Response<Self::StreamStdioStream>, Status> {
        Ok(Response::new(self.stream_until_shutdown(Vec::new())))
    }
}

#[async_trait]
impl GrpcBroker for Shutdown {
    type StartStreamStream = BoxedStream<ConnInfo>;

    /// Stays silent: hosts wait for additional connections here, but providers never open any.
    async fn start_stream(&self, _: Request<Streaming<ConnInfo>>) -> Result<Response<Self::StartStreamStream>, Status> {
        Ok(Response::new(self.stream_until_shutdown(Vec::new())))
    }
}

#[async_trait]
impl Health for Shutdown {
    type WatchStream = BoxedStream<HealthCheckResponse>;

    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        match status_of(&request.into_inner().service) {
            Some(status) => Ok(Response::new(HealthCheckResponse { status: status.into() })),
            // The status that the gRPC health checking protocol prescribes for unknown services.
            None => Err(Status::not_found("unknown service")),
        }
    }

    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let status = status_of(&request.into_inner().service).unwrap_or(ServingStatus::ServiceUnknown);
        Ok(Response::new(self.stream_until_shutdown(vec![HealthCheckResponse { status: status.into() }])))
    }
}

fn status_of(service: &str) -> Option<ServingStatus> {
    (service.is_empty() || service == SERVICE).then_some(ServingStatus::Serving)
}
