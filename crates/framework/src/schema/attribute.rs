//! Attributes and nested blocks of schemas, and default values.

use std::sync::Arc;

use groma_provider::{Deprecation, Description, Nesting, ObjectNesting, ObjectSchema, ProviderDiagnostic, Use};
use groma_value::{Number, Path, Type, Value};

use super::Validator;
use crate::Name;
use crate::modifier::{PlanModifier, requires_replace, use_state_for_unknown};

/// A function that decides whether two values of an attribute are semantically equal (FW-17).
pub type SemanticEquality = dyn Fn(&Value, &Value) -> bool + Send + Sync;

/// The framework's rules for an attribute or nested block, besides its schema.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    pub(crate) modifiers: Vec<Arc<dyn PlanModifier>>,
    pub(crate) default: Option<DefaultValue>,
    pub(crate) validators: Vec<Arc<dyn Validator>>,
    pub(crate) equality: Option<Arc<SemanticEquality>>,
}

impl Rules {
    pub(crate) const NONE: Self = Self { modifiers: Vec::new(), default: None, validators: Vec::new(), equality: None };
}

/// The kinds of attributes.
#[derive(Clone)]
pub(crate) enum AttributeKind {
    Plain(Type),
    Nested(ObjectNesting, Vec<(Name, Attribute)>),
    Shared(Arc<ObjectSchema>),
}

/// An attribute as a provider author declares it, optional by default.
#[derive(Clone)]
#[must_use]
pub struct Attribute {
    pub(crate) kind: AttributeKind,
    pub(crate) usage: Use,
    pub(crate) sensitive: bool,
    pub(crate) write_only: bool,
    pub(crate) deprecated: Option<Deprecation>,
    pub(crate) description: Description,
    pub(crate) rules: Rules,
}

impl Attribute {
    /// Creates an attribute of the type `ty`.
    pub fn new(ty: Type) -> Self {
        Self::of(AttributeKind::Plain(ty))
    }

    /// Creates an attribute of nested objects.
    pub fn nested(nesting: ObjectNesting, attributes: impl IntoIterator<Item = (impl Into<Name>, Self)>) -> Self {
        let attributes = attributes.into_iter().map(|(name, attribute)| (name.into(), attribute)).collect();
        Self::of(AttributeKind::Nested(nesting, attributes))
    }

    /// Creates an attribute of nested objects whose attributes have no rules of the framework. Attributes can share the
    /// schema.
    pub fn nested_schema(schema: Arc<ObjectSchema>) -> Self {
        Self::of(AttributeKind::Shared(schema))
    }

    fn of(kind: AttributeKind) -> Self {
        Self {
            kind,
            // Optional unless declared otherwise, as most arguments are.
            usage: Use::Optional,
            sensitive: false,
            write_only: false,
            deprecated: None,
            description: Description::default(),
            rules: Rules::default(),
        }
    }

    /// Creates a string attribute.
    pub fn string() -> Self {
        Self::new(Type::String)
    }

    /// Creates a number attribute.
    pub fn number() -> Self {
        Self::new(Type::Number)
    }

    /// Creates a boolean attribute.
    pub fn bool() -> Self {
        Self::new(Type::Bool)
    }

    /// Creates a list attribute.
    pub fn list(element: Type) -> Self {
        Self::new(Type::list(element))
    }

    /// Creates a set attribute.
    pub fn set(element: Type) -> Self {
        Self::new(Type::set(element))
    }

    /// Creates a map attribute.
    pub fn map(element: Type) -> Self {
        Self::new(Type::map(element))
    }

    /// Sets whether the attribute is required, optional or computed.
    pub fn used(mut self, usage: Use) -> Self {
        self.usage = usage;
        self
    }

    /// Makes the attribute required.
    pub fn required(self) -> Self {
        self.used(Use::Required)
    }

    /// Makes the attribute optional.
    pub fn optional(self) -> Self {
        self.used(Use::Optional)
    }

    /// Makes the attribute computed: only the provider sets it.
    pub fn computed(self) -> Self {
        self.used(Use::Computed)
    }

    /// Makes the attribute optional and computed: the provider sets it if the configuration does not.
    pub fn optional_computed(self) -> Self {
        self.used(Use::OptionalComputed)
    }

    /// Makes the attribute sensitive: its values are redacted in output.
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// Makes the attribute write-only: its value is never stored.
    pub fn write_only(mut self) -> Self {
        self.write_only = true;
        self
    }

    /// Sets the deprecation message.
    pub fn deprecated(mut self, message: impl Into<String>) -> Self {
        self.deprecated = Some(Deprecation { message: message.into() });
        self
    }

    /// Sets the description in Markdown.
    pub fn described(mut self, text: impl Into<String>) -> Self {
        self.description = Description::markdown(text);
        self
    }

    /// Sets the description in plain text.
    pub fn described_plainly(mut self, text: impl Into<String>) -> Self {
        self.description = Description::plain(text);
        self
    }

    /// Adds a plan modifier (FW-04).
    pub fn modifier(mut self, modifier: impl PlanModifier + 'static) -> Self {
        self.rules.modifiers.push(Arc::new(modifier));
        self
    }

    /// Adds the modifier [`requires_replace`] (FW-06).
    pub fn requires_replace(self) -> Self {
        self.modifier(requires_replace())
    }

