//! Interprets resource types on first use, and again once nothing uses them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use groma_framework::{ProviderDiagnostic, ProviderDiagnostics, ResourceSchema};

use super::attributes::of_type;
use super::declare;
use super::fields::{Field, Fields};
use super::identity::Identity;
use super::tags::{self, TagAttributes};
use super::{region, secrets};
use crate::Name;
use crate::names::{Meaning, NameIndex};
use crate::schema::{Catalogue, SchemaError, TypeSchema};

/// A resource type with its attributes.
#[derive(Debug)]
pub struct Interpreted {
    /// The schema behind it.
    pub schema: Arc<TypeSchema>,
    /// The attributes of the type.
    pub fields: Fields,
    /// The schema of the resource.
    pub resource: ResourceSchema,
    /// The identity of its objects.
    pub(super) identity: Identity,
    /// The location of its tags, if it accepts the provider's tags.
    pub tags: Option<TagAttributes>,
}

impl Interpreted {
    fn new(schema: Arc<TypeSchema>) -> Result<Self, String> {
        let mut fields = of_type(&schema, further)?;
        let identity = Identity::of(&schema);
        let resource = declare::resource(&fields, identity.schema()).map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            problems.join("; ")
        })?;
        // Objects have one type, and values that share it are compared at once.
        fields.block = resource.block().clone();
        let tags = TagAttributes::of(&schema, &fields);
        Ok(Self { schema, fields, resource, identity, tags })
    }
}

/// The attributes that the provider adds to those of a type.
fn further(schema: &TypeSchema, fields: &[Field]) -> Vec<Field> {
    let tags = tags::all_tags(schema, fields).into_iter();
    tags.chain(region::attribute(fields)).chain(secrets::twins(fields)).collect()
}

/// The meaning of a resource type name.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A resource and singular data source.
    One(Arc<Interpreted>),
    /// A plural data source of a type.
    Many(Name),
}

fn unusable(cloud_name: &str, error: &SchemaError) -> ProviderDiagnostics {
    ProviderDiagnostic::error("Resource Type Schema Unusable", format!("{cloud_name}: {error}")).into()
}

/// All types of a catalogue.
#[derive(Debug)]
pub struct Types {
    catalogue: Arc<Catalogue>,
    names: OnceLock<NameIndex>,
    known: RwLock<HashMap<Name, Known>>,
}

/// The meaning of a name that was requested before. A type is freed when nothing uses it any more.
#[derive(Debug, Clone)]
enum Known {
    One(Weak<Interpreted>),
    Many(Name),
    Nothing,
}

impl Known {
    fn of(entry: Option<&Entry>) -> Self {
        match entry {
            Some(Entry::One(interpreted)) => Self::One(Arc::downgrade(interpreted)),
            Some(Entry::Many(cloud_name)) => Self::Many(cloud_name.clone()),
            None => Self::Nothing,
        }
    }
}

impl Types {
    /// The types of a catalogue, none of them interpreted yet.
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        Self { catalogue, names: OnceLock::new(), known: RwLock::default() }
    }

    /// The schemas behind the types.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Returns the resource type of a name.
    pub fn find(&self, type_name: &str) -> Result<Option<Entry>, ProviderDiagnostics> {
        // The guard ends here: interpreting a type takes time, in which other types are found.
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(type_name).cloned();
        match known {
            Some(Known::One(interpreted)) => {
                if let Some(interpreted) = interpreted.upgrade() {
                    return Ok(Some(Entry::One(interpreted)));
                }
            }
            Some(Known::Many(cloud_name)) => return Ok(Some(Entry::Many(cloud_name))),
            Some(Known::Nothing) => return Ok(None),
            None => {}
        }
        let entry = match self.names.get_or_init(|| NameIndex::new(&self.catalogue)).find(type_name) {
            Some(Meaning::One(cloud_name)) => self.interpret(cloud_name)?.map(Entry::One),
            Some(Meaning::Many(cloud_name)) => self.listable(cloud_name)?.map(Entry::Many),
            None => None,
        };
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(type_name.into(), Known::of(entry.as_ref()));
        Ok(entry)
    }

    /// A resource type; nothing if it is none.
    pub fn one(&self, type_name: &str) -> Result<Option<Arc<Interpreted>>, ProviderDiagnostics> {
        Ok(match self.find(type_name)? {
            Some(Entry::One(interpreted)) => Some(interpreted),
            _ => None,
        })
    }

    fn schema(&self, cloud_name: &str) -> Result<Option<Arc<TypeSchema>>, ProviderDiagnostics> {
        self.catalogue.get(cloud_name).map_err(|error| unusable(cloud_name, &error))
    }

    fn interpret(&self, cloud_name: &str) -> Result<Option<Arc<Interpreted>>, ProviderDiagnostics> {
        let Some(schema) = self.schema(cloud_name)? else { return Ok(None) };
        match Interpreted::new(schema) {
            Ok(interpreted) => Ok(Some(Arc::new(interpreted))),
            Err(reason) => Err(ProviderDiagnostic::error(
                "Unsupported Resource Type",
                format!("{cloud_name} cannot be offered as a resource: {reason}."),
            )
            .into()),
        }
    }

    /// A type that can be listed without further input (CC-01).
    fn listable(&self, cloud_name: &str) -> Result<Option<Name>, ProviderDiagnostics> {
        let inputs = self.catalogue.list_inputs(cloud_name).map_err(|error| unusable(cloud_name, &error))?;
        Ok(inputs.filter(Vec::is_empty).map(|_| cloud_name.into()))
    }

    /// The types that cannot be offered, with the reason (CC-01). This reads all schemas.
    pub fn unsupported(&self) -> Vec<(String, String)> {
        let mut left_out = Vec::new();
        for cloud_name in self.catalogue.type_names() {
            let reason = match self.catalogue.get(cloud_name) {
                Ok(Some(schema)) => of_type(&schema, further).err(),
                Ok(None) => None,
                Err(error) => Some(error.to_string()),
            };
            left_out.extend(reason.map(|reason| (cloud_name.to_owned(), reason)));
        }
        left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECURSIVE: [&str; 5] = [
        "awscc_wafv2_rule_group",
        "awscc_wafv2_web_acl",
        "awscc_amplifyuibuilder_component",
        "awscc_connect_evaluation_form",
        "awscc_lex_bot",
    ];

    #[test]
    fn cc_13_descriptions_do_not_change_the_attributes_of_recursive_types() {
        let plain = Types::new(Catalogue::shipped().clone());
        let described = Types::new(Arc::new(Catalogue::shipped().described()));
        for name in RECURSIVE {
            let ty = |types: &Types| types.one(name).unwrap().unwrap().resource.block().implied_type().clone();
            assert!(ty(&plain) == ty(&described), "{name}");
        }
    }

    #[test]
    fn types_are_freed_when_nothing_uses_them() {
        let types = Types::new(Catalogue::shipped().clone());
        let bucket = types.one("awscc_s3_bucket").unwrap().unwrap();
        assert!(Arc::ptr_eq(&bucket, &types.one("awscc_s3_bucket").unwrap().unwrap()));
        let weak = Arc::downgrade(&bucket);
        drop(bucket);
        assert!(weak.upgrade().is_none());
        assert!(types.one("awscc_s3_bucket").unwrap().is_some());
    }
}
