//! The shape of the file as the JSON reader sees it: borrowed text, decoded later.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct FileLayout<'a> {
    pub version: Option<u64>,
    #[serde(borrow)]
    pub terraform_version: Option<Cow<'a, str>>,
    pub serial: Option<u64>,
    #[serde(borrow)]
    pub lineage: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub outputs: Option<BTreeMap<Cow<'a, str>, OutputLayout<'a>>>,
    #[serde(borrow)]
    pub resources: Option<Vec<ResourceLayout<'a>>>,
    #[serde(borrow)]
    pub check_results: Option<Vec<CheckLayout<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct OutputLayout<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    pub value: Option<&'a RawValue>,
    #[serde(borrow, rename = "type", default, deserialize_with = "present")]
    pub ty: Option<&'a RawValue>,
    #[serde(default)]
    pub sensitive: Option<bool>,
    #[serde(borrow, default)]
    pub deprecated: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct ResourceLayout<'a> {
    #[serde(borrow)]
    pub module: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub mode: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    pub type_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub provider: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub instances: Option<Vec<InstanceLayout<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct InstanceLayout<'a> {
    #[serde(borrow)]
    pub index_key: Option<&'a RawValue>,
    #[serde(borrow)]
    pub status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub deposed: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub provider: Option<Cow<'a, str>>,
    pub schema_version: Option<u64>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub attributes: Option<&'a RawValue>,
    pub attributes_flat: Option<BTreeMap<Cow<'a, str>, Cow<'a, str>>>,
    #[serde(borrow)]
    pub sensitive_attributes: Option<&'a RawValue>,
    pub identity_schema_version: Option<u64>,
    #[serde(borrow)]
    pub identity: Option<&'a RawValue>,
    #[serde(borrow)]
    pub private: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub dependencies: Option<&'a RawValue>,
    #[serde(borrow)]
    pub depends_on: Option<&'a RawValue>,
    pub create_before_destroy: Option<bool>,
    pub skip_destroy: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct CheckLayout<'a> {
    #[serde(borrow, default)]
    pub object_kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub config_addr: Cow<'a, str>,
    #[serde(borrow, default)]
    pub status: Cow<'a, str>,
    #[serde(borrow)]
    pub objects: Option<Vec<CheckedObjectLayout<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct CheckedObjectLayout<'a> {
    #[serde(borrow, default)]
    pub object_addr: Cow<'a, str>,
    #[serde(borrow, default)]
    pub status: Cow<'a, str>,
    #[serde(borrow)]
    pub failure_messages: Option<Vec<Cow<'a, str>>>,
}

/// Keeps an explicit `null` apart from a missing key.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}
