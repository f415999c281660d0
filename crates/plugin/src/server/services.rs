//! The gRPC services of both versions, over one adapter.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use groma_provider::ProviderDiagnostics;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status, Streaming, async_trait};

use super::adapter::{Adapter, Step};
use crate::proto::v5::provider_server::Provider as V5;
use crate::proto::v6::provider_server::Provider as V6;
use crate::proto::{v5, v6};
use crate::wire;

/// The provider service of one version.
#[derive(Clone)]
pub(super) struct Service(pub Arc<Adapter>);

/// Responses that can say nothing but problems.
trait Problematic {
    fn of(problems: &ProviderDiagnostics) -> Self;
}

macro_rules! problematic {
    ($($module:ident),* $(,)?) => {
        $(#[allow(clippy::needless_update, reason = "some of these responses have nothing but problems")]
        impl Problematic for v6::$module::Response {
            fn of(problems: &ProviderDiagnostics) -> Self {
                Self { diagnostics: wire::diagnostics_message(problems), ..Self::default() }
            }
        })*
    };
}

problematic!(
    apply_resource_change,
    close_ephemeral_resource,
    configure_provider,
    generate_resource_config,
    import_resource_state,
    move_resource_state,
    open_ephemeral_resource,
    plan_action,
    plan_resource_change,
    read_data_source,
    read_resource,
    delete_state,
    unlock_state,
    upgrade_resource_identity,
    upgrade_resource_state,
    validate_action_config,
    validate_data_resource_config,
    validate_ephemeral_resource_config,
    validate_list_resource_config,
    validate_provider_config,
    validate_resource_config,
    validate_state_store_config,
    configure_state_store,
    write_state_bytes,
);

fn told<R: Problematic>(step: Step<R>) -> R {
    step.unwrap_or_else(|problems| R::of(&problems))
}

fn only_problems<R: Problematic>(step: Step<ProviderDiagnostics>) -> R {
    R::of(&step.unwrap_or_else(|problems| problems))
}

/// Answers, or says that the provider's code panicked; other calls go on.
async fn answered<R>(answer: impl Future<Output = R> + Send) -> Result<Response<R>, Status> {
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(response) => Ok(Response::new(response)),
        Err(panic) => Err(panicked(&*panic)),
    }
}

/// What to answer when the provider's code panicked.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Status {
    Status::internal(format!("the provider's code panicked: {}", panic_text(panic)))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

macro_rules! service {
    ($version:ident { $(@$schema:ident -> $schema_module:ident, $schemas:ident;)* $(+ { $($also:tt)* })? } { $($method:ident($module:ident) = |$adapter:ident, $message:ident| $answer:expr;)* }) => {
        #[async_trait]
        impl $version for Service {
            $(async fn $schema(
                &self,
                _: Request<v6::get_provider_schema::Request>,
            ) -> Result<Response<$schema_module::get_provider_schema::Response>, Status> {
                answered(async { self.0.$schemas() }).await
            })*

            $(async fn $method(
                &self,
                request: Request<v6::$module::Request>,
            ) -> Result<Response<v6::$module::Response>, Status> {
                let ($adapter, $message) = (&*self.0, request.into_inner());
                answered(async move { $answer }).await
            })*

            async fn list_resource(
                &self,
                request: Request<v6::list_resource::Request>,
            ) -> Result<Response<BoxStream<v6::list_resource::Event>>, Status> {
                Ok(Response::new(self.0.list_resource(request.into_inner())))
            }

            async fn invoke_action(
                &self,
                request: Request<v6::invoke_action::Request>,
            ) -> Result<Response<BoxStream<v6::invoke_action::Event>>, Status> {
                Ok(Response::new(self.0.invoke_action(request.into_inner())))
            }

            $($($also)*)?
        }
    };
}

/// The calls that differ between the versions in their names alone are given first, then what is the same.
macro_rules! services {
    ($($version:ident { $(@$schema:ident -> $schema_module:ident, $schemas:ident;)* $(+ { $($also:tt)* })? $($own:ident($own_module:ident) = |$a:ident, $m:ident| $own_answer:expr;)* })*; $same:tt) => {
        $(services!(@one $version { $(@$schema -> $schema_module, $schemas;)* $(+ { $($also)* })? } { $($own($own_module) = |$a, $m| $own_answer;)* } $same);)*
    };
    (@one $version:ident $schema:tt { $($own:tt)* } { $($same:tt)* }) => {
        service!($version $schema { $($own)* $($same)* });
    };
}

