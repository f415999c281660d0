//! Reads the objects of a file with their metadata.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::dependencies::Lists;
use crate::dependencies::Dependencies;
use crate::file::layout::InstanceLayout;
use crate::file::paths;
use crate::file::problem::ObjectProblem;
use crate::json;
use crate::object::{AttributesJson, ForeignKeys, Identity, ObjectRecord, ObjectStatus};

/// Reads objects, and shares what many of them have in common.
#[derive(Default)]
pub(super) struct Objects<'a> {
    dependencies: Lists<'a>,
    empty_attributes: Option<AttributesJson>,
}

impl<'a> Objects<'a> {
    /// The object of an instance; an error is the reason why it is none.
    pub(super) fn object(&mut self, layout: InstanceLayout<'a>) -> Result<ObjectRecord, ObjectProblem> {
        let foreign = foreign_keys(&layout);
        Ok(ObjectRecord {
            status: match layout.status.as_deref().unwrap_or_default() {
                "" => ObjectStatus::Ready,
                "tainted" => ObjectStatus::Tainted,
                other => return Err(ObjectProblem::UnknownStatus(other.to_owned())),
            },
            schema_version: layout.schema_version.unwrap_or_default(),
            attributes: match layout.attributes {
                Some(raw) => AttributesJson::new(raw.get()),
                None => self.empty_attributes.get_or_insert_with(AttributesJson::empty).clone(),
            },
            sensitive_attributes: match layout.sensitive_attributes {
                Some(raw) => paths::parse(raw.get())?,
                None => Vec::new(),
            },
            private: match layout.private.as_deref().unwrap_or_default() {
                "" => Arc::default(),
                text => STANDARD.decode(text).map_err(|_| ObjectProblem::Private)?.into(),
            },
            identity: identity(&layout),
            dependencies: match layout.dependencies {
                Some(raw) => self.dependencies.read(raw.get())?,
                None => Dependencies::default(),
            },
            create_before_destroy: layout.create_before_destroy.unwrap_or_default(),
            foreign,
        })
    }
}

fn identity(layout: &InstanceLayout<'_>) -> Option<Arc<Identity>> {
    let schema_version = layout.identity_schema_version.unwrap_or_default();
    let json = layout.identity.map(|raw| AttributesJson::new(raw.get()));
    (schema_version != 0 || json.is_some()).then(|| Arc::new(Identity { schema_version, json }))
}

fn foreign_keys(layout: &InstanceLayout<'_>) -> Option<Box<ForeignKeys>> {
    let keys = ForeignKeys {
        attributes_flat: match &layout.attributes_flat {
            Some(flat) if layout.attributes.is_none() => serde_json::to_string(flat).ok().map(Into::into),
            _ => None,
        },
        provider: None,
        depends_on: layout.depends_on.filter(|raw| raw.get() != "[]").map(|raw| json::compact(raw.get()).into()),
        skip_destroy: layout.skip_destroy.unwrap_or_default(),
    };
    (keys != ForeignKeys::default()).then(|| Box::new(keys))
}
