//! The shape of the formats 1 to 3 as the JSON reader sees it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct FileLayout<'a> {
    #[serde(borrow)]
    pub terraform_version: Option<Cow<'a, str>>,
    pub serial: Option<i64>,
    #[serde(borrow)]
    pub lineage: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub modules: Option<Vec<ModuleLayout<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct ModuleLayout<'a> {
    pub path: Option<Vec<String>>,
    #[serde(borrow)]
    pub outputs: Option<BTreeMap<Cow<'a, str>, &'a RawValue>>,
    #[serde(borrow)]
    pub resources: Option<BTreeMap<Cow<'a, str>, ResourceLayout<'a>>>,
}

/// A resource of these formats, which corresponds to an instance.
#[derive(Deserialize)]
pub(super) struct ResourceLayout<'a> {
    #[serde(borrow)]
    pub provider: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub primary: Option<InstanceLayout<'a>>,
    #[serde(borrow)]
    pub deposed: Option<Vec<InstanceLayout<'a>>>,
    /// Of format 1 alone.
    #[serde(borrow)]
    pub tainted: Option<Vec<InstanceLayout<'a>>>,
}

/// An object of an instance.
#[derive(Deserialize)]
pub(super) struct InstanceLayout<'a> {
    #[serde(borrow)]
    pub id: Option<Cow<'a, str>>,
    pub attributes: Option<BTreeMap<String, String>>,
    pub meta: Option<BTreeMap<String, serde_json::Value>>,
    pub tainted: Option<bool>,
}
