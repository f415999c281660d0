//! The messages of the protocol, which `build.rs` generates from the definitions beside this file.
//!
//! The messages of version 5 are those of version 6, [`v5`] has but the schema messages, which differ on the wire.

#![allow(missing_docs, unused_qualifications, clippy::all, reason = "generated")]

/// Version 6, and what version 5 has in common with it.
pub mod v6 {
    include!(concat!(env!("OUT_DIR"), "/tfplugin6.rs"));
}

/// What version 5 has of its own.
pub mod v5 {
    include!(concat!(env!("OUT_DIR"), "/tfplugin5.rs"));
}

/// The services of a plugin process that have nothing to do with providers.
pub mod plugin {
    include!(concat!(env!("OUT_DIR"), "/plugin.rs"));
}

/// The health check.
pub mod health {
    include!(concat!(env!("OUT_DIR"), "/grpc.health.v1.rs"));
}
