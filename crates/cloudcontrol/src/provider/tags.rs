//! Tags that the provider's configuration puts on every object, and tags of others that are left alone (CC-37).
//!
//! The attribute of a type's tags holds the tags of the resource itself, in the author's form. `tags_all` holds all of them,
//! and is null as long as the provider has no default tags: then nothing looks different from a provider without this.

use std::collections::{BTreeMap, BTreeSet};

use groma_value::{Kind, Type, Value};
use serde_json::{Map, Value as Json};

use super::fields::{Field, Fields, Shape};
use crate::Name;
use crate::schema::TypeSchema;

const TAGS_ALL: &str = "tags_all";

/// The tag settings of a provider configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagSettings {
    defaults: Defaults,
    ignored_keys: BTreeSet<String>,
    ignored_prefixes: Vec<String>,
}

/// The tags that every object gets.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Defaults {
    Known(BTreeMap<String, String>),
    /// The tags depend on values that are unknown until apply.
    Unknown,
}

impl Default for Defaults {
    fn default() -> Self {
        Self::Known(BTreeMap::new())
    }
}

type Tags = BTreeMap<String, String>;

impl TagSettings {
    /// Reads the configuration of a provider.
    pub fn of(config: &Value) -> Self {
        let inside = |block: &str, name: &str| config.attribute(block).and_then(|block| block.attribute(name));
        let unknown = config.attribute("default_tags").is_some_and(|block| !block.is_wholly_known());
        let tags = inside("default_tags", "tags").as_ref().map(of_map).unwrap_or_default();
        let texts = |name: &str| inside("ignore_tags", name).as_ref().map(texts).unwrap_or_default();
        Self {
            defaults: if unknown { Defaults::Unknown } else { Defaults::Known(tags) },
            ignored_keys: texts("keys").into_iter().collect(),
            ignored_prefixes: texts("key_prefixes"),
        }
    }

    /// Returns settings with these default tags, a map of strings.
    pub fn with_defaults(tags: Option<&Value>) -> Self {
        let defaults = match tags {
            Some(tags) if !tags.is_wholly_known() => Defaults::Unknown,
            tags => Defaults::Known(tags.map(of_map).unwrap_or_default()),
        };
        Self { defaults, ..Self::default() }
    }

    fn default_tag(&self, key: &str) -> Option<&String> {
        match &self.defaults {
            Defaults::Known(tags) => tags.get(key),
            Defaults::Unknown => None,
        }
    }

    fn ignores(&self, key: &str) -> bool {
        self.ignored_keys.contains(key) || self.ignored_prefixes.iter().any(|prefix| key.starts_with(prefix))
    }

    /// Whether some tags of others are left alone. An update must read them first: it sends the tags as a whole.
    pub fn ignores_any(&self) -> bool {
        !self.ignored_keys.is_empty() || !self.ignored_prefixes.is_empty()
    }
}

fn texts(set: &Value) -> Vec<String> {
    set.as_slice().unwrap_or_default().iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn of_map(map: &Value) -> Tags {
    let entries = map.as_map().into_iter().flat_map(|view| view.iter());
    entries.filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned()))).collect()
}

/// The attribute `tags_all` of a type that takes tags of the provider's.
pub fn all_tags(schema: &TypeSchema, fields: &[Field]) -> Option<Field> {
    let free = fields.iter().all(|field| &*field.attribute != TAGS_ALL);
    let takes = fields.iter().any(|field| form(schema, field).is_some());
    (free && takes).then(|| Field::result(TAGS_ALL, Shape::Map(Box::new(Shape::Text))))
}

/// The notation of a type's tags.
#[derive(Debug, Clone)]
enum Form {
    Map,
    /// A list or set of objects with these attributes at these positions.
    Entries {
        key: usize,
        value: usize,
    },
}

