//! Parsed resource type schemas with references resolved: nodes in one list, referred to by number, so that recursive
//! definitions are plain loops.

use std::sync::Arc;

use serde_json::Value as Json;

use super::pattern::Pattern;
use super::pointer::{Pointer, PointerSet};
use crate::Name;

/// The number of a node within its [`TypeSchema`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) u32);

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JsonTypes(u8);

impl JsonTypes {
    /// `object`
    pub const OBJECT: Self = Self(1);
    /// `array`
    pub const ARRAY: Self = Self(2);
    /// `string`
    pub const STRING: Self = Self(4);
    /// `boolean`
    pub const BOOLEAN: Self = Self(8);
    /// `integer`
    pub const INTEGER: Self = Self(16);
    /// `number`
    pub const NUMBER: Self = Self(32);
    /// `null`
    pub const NULL: Self = Self(64);

    /// The type a keyword names.
    pub fn named(keyword: &str) -> Option<Self> {
        Some(match keyword {
            "object" => Self::OBJECT,
            "array" => Self::ARRAY,
            "string" => Self::STRING,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "null" => Self::NULL,
            _ => return None,
        })
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every type of `other` is in this set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether nothing is in the set: the schema names no type.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set allows this value.
    pub fn allow(self, value: &Json) -> bool {
        match value {
            Json::Null => self.contains(Self::NULL),
            Json::Bool(_) => self.contains(Self::BOOLEAN),
            Json::String(_) => self.contains(Self::STRING),
            Json::Array(_) => self.contains(Self::ARRAY),
            Json::Object(_) => self.contains(Self::OBJECT),
            Json::Number(number) => {
                self.contains(Self::NUMBER) || (self.contains(Self::INTEGER) && is_integral(number))
            }
        }
    }

    /// The names, joined by `or`, for messages.
    pub fn describe(self) -> String {
        let all = [
            (Self::OBJECT, "object"),
            (Self::ARRAY, "array"),
            (Self::STRING, "string"),
            (Self::BOOLEAN, "boolean"),
            (Self::INTEGER, "integer"),
            (Self::NUMBER, "number"),
            (Self::NULL, "null"),
        ];
        let names: Vec<&str> = all.iter().filter(|(flag, _)| self.contains(*flag)).map(|(_, name)| *name).collect();
        names.join(" or ")
    }
}

fn is_integral(number: &serde_json::Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// The meaning of the order of an array's elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ElementOrder {
    /// `insertionOrder: true`.
    Significant,
    /// The schema does not have the keyword. Its default is true, but services return many such arrays in any order.
    #[default]
    Unstated,
    /// `insertionOrder: false`.
    Insignificant,
}

/// One schema node: every keyword that constrains a value.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// Allowed JSON types; empty where the schema names none.
    pub types: JsonTypes,
    /// The types in the order written.
    pub type_order: Vec<JsonTypes>,
    /// Properties, sorted by name.
    pub properties: Vec<(Name, NodeId)>,
    /// Properties that must be there.
    pub required: Vec<Name>,
    /// `additionalProperties: false`.
    pub closed: bool,
    /// `patternProperties`, sorted by pattern.
    pub patterns: Vec<(Arc<Pattern>, NodeId)>,
    /// The elements of an array.
    pub items: Option<NodeId>,
    /// `insertionOrder`.
    pub order: ElementOrder,
    /// `uniqueItems`, false where absent.
    pub unique: bool,
    /// `minItems`.
    pub min_items: Option<u64>,
    /// `maxItems`.
    pub max_items: Option<u64>,
    /// `minLength`, in characters.
    pub min_length: Option<u64>,
    /// `maxLength`, in characters.
    pub max_length: Option<u64>,
    /// `pattern`.
    pub pattern: Option<Arc<Pattern>>,
    /// `format`.
    pub format: Option<Name>,
    /// `minimum`.
    pub minimum: Option<f64>,
    /// `maximum`.
    pub maximum: Option<f64>,
    /// `enum` or `const`.
    pub enumeration: Vec<Json>,
    /// Whether the enumeration compares without regard to case.
    pub case_insensitive: bool,
    /// `default`.
    pub default: Option<Json>,
    /// `oneOf`.
    pub one_of: Vec<NodeId>,
    /// `anyOf`.
    pub any_of: Vec<NodeId>,
    /// `allOf`.
    pub all_of: Vec<NodeId>,
    /// Properties that need others (`dependencies`, `dependentRequired`).
    pub dependent_required: Vec<(Name, Vec<Name>)>,
    /// Exactly one of these must be there (`requiredXor`).
    pub required_xor: Vec<Name>,
    /// At least one of these must be there (`requiredOr`).
    pub required_or: Vec<Name>,
    /// Properties that exclude others (`dependentExcluded`).
    pub dependent_excluded: Vec<(Name, Vec<Name>)>,
    /// `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`.
    pub numbers: NumberRules,
    /// `minProperties` and `maxProperties`.
    pub sizes: (Option<u64>, Option<u64>),
    /// `if`, `then` and `else`.
    pub conditional: Option<Conditional>,
    /// `not`.
    pub negated: Option<NodeId>,
    /// The constraints that are not in the registry.
    pub hints: Hints,
    /// `description`, in a catalogue that has descriptions.
    pub description: Option<Name>,
    /// The definition that the node comes from, if it is the target of a reference.
    pub definition: Option<Definition>,
}

