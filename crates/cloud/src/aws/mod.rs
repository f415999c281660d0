//! AWS: credentials from the official chain, endpoints, signed requests with retries.

mod client;
mod connector;
mod credentials;
mod endpoint;
mod error;
mod loading;
mod request;
mod roles;
mod service;
mod settings;
mod signing;

pub use client::{AwsClient, CallerIdentity};
pub use credentials::AwsKeys;
pub use endpoint::Addressing;
pub use error::{AwsError, CredentialsProblem, RequestError, ServiceError};
pub use request::{AwsRequest, AwsResponse};
pub use service::{AwsService, Partition};
pub use settings::{AssumeRole, AwsSettings, IpStack, MetadataService, WebIdentityRole, WebIdentityToken};