/// The form of the attribute if it holds the tags of its type: of the whole object, given when it is created.
fn form(schema: &TypeSchema, field: &Field) -> Option<Form> {
    let tagging = &schema.tagging;
    let property = tagging.property.as_ref().filter(|_| tagging.taggable && tagging.on_create)?.top_level()?;
    if field.property.as_ref() != Some(property) || field.read_only() || field.write_only {
        return None;
    }
    match &field.shape {
        Shape::Map(element) if matches!(**element, Shape::Text) => Some(Form::Map),
        Shape::List(element, _) | Shape::Set(element) => match &**element {
            Shape::Object(fields) => {
                let at = |name: &str| {
                    let meant = |field: &Field| field.property.as_deref() == Some(name);
                    fields.list.iter().position(|field| meant(field) && matches!(field.shape, Shape::Text))
                };
                Some(Form::Entries { key: at("Key")?, value: at("Value")? })
            }
            _ => None,
        },
        _ => None,
    }
}

/// The location of an object's tags.
#[derive(Debug)]
pub struct TagAttributes {
    own: usize,
    all: usize,
    property: Name,
    form: Form,
    updatable: bool,
}

impl TagAttributes {
    /// The place in objects of a type, if it takes tags of the provider's.
    pub fn of(schema: &TypeSchema, fields: &Fields) -> Option<Self> {
        let all = fields.list.iter().position(|field| &*field.attribute == TAGS_ALL && field.property.is_none())?;
        let (own, form) =
            fields.list.iter().enumerate().find_map(|(index, field)| Some((index, form(schema, field)?)))?;
        let property = fields.list.get(own)?.property.clone()?;
        let updatable = schema.tagging.updatable && schema.handlers.update.is_some();
        Some(Self { own, all, property, form, updatable })
    }

    /// The planned object with all its tags, as far as they are known.
    pub fn plan(&self, settings: &TagSettings, fields: &Fields, prior: &Value, planned: &Value) -> Value {
        let before = attribute(prior, self.all);
        let is_known_before = before.as_ref().is_some_and(|all| !all.is_null()) && !prior.is_null();
        let all = match &settings.defaults {
            // Tags that cannot be changed stay as the creation has set them.
            _ if !self.updatable && !prior.is_null() => before.unwrap_or_else(no_tags),
            Defaults::Known(defaults) if defaults.is_empty() && !is_known_before => no_tags(),
            Defaults::Known(defaults) => match attribute(planned, self.own) {
                Some(own) if own.is_wholly_known() => {
                    let mut all = defaults.clone();
                    all.extend(self.own_tags(planned));
                    to_map(&all)
                }
                _ => Value::unknown(Type::map(Type::String)),
            },
            Defaults::Unknown => Value::unknown(Type::map(Type::String)),
        };
        with(fields, planned, self.all, all)
    }

    /// Returns the object for a request: with its own tags, the default ones, and those of others in `present`.
    pub fn desired(&self, settings: &TagSettings, fields: &Fields, planned: &Value, present: &Tags) -> Value {
        let mut further = match &settings.defaults {
            Defaults::Known(defaults) => defaults.clone(),
            Defaults::Unknown => Tags::new(),
        };
        let others = present.iter().filter(|(key, _)| settings.ignores(key));
        for (key, value) in others {
            // A default tag takes precedence over an ignored one with the same key.
            further.entry(key.clone()).or_insert_with(|| value.clone());
        }
        self.joined(fields, planned, &further)
    }

    /// Returns the object before an update, with its own tags and all known ones of others.
    pub fn current(&self, settings: &TagSettings, fields: &Fields, prior: &Value, present: &Tags) -> Value {
        let mut further = attribute(prior, self.all).as_ref().map(of_map).unwrap_or_default();
        further.extend(present.iter().filter(|(key, _)| settings.ignores(key)).map(|(k, v)| (k.clone(), v.clone())));
        self.joined(fields, prior, &further)
    }

    /// The tags in a document of the service.
    pub fn in_document(&self, document: &Map<String, Json>) -> Tags {
        match document.get(&*self.property) {
            Some(Json::Array(entries)) => entries.iter().filter_map(entry).collect(),
            Some(Json::Object(members)) => {
                let texts = members.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
                texts.collect()
            }
            _ => Tags::new(),
        }
    }