/// The definition of a schema that a node comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    /// The number of the definition in its schema.
    pub number: u32,
    /// Whether the reference adds rules to those of the definition.
    pub is_extended: bool,
}

/// Rules about numbers besides `minimum` and `maximum`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NumberRules {
    /// Values must be greater.
    pub above: Option<f64>,
    /// Values must be less.
    pub below: Option<f64>,
    /// Values must be a multiple.
    pub multiple_of: Option<f64>,
}

impl NumberRules {
    /// Returns the rule that a number breaks, as text.
    pub fn broken_by(&self, number: f64) -> Option<String> {
        if let Some(bound) = self.above.filter(|bound| number <= *bound) {
            return Some(format!("greater than {bound}"));
        }
        if let Some(bound) = self.below.filter(|bound| number >= *bound) {
            return Some(format!("less than {bound}"));
        }
        let step = self.multiple_of.filter(|step| *step > 0.0)?;
        let ratio = number / step;
        // Decimal steps such as 0.1 have no exact quotient.
        ((ratio - ratio.round()).abs() > 1e-9 * ratio.abs().max(1.0)).then(|| format!("a multiple of {step}"))
    }
}

/// A rule that applies to some values only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditional {
    /// The condition.
    pub condition: NodeId,
    /// The rule where the condition holds.
    pub then: Option<NodeId>,
    /// The rule where it does not.
    pub otherwise: Option<NodeId>,
}

/// A keyword whose constraint may be a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // the names are those of the keywords
pub enum Keyword {
    Pattern,
    Enum,
    Minimum,
    Maximum,
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    AnyOf,
    OneOf,
    AllOf,
    Required,
    If,
    Not,
    Const,
}

impl Keyword {
    const ALL: [(&'static str, Self); 15] = [
        ("pattern", Self::Pattern),
        ("enum", Self::Enum),
        ("minimum", Self::Minimum),
        ("maximum", Self::Maximum),
        ("minLength", Self::MinLength),
        ("maxLength", Self::MaxLength),
        ("minItems", Self::MinItems),
        ("maxItems", Self::MaxItems),
        ("anyOf", Self::AnyOf),
        ("oneOf", Self::OneOf),
        ("allOf", Self::AllOf),
        ("required", Self::Required),
        ("if", Self::If),
        ("not", Self::Not),
        ("const", Self::Const),
    ];
}

/// The constraints of a node that come from a linter and not from the registry: AWS does not promise to enforce them, so
/// they lead to warnings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints(u16);

impl Hints {
    /// Collects hints by the names of their keywords.
    pub fn named<'a>(keywords: impl Iterator<Item = &'a str>) -> Self {
        let bits = keywords.filter_map(|name| Keyword::ALL.iter().find(|(known, _)| *known == name));
        Self(bits.fold(0, |all, (_, keyword)| all | 1 << *keyword as u16))
    }

    /// Whether the constraint of a keyword is a hint.
    pub fn contains(self, keyword: Keyword) -> bool {
        self.0 & (1 << keyword as u16) != 0
    }
}

impl Node {
    /// The node of a property.
    pub fn property(&self, name: &str) -> Option<NodeId> {
        let index = self.properties.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        self.properties.get(index).map(|(_, node)| *node)
    }

