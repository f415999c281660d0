//! Reads the objects of a file with their metadata.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_address::parse_abs_resource;

use crate::dependencies::{AddressTable, Dependencies};
use crate::file::layout::InstanceLayout;
use crate::file::paths;
use crate::file::refusal::ObjectProblem;
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

/// Lists that share the table of their addresses.
#[derive(Default)]
pub(super) struct Lists<'a> {
    table: AddressTable,
    /// The number of each address.
    numbers: Known<Box<str>, u32>,
    /// By the list's text in the file: the same list at the same depth is written the same.
    lists: Known<&'a str, Dependencies>,
}

impl<'a> Lists<'a> {
    /// The list that `text` is, a JSON array of addresses.
    pub(super) fn read(&mut self, text: &'a str) -> Result<Dependencies, ObjectProblem> {
        if text == "[]" {
            return Ok(Dependencies::default());
        }
        if let Some(known) = self.lists.get(text) {
            return Ok(known.clone());
        }
        let list = match self.plain_list(text) {
            Some(list) => list?,
            None => {
                let addresses: Vec<Cow<'a, str>> =
                    serde_json::from_str(text).map_err(|_| ObjectProblem::Dependencies)?;
                addresses.iter().map(|address| self.number(address)).collect::<Result<_, _>>()?
            }
        };
        let list = self.table.list(list.into());
        self.lists.insert(text, list.clone());
        Ok(list)
    }

    /// The numbers of a JSON array of nothing but strings without escapes; none for anything else.
    ///
    /// `text` is valid JSON, so between the strings this only has to detect other values and nested arrays. There are
    /// millions of strings in large states, so each byte is read only once.
    fn plain_list(&mut self, text: &str) -> Option<Result<Vec<u32>, ObjectProblem>> {
        let mut rest = text.strip_prefix('[')?.strip_suffix(']')?;
        let mut numbers = Vec::with_capacity(rest.len() / 32);
        // What is between two strings is mostly the same.
        let mut between = "";
        loop {
            let after = match rest.strip_prefix(between) {
                Some(after) if after.starts_with('"') => after,
                _ => rest.trim_start_matches([',', ' ', '\n', '\r', '\t']),
            };
            between = &rest[..rest.len() - after.len()];
            if after.is_empty() {
                return Some(Ok(numbers));
            }
            let string = after.strip_prefix('"')?;
            let end = memchr::memchr2(b'"', b'\\', string.as_bytes())?;
            let (address, after) = string.split_at(end);
            rest = after.strip_prefix('"')?;
            match self.number(address) {
                Ok(number) => numbers.push(number),
                Err(problem) => return Some(Err(problem)),
            }
        }
    }

    fn number(&mut self, text: &str) -> Result<u32, ObjectProblem> {
        if let Some(known) = self.numbers.get(text) {
            return Ok(*known);
        }
        // Early versions of the format wrote module instances here.
        let resource =
            parse_abs_resource(text).map_err(|error| ObjectProblem::Dependency { text: text.to_owned(), error })?;
        let number = self.table.add(resource.config_resource());
        self.numbers.insert(text.into(), number);
        Ok(number)
    }
}

/// Asked several times for each instance, and once for each of its dependencies; hence the hash.
pub(super) type Known<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
