//! The services of a plugin process that have nothing to do with providers: its end, its streams, its health.

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

/// The name that hosts ask about.
const SERVICE: &str = "plugin";

type BoxedStream<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// That the process is to end; every holder can say so and wait for it.
#[derive(Clone)]
pub(super) struct End(Arc<watch::Sender<bool>>);

impl End {
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// The process is to end.
    pub fn come(&self) {
        self.0.send_replace(true);
    }

    /// Waits for it.
    pub async fn wait(&self) {
        let _ = self.0.subscribe().wait_for(|come| *come).await;
    }

    /// A stream of `items` that stays open until the end.
    fn held<T: Send + 'static>(&self, items: Vec<T>) -> BoxedStream<T> {
        let end = self.clone();
        let state = (items.into_iter(), end);
        Box::pin(stream::unfold(state, |(mut items, end)| async move {
            match items.next() {
                Some(item) => Some((Ok(item), (items, end))),
                None => {
                    end.wait().await;
                    None
                }
            }
        }))
    }
}

#[async_trait]
impl GrpcController for End {
    async fn shutdown(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        self.come();
        Ok(Response::new(Empty {}))
    }
}

#[async_trait]
impl GrpcStdio for End {
    type StreamStdioStream = BoxedStream<StdioData>;

    /// Nothing is sent here: the host reads the standard streams themselves too.
    async fn stream_stdio(&self, _: Request<()>) -> Result<Response<Self::StreamStdioStream>, Status> {
        Ok(Response::new(self.held(Vec::new())))
    }
}

#[async_trait]
impl GrpcBroker for End {
    type StartStreamStream = BoxedStream<ConnInfo>;

    /// Hosts open it and wait for further connections; providers of this protocol make none.
    async fn start_stream(&self, _: Request<Streaming<ConnInfo>>) -> Result<Response<Self::StartStreamStream>, Status> {
        Ok(Response::new(self.held(Vec::new())))
    }
}

#[async_trait]
impl Health for End {
    type WatchStream = BoxedStream<HealthCheckResponse>;

    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        match status_of(&request.into_inner().service) {
            Some(status) => Ok(Response::new(HealthCheckResponse { status: status.into() })),
            None => Err(Status::not_found("there is no such service")),
        }
    }

    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let status = status_of(&request.into_inner().service).unwrap_or(ServingStatus::ServiceUnknown);
        Ok(Response::new(self.held(vec![HealthCheckResponse { status: status.into() }])))
    }
}

fn status_of(service: &str) -> Option<ServingStatus> {
    (service.is_empty() || service == SERVICE).then_some(ServingStatus::Serving)
}
