//! Declarations of backend arguments.

use groma_value::{Type, Value};

/// A product whose backend has an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Terraform 1.15.
    Terraform,
    /// OpenTofu 1.12.
    OpenTofu,
}

/// The arguments of a backend type, sorted by name.
#[derive(Debug)]
pub struct BackendSchema {
    arguments: Vec<Argument>,
}

/// The moment at which an argument must have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requirement {
    /// No value is required.
    Optional,
    /// A value is required when the backend connects.
    Connection,
    /// A value is required when the configuration is validated.
    Configuration,
}

/// An argument of a backend, or an attribute of one of its nested objects.
#[derive(Clone, Debug)]
pub struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: ArgumentKind,
    pub(super) requirement: Requirement,
    pub(super) is_sensitive: bool,
    pub(super) default: Option<&'static str>,
    pub(super) environment: &'static [&'static str],
    pub(super) deprecation: Option<&'static str>,
    pub(super) only: Option<Product>,
}

/// The value that an argument takes.
#[derive(Clone, Debug)]
pub enum ArgumentKind {
    /// A value of this type.
    Value(Type),
    /// An object with attributes of its own: `assume_role = { … }`.
    Object(Vec<Argument>),
    /// A nested block: `workspaces { … }`.
    Block(Nesting, Vec<Argument>),
}

/// The nesting mode of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// At most one; null without one.
    Single,
    /// At most one. Terraform has null without one, and OpenTofu a list of blocks.
    SingleInTerraform,
    /// A set of blocks, which has at most one in all backends.
    Set,
    /// A list of blocks, which has at most one in all backends.
    List,
}

impl BackendSchema {
    /// Creates a schema.
    pub fn new(arguments: impl IntoIterator<Item = Argument>) -> Self {
        Self { arguments: sorted(arguments) }
    }

    /// Returns the arguments, sorted by name.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// Returns the argument with this name.
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }
}

fn sorted(arguments: impl IntoIterator<Item = Argument>) -> Vec<Argument> {
    let mut arguments: Vec<Argument> = arguments.into_iter().collect();
    arguments.sort_by_key(|argument| argument.name);
    arguments
}

impl Argument {
    fn new(name: &'static str, kind: ArgumentKind) -> Self {
        Self {
            name,
            kind,
            requirement: Requirement::Optional,
            is_sensitive: false,
            default: None,
            environment: &[],
            deprecation: None,
            only: None,
        }
    }

    /// Declares an optional argument.
    pub fn optional(name: &'static str, ty: Type) -> Self {
        Self::new(name, ArgumentKind::Value(ty))
    }

    /// Declares a required argument. A value of its environment variables counts as given.
    pub fn required(name: &'static str, ty: Type) -> Self {
        Self { requirement: Requirement::Configuration, ..Self::optional(name, ty) }
    }

    /// Declares an argument that a connection requires, although Terraform accepts a configuration without it.
    pub fn required_to_connect(name: &'static str, ty: Type) -> Self {
        Self { requirement: Requirement::Connection, ..Self::optional(name, ty) }
    }

    /// Declares an optional object with `attributes`.
    pub fn object(name: &'static str, attributes: impl IntoIterator<Item = Self>) -> Self {
        Self::new(name, ArgumentKind::Object(sorted(attributes)))
    }

    /// Declares a nested block with `attributes`.
    pub fn block(name: &'static str, nesting: Nesting, attributes: impl IntoIterator<Item = Self>) -> Self {
        Self::new(name, ArgumentKind::Block(nesting, sorted(attributes)))
    }

    /// Sets the environment variables that are used if the argument is null or empty, the first one first.
    #[must_use]
    pub fn env(self, environment: &'static [&'static str]) -> Self {
        Self { environment, ..self }
    }

    /// Sets the default, as text that converts to the type.
    #[must_use]
    pub fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// Hides the value from people.
    #[must_use]
    pub fn sensitive(self) -> Self {
        Self { is_sensitive: true, ..self }
    }

    /// Deprecates the argument, with the advice of the warning.
    #[must_use]
    pub fn deprecated(self, advice: &'static str) -> Self {
        Self { deprecation: Some(advice), ..self }
    }

    /// Limits the argument to the schema of one product, which matters for the hash of the block.
    #[must_use]
    pub fn only(self, product: Product) -> Self {
        Self { only: Some(product), ..self }
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the kind of value that the argument takes.
    pub fn kind(&self) -> &ArgumentKind {
        &self.kind
    }

    /// Whether a connection requires a value.
    pub fn is_required(&self) -> bool {
        self.requirement != Requirement::Optional
    }

    /// Whether a configuration without a value is invalid, even before anything connects.
    pub fn is_required_by_configuration(&self) -> bool {
        self.requirement == Requirement::Configuration
    }

    /// Whether people must not see the value.
    pub fn is_sensitive(&self) -> bool {
        self.is_sensitive
    }

    /// Returns the environment variables, in order of precedence.
    pub fn environment(&self) -> &'static [&'static str] {
        self.environment
    }

    /// Returns the advice of the deprecation warning.
    pub fn deprecation(&self) -> Option<&'static str> {
        self.deprecation
    }

    /// Whether the schema of `product` has the argument.
    pub fn is_in(&self, product: Product) -> bool {
        self.only.is_none_or(|only| only == product)
    }

    /// Whether `product` writes the object of this argument as a list, although it is none here.
    pub(super) fn is_list_in(&self, product: Product) -> bool {
        product == Product::OpenTofu && matches!(self.kind, ArgumentKind::Block(Nesting::SingleInTerraform, _))
    }

    /// Returns the value without a configuration: null, or an empty collection of blocks.
    pub(super) fn empty(&self) -> Value {
        let element = |attributes: &[Self]| object_type(attributes);
        match &self.kind {
            ArgumentKind::Value(ty) => Value::null(ty.clone()),
            ArgumentKind::Object(attributes)
            | ArgumentKind::Block(Nesting::Single | Nesting::SingleInTerraform, attributes) => {
                Value::null(element(attributes))
            }
            ArgumentKind::Block(Nesting::Set, attributes) => Value::set(element(attributes), Vec::new()),
            ArgumentKind::Block(Nesting::List, attributes) => Value::list(element(attributes), Vec::new()),
        }
    }

    /// Returns the type of the argument's value.
    pub fn ty(&self) -> Type {
        match &self.kind {
            ArgumentKind::Value(ty) => ty.clone(),
            ArgumentKind::Object(attributes)
            | ArgumentKind::Block(Nesting::Single | Nesting::SingleInTerraform, attributes) => object_type(attributes),
            ArgumentKind::Block(Nesting::Set, attributes) => Type::set(object_type(attributes)),
            ArgumentKind::Block(Nesting::List, attributes) => Type::list(object_type(attributes)),
        }
    }
}

fn object_type(attributes: &[Argument]) -> Type {
    Type::object(attributes.iter().map(|attribute| (attribute.name, attribute.ty())))
}
