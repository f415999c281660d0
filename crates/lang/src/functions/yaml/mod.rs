//! YAML documents as values, and values as YAML documents, as Terraform reads and writes them.

mod input;
mod read;
mod scalar;
mod write;

pub(super) use read::decode;
pub(super) use write::encode;
