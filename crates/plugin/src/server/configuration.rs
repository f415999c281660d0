//! Calls for provider configuration, validation, data sources, ephemeral resources and functions.

use std::sync::Arc;

use groma_provider::{
    CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest, FunctionError, OpenEphemeralRequest,
    ProviderDiagnostics, ReadDataRequest, RenewEphemeralRequest, ValidateProviderRequest,
};
use groma_value::Value;
use prost::bytes::Bytes;

use super::adapter::{Adapter, StepResult, decode_request, encode_response, validation};
use crate::proto::v6;
use crate::wire;

/// The result of calls that respond with diagnostics alone.
type Problems = StepResult<ProviderDiagnostics>;

impl Adapter {
    pub async fn validate_provider(&self, message: v6::validate_provider_config::Request) -> Problems {
        let own = self.own_schema()?;
        let config = decode_request(message.config.as_ref(), own.config.block.implied_type(), "the configuration")?;
        Ok(self.provider().validate_provider_config(ValidateProviderRequest { config }).await)
    }

    pub async fn configure(&self, message: v6::configure_provider::Request) -> Problems {
        let own = self.own_schema()?;
        let request = ConfigureRequest {
            config: decode_request(message.config.as_ref(), own.config.block.implied_type(), "the configuration")?,
            terraform_version: message.terraform_version,
            client_capabilities: wire::client_capabilities(message.client_capabilities.as_ref()),
        };
        Ok(self.provider().configure(request).await)
    }

    pub async fn validate_resource(&self, message: v6::validate_resource_config::Request) -> Problems {
        let schema = self.resource(&message.type_name)?;
        let mut request = validation(message.type_name, message.config.as_ref(), &schema)?;
        request.client_capabilities = wire::client_capabilities(message.client_capabilities.as_ref());
        Ok(self.provider().validate_resource(request).await)
    }

    pub async fn validate_data(&self, message: v6::validate_data_resource_config::Request) -> Problems {
        let schema = self.data_source(&message.type_name)?;
        let request = validation(message.type_name, message.config.as_ref(), &schema)?;
        Ok(self.provider().validate_data(request).await)
    }

    pub async fn validate_ephemeral(&self, message: v6::validate_ephemeral_resource_config::Request) -> Problems {
        let schema = self.ephemeral(&message.type_name)?;
        let request = validation(message.type_name, message.config.as_ref(), &schema)?;
        Ok(self.provider().validate_ephemeral(request).await)
    }

    pub async fn read_data(
        &self,
        message: v6::read_data_source::Request,
    ) -> StepResult<v6::read_data_source::Response> {
        let schema = self.data_source(&message.type_name)?;
        let ty = schema.block.implied_type();
        let request = ReadDataRequest {
            // The protocol does not transmit the address of the data source.
            address: None,
            config: decode_request(message.config.as_ref(), ty, "the configuration")?,
            meta: self.meta(message.provider_meta.as_ref())?,
            client_capabilities: wire::client_capabilities(message.client_capabilities.as_ref()),
            type_name: message.type_name.into(),
        };
        let mut response = self.provider().read_data(request).await;
        Ok(v6::read_data_source::Response {
            state: encode_response(&response.state, ty, &mut response.diagnostics),
            deferred: wire::deferred_message(response.deferred),
            diagnostics: wire::diagnostics_message(&response.diagnostics),
        })
    }

    pub async fn open(
        &self,
        message: v6::open_ephemeral_resource::Request,
    ) -> StepResult<v6::open_ephemeral_resource::Response> {
        let schema = self.ephemeral(&message.type_name)?;
        let ty = schema.block.implied_type();
        let request = OpenEphemeralRequest {
            config: decode_request(message.config.as_ref(), ty, "the configuration")?,
            client_capabilities: wire::client_capabilities(message.client_capabilities.as_ref()),
            type_name: message.type_name.into(),
        };
        let mut response = self.provider().open_ephemeral(request).await;
        Ok(v6::open_ephemeral_resource::Response {
            result: encode_response(&response.result, ty, &mut response.diagnostics),
            renew_at: wire::time_message(response.renew_at),
            private: Some(wire::private_bytes(&response.private)),
            deferred: wire::deferred_message(response.deferred),
            diagnostics: wire::diagnostics_message(&response.diagnostics),
        })
    }

    pub async fn renew(
        &self,
        message: v6::renew_ephemeral_resource::Request,
    ) -> v6::renew_ephemeral_resource::Response {
        let private = private(message.private.as_ref());
        let request = RenewEphemeralRequest { type_name: message.type_name.into(), private };
        let response = self.provider().renew_ephemeral(request).await;
        v6::renew_ephemeral_resource::Response {
            renew_at: wire::time_message(response.renew_at),
            private: Some(wire::private_bytes(&response.private)),
            diagnostics: wire::diagnostics_message(&response.diagnostics),
        }
    }

    pub async fn close(&self, message: v6::close_ephemeral_resource::Request) -> ProviderDiagnostics {
        let private = private(message.private.as_ref());
        let request = CloseEphemeralRequest { type_name: message.type_name.into(), private };
        self.provider().close_ephemeral(request).await
    }

    pub async fn call(&self, message: v6::call_function::Request) -> v6::call_function::Response {
        use v6::call_function::Response;
        match self.called(message).await {
            Ok(result) => Response { result: Some(result), error: None },
            Err(error) => Response { result: None, error: Some(wire::function_error_message(&error)) },
        }
    }

    async fn called(&self, message: v6::call_function::Request) -> Result<v6::DynamicValue, FunctionError> {
        let function_error = |text: String, argument| FunctionError { argument, ..FunctionError::new(text) };
        let Some(signature) = self.function(&message.name).await else {
            return Err(function_error(format!("This provider has no function named \"{}\".", message.name), None));
        };
        let arguments = message.arguments.iter().enumerate().map(|(position, argument)| {
            // Positions beyond the parameters belong to the variadic one.
            let parameter = signature.parameters.get(position).or(signature.variadic.as_ref());
            let parameter = parameter.ok_or_else(|| {
                function_error("The call has more arguments than the function has parameters.".to_owned(), None)
            })?;
            wire::decode(Some(argument), &parameter.ty)
                .map_err(|error| function_error(error.to_string(), Some(position)))
        });
        let arguments: Vec<Value> = arguments.collect::<Result<_, _>>()?;
        // Checked here, so that the provider's code can rely on the number of its arguments.
        if arguments.len() < signature.parameters.len() {
            return Err(function_error(
                "The call has fewer arguments than the function has parameters.".to_owned(),
                None,
            ));
        }
        let request = CallFunctionRequest { name: message.name.into(), signature: Arc::clone(&signature), arguments };
        let result = self.provider().call_function(request).await?;
        wire::encode(&result, &signature.return_type).map_err(|error| {
            function_error(format!("The result does not match the function's return type: {error}."), None)
        })
    }
}

fn private(bytes: Option<&Bytes>) -> Arc<[u8]> {
    bytes.map(wire::private).unwrap_or_default()
}
