//! Tencent Cloud: keys, and the signatures of its API (TC3) and of its object storage (COS).

mod credentials;
mod object_storage;
mod tc3;

pub use credentials::{TencentCredentials, TencentRole, TencentSettings};
pub use tc3::TencentRequest;