    /// Returns the groups of properties of which any rules out this one: the other branches of `oneOf` and `requiredXor`.
    pub fn alternatives<'a>(&'a self, schema: &'a TypeSchema, name: &str) -> Vec<&'a [Name]> {
        let branches = self.one_of.iter().map(|branch| schema.node(*branch).required.as_slice());
        let branches: Vec<&[Name]> = branches.filter(|branch| !branch.is_empty()).collect();
        let exclusive: Vec<&[Name]> = self.required_xor.iter().map(std::slice::from_ref).collect();
        let has = |group: &&[Name]| group.iter().any(|property| &**property == name);
        let groups = [branches, exclusive].into_iter().filter(|groups| groups.iter().any(has)).flatten();
        groups.filter(|group| !has(group)).collect()
    }

    /// Whether the enumeration may lack values that AWS accepts.
    pub fn has_enumeration_hint(&self) -> bool {
        self.case_insensitive || self.hints.contains(Keyword::Enum) || self.hints.contains(Keyword::Const)
    }

    /// Whether a property must be there.
    pub fn requires(&self, name: &str) -> bool {
        self.required.iter().any(|required| &**required == name)
    }
}

/// The description of a type's handler.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handler {
    /// The time limit of an operation in minutes, if the schema has one.
    pub timeout_minutes: Option<u64>,
    /// Properties a list request must give.
    pub required_inputs: Vec<Name>,
}

/// The handlers of a type; an absent one is an operation the service does not offer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub struct Handlers {
    pub create: Option<Handler>,
    pub read: Option<Handler>,
    pub update: Option<Handler>,
    pub delete: Option<Handler>,
    pub list: Option<Handler>,
}

/// The tagging support of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tagging {
    /// Whether its objects carry tags at all.
    pub taggable: bool,
    /// Whether tags can be given on creation.
    pub on_create: bool,
    /// Whether tags can change afterwards.
    pub updatable: bool,
    /// The property that holds them.
    pub property: Option<Pointer>,
}

/// A resource type schema.
#[derive(Debug)]
pub struct TypeSchema {
    /// `AWS::EC2::VPC`
    pub type_name: Name,
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
    /// Made by the service, never given.
    pub read_only: PointerSet,
    /// Given, never read back.
    pub write_only: PointerSet,
    /// Properties that are fixed at creation.
    pub create_only: PointerSet,
    /// Fixed at creation under conditions the schema does not state.
    pub conditional_create_only: PointerSet,
    /// The read-only pointers as a list.
    pub read_only_list: Vec<Pointer>,
    /// The write-only pointers as a list.
    pub write_only_list: Vec<Pointer>,
    /// The create-only pointers as a list.
    pub create_only_list: Vec<Pointer>,
    /// The properties that form the primary identifier, in order.
    pub primary_identifier: Vec<Pointer>,
    /// Other properties that identify an object.
    pub additional_identifiers: Vec<Vec<Pointer>>,
    /// The operations there are.
    pub handlers: Handlers,
    /// The tagging support of the type.
    pub tagging: Tagging,
    /// Keywords of the schema that have no effect here, sorted.
    pub unsupported_keywords: Vec<Name>,
}

impl TypeSchema {
    /// The node of a document.
    pub fn root(&self) -> &Node {
        self.node(self.root)
    }

    /// The number of the document's node.
    pub fn root_id(&self) -> NodeId {
        self.root
    }

    /// A node by number.
    pub fn node(&self, id: NodeId) -> &Node {
        // Numbers are only made by the parser of this very schema.
        &self.nodes[id.0 as usize]
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The identifier of an object: the values of the primary identifier, joined by `|` (CC-05). None if one is missing or
    /// empty, as that of a route without a destination.
    pub fn identifier_of(&self, document: &Json) -> Option<String> {
        let mut parts = Vec::with_capacity(self.primary_identifier.len());
        for pointer in &self.primary_identifier {
            parts.push(match pointer.find(document)? {
                Json::String(text) if !text.is_empty() => text.clone(),
                Json::Number(number) => number.to_string(),
                Json::Bool(flag) => flag.to_string(),
                Json::String(_) | Json::Null | Json::Array(_) | Json::Object(_) => return None,
            });
        }
        Some(parts.join("|"))
    }
}
