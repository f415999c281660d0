//! Remote backends through the command line, against servers on loopback, and beside Terraform on the same states.

mod consul;
mod consul_server;
mod http;
mod http_server;
mod migration;
mod postgres;
mod project;
mod s3;
mod web;
