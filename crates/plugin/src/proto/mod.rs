//! The messages of the protocol, which `cargo xtask protocol` generates from the definitions in this directory.
//!
//! Version 5 shares the messages of version 6; [`v5`] contains only the schema messages, which differ on the wire.

#![allow(missing_docs, unused_qualifications, clippy::all, reason = "generated")]

/// Version 6, and the messages that both versions share.
pub mod v6 {
    include!("generated/tfplugin6.rs");
}

/// The messages that differ in version 5.
pub mod v5 {
    include!("generated/tfplugin5.rs");
}

/// The auxiliary services of a plugin process: shutdown, standard streams, broker.
pub mod plugin {
    include!("generated/plugin.rs");
}

/// The gRPC health checking protocol.
pub mod health {
    include!("generated/grpc.health.v1.rs");
}
