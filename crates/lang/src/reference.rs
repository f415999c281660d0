//! References to objects by name.

use std::fmt;

use groma_address::{InstanceKey, Mode, Name, Resource};
use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{LiteralKey, Step, Traversal};
use groma_value::{Kind, Number, Value};

/// An object of the language that expressions can name, without instance keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reference {
    /// `var.name`
    Variable(Name),
    /// `local.name`
    Local(Name),
    /// `aws_x.y`, `data.aws_x.y`, `ephemeral.x.y`, `list.aws_x.y`, `resource.aws_x.y`
    Resource(Resource),
    /// `module.name`
    Module(Name),
    /// `count.index`
    Count(Name),
    /// `each.key`, `each.value`
    Each(Name),
    /// `self`
    SelfObject,
    /// `path.module`, `path.root`, `path.cwd`
    Path(Name),
    /// `terraform.workspace`, `terraform.applying`
    Terraform(Name),
    /// A value of OpenTofu's own object: `tofu.workspace`, `tofu.applying`
    OpenTofu(Name),
}

impl fmt::Display for Reference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(out, "var.{name}"),
            Self::Local(name) => write!(out, "local.{name}"),
            Self::Resource(resource) => resource.fmt(out),
            Self::Module(name) => write!(out, "module.{name}"),
            Self::Count(name) => write!(out, "count.{name}"),
            Self::Each(name) => write!(out, "each.{name}"),
            Self::SelfObject => out.write_str("self"),
            Self::Path(name) => write!(out, "path.{name}"),
            Self::Terraform(name) => write!(out, "terraform.{name}"),
            Self::OpenTofu(name) => write!(out, "tofu.{name}"),
        }
    }
}

/// One use of an object in an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Referenced {
    /// The object that is referred to.
    pub target: Reference,
    /// The instance, when it is written out right after a resource or module: `aws_x.y["a"]`.
    pub key: Option<InstanceKey>,
    /// The steps into the object.
    pub rest: Vec<Step>,
    /// The text of the object and its key.
    pub span: Span,
}

/// Reads the object that a traversal begins with.
///
/// # Errors
///
/// The traversal is too short, or the wrong kind of step follows its first name.
pub fn parse_reference(traversal: &Traversal) -> Result<Referenced, Diagnostic> {
    let root = &*traversal.root.name;
    match root {
        // First, because `string` alone would otherwise be read as a resource type without a name.
        _ if names_type(traversal) => Err(Diagnostic::error(
            "Unknown variable",
            format!("There is no variable named \"{root}\". The name of a type has no value; only the function convert takes one."),
        )
        .at(traversal.root.span)),
        "var" => attribute_of(traversal, Reference::Variable),
        "local" => attribute_of(traversal, Reference::Local),
        "count" => attribute_of(traversal, Reference::Count),
        "each" => attribute_of(traversal, Reference::Each),
        "path" => attribute_of(traversal, Reference::Path),
        "terraform" => attribute_of(traversal, Reference::Terraform),
        "tofu" => attribute_of(traversal, Reference::OpenTofu),
        "module" => module(traversal),
        "self" => Ok(Referenced {
            target: Reference::SelfObject,
            key: None,
            rest: traversal.steps().to_vec(),
            span: traversal.root.span,
        }),
        "data" => prefixed(traversal, Mode::Data),
        "ephemeral" => prefixed(traversal, Mode::Ephemeral),
        "list" => prefixed(traversal, Mode::List),
        "resource" => prefixed(traversal, Mode::Managed),
        "action" => Err(invalid(
            "An action has no value: it is named only in the \"actions\" of an action_trigger block, in the lifecycle of a resource.",
            traversal.span,
        )),
        "template" | "lazy" | "arg" => Err(Diagnostic::error(
            "Reserved symbol name",
            format!(
                "The name \"{root}\" is kept free for a later version of the language. If a provider has a resource type of \
                 this name, write \"resource.{root}\" instead."
            ),
        )
        .at(traversal.root.span)),
        _ => resource(traversal, Mode::Managed, traversal.root.name.clone(), traversal.steps(), traversal.root.span),
    }
}

/// Whether it is the name of a type, which refers to nothing: the function `convert` takes it as its second argument.
pub(crate) fn names_type(traversal: &Traversal) -> bool {
    traversal.steps().is_empty() && matches!(&*traversal.root.name, "string" | "number" | "bool" | "any")
}

fn invalid(detail: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::error("Invalid reference", detail).at(span)
}