    /// Adds the modifier [`use_state_for_unknown`] (FW-09).
    pub fn use_state_for_unknown(self) -> Self {
        self.modifier(use_state_for_unknown())
    }

    /// Sets the default; the attribute must be optional and computed (FW-16).
    pub fn default(mut self, default: DefaultValue) -> Self {
        self.rules.default = Some(default);
        self
    }

    /// Adds a validator; validators run in the order of their addition.
    pub fn validator(mut self, validator: impl Validator + 'static) -> Self {
        self.rules.validators.push(Arc::new(validator));
        self
    }

    /// Sets the semantic equality: of equal values the prior one is kept (FW-17).
    pub fn semantic_equality(mut self, equal: impl Fn(&Value, &Value) -> bool + Send + Sync + 'static) -> Self {
        self.rules.equality = Some(Arc::new(equal));
        self
    }
}

/// A kind of nested block as a provider author declares it.
#[derive(Clone)]
#[must_use]
pub struct NestedBlock {
    pub(crate) nesting: Nesting,
    pub(crate) attributes: Vec<(Name, Attribute)>,
    pub(crate) blocks: Vec<(Name, NestedBlock)>,
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    pub(crate) deprecated: Option<Deprecation>,
    pub(crate) description: Description,
    pub(crate) rules: Rules,
}

impl NestedBlock {
    /// Creates a nested block type with `attributes` and the nesting mode `nesting`.
    pub fn new(nesting: Nesting, attributes: impl IntoIterator<Item = (impl Into<Name>, Attribute)>) -> Self {
        Self {
            nesting,
            attributes: attributes.into_iter().map(|(name, attribute)| (name.into(), attribute)).collect(),
            blocks: Vec::new(),
            min: 0,
            max: None,
            deprecated: None,
            description: Description::default(),
            rules: Rules::default(),
        }
    }

    /// Adds a nested block type.
    pub fn block(mut self, name: impl Into<Name>, block: NestedBlock) -> Self {
        self.blocks.push((name.into(), block));
        self
    }

    /// Requires at least `min` blocks.
    pub fn at_least(mut self, min: u64) -> Self {
        self.min = min;
        self
    }

    /// Allows at most `max` blocks.
    pub fn at_most(mut self, max: u64) -> Self {
        self.max = Some(max);
        self
    }

    /// Sets the deprecation message.
    pub fn deprecated(mut self, message: impl Into<String>) -> Self {
        self.deprecated = Some(Deprecation { message: message.into() });
        self
    }

    /// Sets the description in Markdown.
    pub fn described(mut self, text: impl Into<String>) -> Self {
        self.description = Description::markdown(text);
        self
    }

    /// Adds a plan modifier for all the blocks together (FW-04).
    pub fn modifier(mut self, modifier: impl PlanModifier + 'static) -> Self {
        self.rules.modifiers.push(Arc::new(modifier));
        self
    }

    /// Adds a validator for all the blocks together.
    pub fn validator(mut self, validator: impl Validator + 'static) -> Self {
        self.rules.validators.push(Arc::new(validator));
        self
    }
}

/// The inputs of a computed default.
#[derive(Clone, Copy)]
pub struct DefaultRequest<'a> {
    /// The path of the attribute.
    pub path: &'a Path,
    /// The configuration of the whole object.
    pub config: &'a Value,
}

type Compute = dyn Fn(&DefaultRequest<'_>) -> Result<Value, ProviderDiagnostic> + Send + Sync;

/// The value of an attribute that is null in the configuration.
#[derive(Clone)]
pub struct DefaultValue(Kind);

#[derive(Clone)]
enum Kind {
    Static(Value),
    Dynamic(Arc<Compute>),
}

impl DefaultValue {
    /// Creates a fixed default.
    pub fn of(value: Value) -> Self {
        Self(Kind::Static(value))
    }

    /// Computes a default from the configuration; unknown if that is not possible yet.
    pub fn computed(
        compute: impl Fn(&DefaultRequest<'_>) -> Result<Value, ProviderDiagnostic> + Send + Sync + 'static,
    ) -> Self {
        Self(Kind::Dynamic(Arc::new(compute)))
    }

    /// Returns the value of a fixed default.
    pub(crate) fn fixed(&self) -> Option<&Value> {
        match &self.0 {
            Kind::Static(value) => Some(value),
            // Computed defaults can only be checked when they are computed.
            Kind::Dynamic(_) => None,
        }
    }

    pub(crate) fn resolve(&self, request: &DefaultRequest<'_>) -> Result<Value, ProviderDiagnostic> {
        match &self.0 {
            Kind::Static(value) => Ok(value.clone()),
            Kind::Dynamic(compute) => compute(request),
        }
    }
}

macro_rules! fixed {
    ($($ty:ty),*) => {$(
        impl From<$ty> for DefaultValue {
            fn from(value: $ty) -> Self {
                Self::of(Value::from(value))
            }
        }
    )*};
}

fixed!(Value, Number, bool, &str, String);

impl From<i64> for DefaultValue {
    fn from(value: i64) -> Self {
        Self::of(Value::number(value))
    }
}

impl From<f64> for DefaultValue {
    /// A float that is not a number (NaN) is not a default: it becomes null.
    fn from(value: f64) -> Self {
        Self::of(Number::from_f64(value).map_or(Value::NULL, Value::number))
    }
}