    /// Takes the tags out of a document that do not belong to the resource itself: default ones and those of others, unless
    /// `known` has them as its own.
    pub fn hide(&self, settings: &TagSettings, known: &Value, document: &mut Map<String, Json>) {
        let own = self.own_tags(known);
        let before = attribute(known, self.all).as_ref().map(of_map).unwrap_or_default();
        let hidden = |key: &str, value: &str| {
            let by_default =
                settings.default_tag(key).is_some() || before.get(key).is_some_and(|before| before == value);
            !own.contains_key(key) && (by_default || settings.ignores(key))
        };
        match document.get_mut(&*self.property) {
            Some(Json::Array(entries)) => {
                entries.retain(|one| entry(one).is_none_or(|(key, value)| !hidden(&key, &value)));
            }
            Some(Json::Object(members)) => {
                members.retain(|key, value| value.as_str().is_none_or(|value| !hidden(key, value)));
            }
            _ => {}
        }
    }

    /// Returns `object` with all tags that the service returned; `known` is the object before the read.
    pub fn with_all_tags(
        &self,
        settings: &TagSettings,
        fields: &Fields,
        known: &Value,
        object: &Value,
        returned: &Tags,
    ) -> Value {
        let is_known_before = attribute(known, self.all).is_some_and(|all| !all.is_null());
        let defaults = !matches!(&settings.defaults, Defaults::Known(tags) if tags.is_empty());
        if !is_known_before && !defaults {
            return object.clone();
        }
        let own = self.own_tags(known);
        let counts = |key: &str| !settings.ignores(key) || own.contains_key(key) || settings.default_tag(key).is_some();
        let all: Tags = returned.iter().filter(|(key, _)| counts(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
        with(fields, object, self.all, to_map(&all))
    }

    /// The tags of the resource itself; those that are not wholly known are left out.
    fn own_tags(&self, object: &Value) -> Tags {
        let Some(own) = attribute(object, self.own) else { return Tags::new() };
        match &self.form {
            Form::Map => of_map(&own),
            Form::Entries { key, value } => {
                let text = |entry: &Value, at: usize| attribute(entry, at)?.as_str().map(str::to_owned);
                let entries = own.as_slice().unwrap_or_default().iter();
                entries.filter_map(|entry| Some((text(entry, *key)?, text(entry, *value)?))).collect()
            }
        }
    }

    /// The object with `further` tags beside its own, which win.
    fn joined(&self, fields: &Fields, object: &Value, further: &Tags) -> Value {
        let own = self.own_tags(object);
        let further: Vec<(&String, &String)> = further.iter().filter(|(key, _)| !own.contains_key(*key)).collect();
        let (Some(field), Some(tags)) = (fields.list.get(self.own), attribute(object, self.own)) else {
            return object.clone();
        };
        if further.is_empty() {
            return object.clone();
        }
        let joined = match (&self.form, &field.shape) {
            (Form::Entries { key, value }, Shape::List(element, _) | Shape::Set(element)) => {
                let Shape::Object(inner) = &**element else { return object.clone() };
                let mut entries = tags.as_slice().unwrap_or_default().to_vec();
                entries.extend(further.into_iter().map(|(name, text)| {
                    let empty = with(inner, inner.block.empty_value(), *key, Value::string(name));
                    with(inner, &empty, *value, Value::string(text))
                }));
                match &field.shape {
                    Shape::Set(_) => Value::set(element.ty(), entries),
                    _ => Value::list(element.ty(), entries),
                }
            }
            _ => {
                // Own tags come last, so that they replace others with the same key.
                let all: Tags = further.into_iter().map(|(k, v)| (k.clone(), v.clone())).chain(own).collect();
                to_map(&all)
            }
        };
        with(fields, object, self.own, joined)
    }
}

fn entry(json: &Json) -> Option<(String, String)> {
    let text = |name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
    Some((text("Key")?, text("Value")?))
}

fn no_tags() -> Value {
    Value::null(Type::map(Type::String))
}

fn to_map(tags: &Tags) -> Value {
    Value::map(Type::String, tags.iter().map(|(key, value)| (key.as_str(), Value::string(value))))
}

/// The attribute at a position, where the object is known.
fn attribute(object: &Value, at: usize) -> Option<Value> {
    match object.kind() {
        Kind::Object(view) => view.values().get(at).cloned(),
        _ => None,
    }
}

fn with(fields: &Fields, object: &Value, at: usize, value: Value) -> Value {
    let Some(view) = object.as_object() else { return object.clone() };
    let mut values = view.values().to_vec();
    if let Some(slot) = values.get_mut(at) {
        *slot = value;
    }
    fields.block.object(values)
}