services! {
    V6 {
        @get_provider_schema -> v6, get_schema_v6;
        + {
            async fn read_state_bytes(
                &self,
                request: Request<v6::read_state_bytes::Request>,
            ) -> Result<Response<BoxStream<v6::read_state_bytes::ResponseChunk>>, Status> {
                Ok(Response::new(self.0.read_state(request.into_inner())))
            }

            async fn write_state_bytes(
                &self,
                request: Request<Streaming<v6::write_state_bytes::RequestChunk>>,
            ) -> Result<Response<v6::write_state_bytes::Response>, Status> {
                let written = answered(self.0.write_state(request.into_inner())).await?.into_inner()?;
                Ok(Response::new(only_problems(written)))
            }
        }
        validate_state_store_config(validate_state_store_config) = |adapter, message| only_problems(adapter.validate_store(message).await);
        configure_state_store(configure_state_store) = |adapter, message| told(adapter.configure_store(message).await);
        lock_state(lock_state) = |adapter, message| adapter.lock_state(message).await;
        unlock_state(unlock_state) = |adapter, message| only_problems(Ok(adapter.unlock_state(message).await));
        get_states(get_states) = |adapter, message| adapter.states(message).await;
        delete_state(delete_state) = |adapter, message| only_problems(Ok(adapter.delete_state(message).await));
        validate_provider_config(validate_provider_config) = |adapter, message| only_problems(adapter.validate_provider(message).await);
        configure_provider(configure_provider) = |adapter, message| only_problems(adapter.configure(message).await);
        validate_resource_config(validate_resource_config) = |adapter, message| only_problems(adapter.validate_resource(message).await);
        validate_data_resource_config(validate_data_resource_config) = |adapter, message| only_problems(adapter.validate_data(message).await);
        stop_provider(stop_provider) = |adapter, _message| { adapter.provider().stop(); v6::stop_provider::Response::default() };
    }
    V5 {
        @get_schema -> v5, get_schema_v5;
        prepare_provider_config(validate_provider_config) = |adapter, message| only_problems(adapter.validate_provider(message).await);
        configure(configure_provider) = |adapter, message| only_problems(adapter.configure(message).await);
        validate_resource_type_config(validate_resource_config) = |adapter, message| only_problems(adapter.validate_resource(message).await);
        validate_data_source_config(validate_data_resource_config) = |adapter, message| only_problems(adapter.validate_data(message).await);
        stop(stop_provider) = |adapter, _message| { adapter.provider().stop(); v6::stop_provider::Response::default() };
    };
    {
        get_metadata(get_metadata) = |adapter, _message| adapter.get_metadata();
        get_resource_identity_schemas(get_resource_identity_schemas) = |adapter, _message| adapter.get_identity_schemas();
        get_functions(get_functions) = |adapter, _message| v6::get_functions::Response { functions: adapter.functions(), diagnostics: Vec::new() };
        upgrade_resource_state(upgrade_resource_state) = |adapter, message| told(adapter.upgrade_state(message).await);
        upgrade_resource_identity(upgrade_resource_identity) = |adapter, message| told(adapter.upgrade_identity(message).await);
        read_resource(read_resource) = |adapter, message| told(adapter.read(message).await);
        plan_resource_change(plan_resource_change) = |adapter, message| told(adapter.plan(message).await);
        apply_resource_change(apply_resource_change) = |adapter, message| told(adapter.apply(message).await);
        import_resource_state(import_resource_state) = |adapter, message| told(adapter.import(message).await);
        move_resource_state(move_resource_state) = |adapter, message| told(adapter.take_over(message).await);
        read_data_source(read_data_source) = |adapter, message| told(adapter.read_data(message).await);
        validate_ephemeral_resource_config(validate_ephemeral_resource_config) = |adapter, message| only_problems(adapter.validate_ephemeral(message).await);
        open_ephemeral_resource(open_ephemeral_resource) = |adapter, message| told(adapter.open(message).await);
        renew_ephemeral_resource(renew_ephemeral_resource) = |adapter, message| adapter.renew(message).await;
        close_ephemeral_resource(close_ephemeral_resource) = |adapter, message| only_problems(Ok(adapter.close(message).await));
        generate_resource_config(generate_resource_config) = |adapter, message| told(adapter.generate_config(message).await);
        validate_list_resource_config(validate_list_resource_config) = |adapter, message| only_problems(adapter.validate_list(message).await);
        validate_action_config(validate_action_config) = |adapter, message| only_problems(adapter.validate_action(message).await);
        plan_action(plan_action) = |adapter, message| told(adapter.plan_action(message).await);
        call_function(call_function) = |adapter, message| adapter.call(message).await;
    }
}
