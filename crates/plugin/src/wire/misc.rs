//! Conversion of capabilities, deferrals, private data and timestamps.

use std::time::{Duration, SystemTime};

use groma_provider::{ClientCapabilities, Deferred, Private, ServerCapabilities};
use prost::bytes::Bytes;
use prost_types::Timestamp;

use crate::proto::v6::{self, deferred::Reason};

/// Decodes the optional features of a provider.
pub fn server_capabilities(message: Option<&v6::ServerCapabilities>) -> ServerCapabilities {
    let message = message.copied().unwrap_or_default();
    ServerCapabilities {
        plan_destroy: message.plan_destroy,
        get_provider_schema_optional: message.get_provider_schema_optional,
        move_resource_state: message.move_resource_state,
        generate_resource_config: message.generate_resource_config,
        // The protocol cannot express the next two, so plugins never have them.
        repeatable_create: false,
        is_pure: false,
    }
}

/// Encodes the optional features of a provider.
pub fn server_capabilities_message(capabilities: ServerCapabilities) -> v6::ServerCapabilities {
    v6::ServerCapabilities {
        plan_destroy: capabilities.plan_destroy,
        get_provider_schema_optional: capabilities.get_provider_schema_optional,
        move_resource_state: capabilities.move_resource_state,
        generate_resource_config: capabilities.generate_resource_config,
    }
}

/// Decodes the optional features of a caller.
pub fn client_capabilities(message: Option<&v6::ClientCapabilities>) -> ClientCapabilities {
    let message = message.copied().unwrap_or_default();
    ClientCapabilities {
        deferral_allowed: message.deferral_allowed,
        write_only_attributes_allowed: message.write_only_attributes_allowed,
    }
}

/// Encodes the optional features of a caller.
pub fn capabilities_message(capabilities: ClientCapabilities) -> v6::ClientCapabilities {
    v6::ClientCapabilities {
        deferral_allowed: capabilities.deferral_allowed,
        write_only_attributes_allowed: capabilities.write_only_attributes_allowed,
        ..Default::default()
    }
}

/// Decodes the reason of a deferral.
pub fn deferred(message: Option<v6::Deferred>) -> Option<Deferred> {
    Some(match message?.reason() {
        Reason::Unknown => Deferred::Unknown,
        Reason::ResourceConfigUnknown => Deferred::ResourceConfigUnknown,
        Reason::ProviderConfigUnknown => Deferred::ProviderConfigUnknown,
        Reason::AbsentPrereq => Deferred::AbsentPrerequisite,
    })
}

/// Encodes the reason of a deferral.
pub fn deferred_message(deferred: Option<Deferred>) -> Option<v6::Deferred> {
    let reason = match deferred? {
        Deferred::Unknown => Reason::Unknown,
        Deferred::ResourceConfigUnknown => Reason::ResourceConfigUnknown,
        Deferred::ProviderConfigUnknown => Reason::ProviderConfigUnknown,
        Deferred::AbsentPrerequisite => Reason::AbsentPrereq,
    };
    Some(v6::Deferred { reason: reason.into() })
}

/// Decodes private data.
pub fn private(bytes: &Bytes) -> Private {
    Private::from(&bytes[..])
}

/// Encodes private data.
pub fn private_bytes(private: &Private) -> Bytes {
    Bytes::copy_from_slice(private)
}

/// Decodes a timestamp; `None` if it is out of range.
pub fn time(message: Option<Timestamp>) -> Option<SystemTime> {
    SystemTime::try_from(message?).ok()
}

/// Encodes a timestamp.
pub fn time_message(time: Option<SystemTime>) -> Option<Timestamp> {
    let since = time?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Some(Timestamp {
        seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(since.subsec_nanos()).unwrap_or_default(),
    })
}
