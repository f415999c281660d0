//! The shape of the file as the JSON reader sees it: borrowed text, decoded later.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Takes in the parts of a file one after the other, so that a large file is never in memory as layout and as state.
pub(super) trait FileParts<'a> {
    fn version(&mut self, version: Option<u64>);
    fn terraform_version(&mut self, version: Option<String>);
    fn serial(&mut self, serial: Option<u64>);
    fn lineage(&mut self, lineage: Option<String>);
    fn outputs(&mut self, outputs: Option<OutputsLayout<'a>>) -> Result<(), Refused>;
    fn resource(&mut self, resource: ResourceLayout<'a>) -> Result<(), Refused>;
    fn check_results(&mut self, results: Option<Vec<CheckLayout<'a>>>);
}

/// Says that a part was refused, and that the parts' taker knows why.
pub(super) struct Refused;

/// Reads a file into `parts`.
pub(super) fn read_file<'a>(text: &'a str, parts: &mut impl FileParts<'a>) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_str(text);
    json.deserialize_map(FileVisitor(parts))?;
    // Anything after the document means that the file was damaged or concatenated.
    json.end()
}

struct FileVisitor<'p, P>(&'p mut P);

impl<'a, P: FileParts<'a>> Visitor<'a> for FileVisitor<'_, P> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a state file's object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<Cow<'a, str>>()? {
            match &*key {
                "version" => self.0.version(map.next_value()?),
                "terraform_version" => self.0.terraform_version(map.next_value()?),
                "serial" => self.0.serial(map.next_value()?),
                "lineage" => self.0.lineage(map.next_value()?),
                "outputs" => self.0.outputs(map.next_value()?).map_err(refused)?,
                "resources" => map.next_value_seed(Resources(self.0))?,
                "check_results" => self.0.check_results(map.next_value()?),
                // Newer versions and other tools may add keys; Terraform ignores unknown ones as well.
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct Resources<'p, P>(&'p mut P);

impl<'a, P: FileParts<'a>> DeserializeSeed<'a> for Resources<'_, P> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a, P: FileParts<'a>> Visitor<'a> for Resources<'_, P> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of resources")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        // `null` means no resources, like a missing member.
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut list: S) -> Result<(), S::Error> {
        while let Some(resource) = list.next_element()? {
            self.0.resource(resource).map_err(refused)?;
        }
        Ok(())
    }
}

fn refused<E: Error>(_: Refused) -> E {
    E::custom("refused")
}

/// The outputs by name.
pub(super) type OutputsLayout<'a> = BTreeMap<Cow<'a, str>, OutputLayout<'a>>;

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

/// Distinguishes an explicit `null` from a missing key.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}
