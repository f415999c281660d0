//! The messages of the protocol, which `build.rs` generates from the definitions in this directory.
//!
//! Version 5 shares the messages of version 6; [`v5`] contains only the schema messages, which differ on the wire.

#![allow(missing_docs, unused_qualifications, clippy::all, reason = "generated")]

/// Version 6, and the messages that both versions share.
pub mod v6 {
    include!(concat!(env!("OUT_DIR"), "/tfplugin6.rs"));
}

/// The messages that differ in version 5.
pub mod v5 {
    include!(concat!(env!("OUT_DIR"), "/tfplugin5.rs"));
}

/// The auxiliary services of a plugin process: shutdown, standard streams, broker.
pub mod plugin {
    include!(concat!(env!("OUT_DIR"), "/plugin.rs"));
}

/// The gRPC health checking protocol.
pub mod health {
    include!(concat!(env!("OUT_DIR"), "/grpc.health.v1.rs"));
}
