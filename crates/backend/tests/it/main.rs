//! The stores against servers on loopback. Where a server is not installed, its tests say so and pass.

#![allow(clippy::unwrap_used)]

mod azurerm;
mod consul;
mod cos;
mod gcs;
mod kubernetes;
mod kubernetes_cluster;
mod kubernetes_protobuf;
mod kubernetes_server;
mod oci;
mod oss;
mod oss_server;
mod peers;
mod proxy;
mod remote;
mod s3;
mod s3_faults;
mod server;
mod store;
mod tls_proxy;
mod web;