fn attribute_of(traversal: &Traversal, target: fn(Name) -> Reference) -> Result<Referenced, Diagnostic> {
    let root = &traversal.root;
    match traversal.steps().split_first() {
        None => Err(invalid(
            format!("The \"{}\" object cannot be used as a whole. Name one of its attributes.", root.name),
            root.span,
        )),
        Some((Step::Attribute { name, span }, rest)) => {
            Ok(Referenced { target: target(name.clone()), key: None, rest: rest.to_vec(), span: root.span.to(*span) })
        }
        Some((Step::Index { span, .. }, _)) => {
            Err(invalid(format!("\"{}\" takes no index here. Put a dot and a name after it.", root.name), *span))
        }
    }
}

fn prefixed(traversal: &Traversal, mode: Mode) -> Result<Referenced, Diagnostic> {
    let (first, second) = match mode {
        Mode::Data => ("the data source type", "the resource name"),
        Mode::Ephemeral => ("the ephemeral resource type", "its name"),
        Mode::List => ("the type of the listed resources", "the name of the list block"),
        Mode::Managed => ("the resource type", "the resource name"),
    };
    let root = &traversal.root;
    match traversal.steps() {
        [] | [_] => Err(invalid(
            format!("After \"{}\" two names are needed, each behind a dot: {first} and {second}.", root.name),
            traversal.span,
        )),
        [Step::Attribute { name, span }, rest @ ..] => {
            resource(traversal, mode, name.clone(), rest, root.span.to(*span))
        }
        [Step::Index { span, .. }, ..] => {
            Err(invalid(format!("\"{}\" takes no index here. Put a dot and a name after it.", root.name), *span))
        }
    }
}

fn resource(
    traversal: &Traversal,
    mode: Mode,
    type_name: Name,
    steps: &[Step],
    begun: Span,
) -> Result<Referenced, Diagnostic> {
    let what = match mode {
        Mode::Data => "a data source",
        Mode::Ephemeral => "an ephemeral resource",
        Mode::List => "a list block",
        Mode::Managed => "a resource type",
    };
    let (name, name_span, rest) = match steps.split_first() {
        Some((Step::Attribute { name, span }, rest)) => (name.clone(), *span, rest),
        wrong => {
            let span = wrong.map_or(traversal.span, |(step, _)| step.span());
            return Err(invalid(
                format!("A reference to {what} must continue with a dot and the name of the resource."),
                span,
            ));
        }
    };
    let (key, rest, span) = keyed(rest, begun.to(name_span), "resource")?;
    Ok(Referenced { target: Reference::Resource(Resource { mode, type_name, name }), key, rest: rest.to_vec(), span })
}

fn module(traversal: &Traversal) -> Result<Referenced, Diagnostic> {
    let call = attribute_of(traversal, Reference::Module)?;
    let (key, rest, span) = keyed(&call.rest, call.span, "module")?;
    if let Some(Step::Index { span, .. }) = rest.first() {
        return Err(invalid("An instance of a module has only its outputs, which are accessed by name.", *span));
    }
    Ok(Referenced { target: call.target, key, rest: rest.to_vec(), span })
}

fn keyed<'a>(
    steps: &'a [Step],
    begun: Span,
    what: &str,
) -> Result<(Option<InstanceKey>, &'a [Step], Span), Diagnostic> {
    let Some((Step::Index { key, span }, rest)) = steps.split_first() else { return Ok((None, steps, begun)) };
    let key = instance_key(key).ok_or_else(|| {
        Diagnostic::error(
            "Invalid index key",
            format!("Invalid index for {what} instance: it must be a whole number that is not negative, or a string."),
        )
        .at(*span)
    })?;
    Ok((Some(key), rest, begun.to(*span)))
}

/// Returns the instance key of a literal index; `None` for numbers that are not whole.
pub fn instance_key(key: &LiteralKey) -> Option<InstanceKey> {
    match key {
        LiteralKey::Number(digits) => {
            // Literals such as 1e2 are whole numbers too, which `parse` does not accept.
            let number = digits.parse().ok().or_else(|| Number::parse(digits).ok()?.to_u64());
            number.map(InstanceKey::Int)
        }
        LiteralKey::String(text) => Some(InstanceKey::String(text.clone())),
    }
}

/// Returns the instance key of a value, marked or not; `None` if it is unknown or neither a string nor a whole number.
pub fn instance_key_of(value: &Value) -> Option<InstanceKey> {
    match value.unmark().0.kind() {
        Kind::Number(number) => number.to_u64().map(InstanceKey::Int),
        Kind::String(text) => Some(InstanceKey::String(text.clone())),
        _ => None,
    }
}
