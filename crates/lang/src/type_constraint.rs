//! Type expressions: `list(string)`, `object({ name = optional(string, "x") })`.

use std::collections::BTreeMap;

use groma_diagnostics::{Diagnostic, Diagnostics, Span, did_you_mean};
use groma_hcl::{Call, Expression, ExpressionKind, Name, with_stack};
use groma_value::convert::ConversionError;
use groma_value::{MAX_DEPTH, ObjectType, Type, Value, convert, normalized};

use crate::defaults::{self, Defaults};
use crate::evaluate::evaluate_constant;

const SUMMARY: &str = "Invalid type specification";
/// The words that are types by themselves, and those that make types of others.
const KEYWORDS: [&str; 4] = ["string", "number", "bool", "any"];
const CONSTRUCTORS: [&str; 5] = ["list", "map", "set", "object", "tuple"];
/// The function that marks an attribute of an object type as optional.
const OPTIONAL: &str = "optional";

/// A type constraint with the defaults of optional attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeConstraint {
    /// The type; `any` is [`Type::Dynamic`], optional attributes are noted in object types.
    pub ty: Type,
    /// The defaults of optional attributes.
    pub defaults: Option<Defaults>,
}

impl TypeConstraint {
    /// The constraint that every value satisfies.
    pub const ANY: Self = Self { ty: Type::Dynamic, defaults: None };

    /// The value with defaults filled in, converted to the type.
    ///
    /// # Errors
    ///
    /// The value does not fit the type.
    pub fn convert(&self, value: &Value) -> Result<Value, ConversionError> {
        match &self.defaults {
            Some(defaults) => convert::convert(&defaults.apply(value), &self.ty),
            None => convert::convert(value, &self.ty),
        }
    }
}

/// Reads a type constraint with `optional` and defaults, as in a variable's `type` and in the function `convert`.
///
/// After an error the result is, or holds, `any`.
pub fn type_constraint(expression: &Expression) -> (TypeConstraint, Diagnostics) {
    let mut reader = Reader { diagnostics: Diagnostics::new(), depth: 0 };
    let constraint = reader.read(expression);
    (constraint, reader.diagnostics)
}

struct Reader {
    diagnostics: Diagnostics,
    depth: usize,
}
impl Reader {
    fn refuse(&mut self, detail: impl Into<String>, span: Span) -> TypeConstraint {
        self.diagnostics.push(Diagnostic::error(SUMMARY, detail).at(span));
        TypeConstraint::ANY
    }

    fn read(&mut self, expression: &Expression) -> TypeConstraint {
        if self.depth >= MAX_DEPTH {
            return self.refuse(format!("A type may have {MAX_DEPTH} levels."), expression.span);
        }
        self.depth += 1;
        let constraint = with_stack(|| match native(expression) {
            Some(reparsed) => self.read_native(&reparsed),
            None => self.read_native(expression),
        });
        self.depth -= 1;
        constraint
    }

    fn read_native(&mut self, expression: &Expression) -> TypeConstraint {
        if let Some(keyword) = expression.as_keyword() {
            return self.keyword(&keyword, expression.span);
        }
        match &expression.kind {
            ExpressionKind::Call(call) => self.constructor(call, expression),
            // The parser has reported the syntax error.
            ExpressionKind::Invalid => TypeConstraint::ANY,
            ExpressionKind::Parentheses(inner) => {
                self.refuse("A type stands without parentheses around it. Remove them.", inner.span)
            }
            _ => self.refuse(
                "A type is either one of the keywords string, number, bool and any, or a type constructor such as list(string).",
                expression.span,
            ),
        }
    }

    fn keyword(&mut self, keyword: &str, span: Span) -> TypeConstraint {
        let ty = match keyword {
            "bool" => Type::Bool,
            "string" => Type::String,
            "number" => Type::Number,
            "any" => Type::Dynamic,
            "list" | "map" | "set" | "object" | "tuple" => return self.refuse(requirement(keyword), span),
            _ => {
                let meant = did_you_mean(keyword, KEYWORDS.into_iter().chain(CONSTRUCTORS));
                return self.refuse(format!("The keyword \"{keyword}\" is not a type.{meant}"), span);
            }
        };
        TypeConstraint { ty, defaults: None }
    }

    fn constructor(&mut self, call: &Call, whole: &Expression) -> TypeConstraint {
        let name = &*call.name.name;
        let parentheses = call.open.to(call.close);
        match name {
            "bool" | "string" | "number" => {
                return self.refuse(format!("The primitive type keyword \"{name}\" takes no arguments."), parentheses);
            }
            "any" => return self.refuse("The type constraint keyword \"any\" takes no arguments.", parentheses),
            OPTIONAL => {
                return self.refuse(
                    "The keyword \"optional\" is valid only as the type of an object attribute.",
                    call.name.span,
                );
            }
            "list" | "set" | "map" | "object" | "tuple" => {}
            _ => {
                let meant = did_you_mean(name, CONSTRUCTORS.into_iter().chain([OPTIONAL]));
                return self.refuse(format!("The keyword \"{name}\" is not a type constructor.{meant}"), whole.span);
            }
        }
        let argument = match call.arguments() {
            [argument] => argument,
            [] => return self.refuse(requirement(name), parentheses),
            [_, extra, rest @ ..] => {
                let span = extra.span.to(rest.last().map_or(extra.span, |last| last.span));
                return self.refuse(requirement(name), span);
            }
        };
        match name {
            "list" => self.collection(argument, Type::list),
            "set" => self.collection(argument, Type::set),
            "map" => self.collection(argument, Type::map),
            "object" => self.object(argument, whole),
            _ => self.tuple(argument, whole),
        }
    }

    fn collection(&mut self, argument: &Expression, constructor: fn(Type) -> Type) -> TypeConstraint {
        let element = self.read(argument);
        TypeConstraint { ty: constructor(element.ty), defaults: defaults::of_elements(element.defaults) }
    }

    fn tuple(&mut self, argument: &Expression, whole: &Expression) -> TypeConstraint {
        let ExpressionKind::Tuple(elements) = &argument.kind else {
            self.diagnostics.push(
                Diagnostic::error(SUMMARY, "The tuple type constructor takes a list of the types of the elements.")
                    .at(argument.span)
                    .within(whole.span),
            );
            return TypeConstraint::ANY;
        };
        let read: Vec<TypeConstraint> = elements.iter().map(|element| self.read(element)).collect();
        let ty = Type::tuple(read.iter().map(|element| element.ty.clone()).collect::<Vec<_>>());
        let children = read.into_iter().map(|element| element.defaults).enumerate();
        let defaults = defaults::of_tuple(children.filter_map(|(index, child)| Some((index, child?))).collect());
        TypeConstraint { ty, defaults }
    }

    fn object(&mut self, argument: &Expression, whole: &Expression) -> TypeConstraint {
        let ExpressionKind::Object(items) = &argument.kind else {
            self.diagnostics.push(
                Diagnostic::error(
                    SUMMARY,
                    "The object type constructor takes a map of attribute names and the types of the attributes.",
                )
                .at(argument.span)
                .within(whole.span),
            );
            return TypeConstraint::ANY;
        };
        let mut object = Object::default();
        for item in items.iter() {
            let Some(name) = bare_name(&item.key) else {
                self.item_problem(
                    "The keys of an object type must be attribute names, without quotes.",
                    &item.key,
                    whole,
                );
                continue;
            };
            // Attribute names are compared in normal form C, like the names in values.
            let name = Name::from(&*normalized(name));
            if object.types.contains_key(&name) {
                self.item_problem("The attribute names of an object type must be unique.", &item.key, whole);
                continue;
            }
            self.attribute(name, &item.value, &mut object);
        }
        let ty = ObjectType::new(object.types).with_optional(object.optional);
        TypeConstraint {
            ty: Type::Object(std::sync::Arc::new(ty)),
            defaults: defaults::of_object(object.values, object.children),
        }
    }

    fn item_problem(&mut self, detail: &str, key: &Expression, whole: &Expression) {
        self.diagnostics.push(Diagnostic::error(SUMMARY, detail).at(key.span).within(whole.span));
    }

    fn attribute(&mut self, name: Name, expression: &Expression, object: &mut Object) {
        let reparsed = native(expression);
        let expression = reparsed.as_ref().unwrap_or(expression);
        let (type_expression, default) = match &expression.kind {
            ExpressionKind::Call(call) if &*call.name.name == OPTIONAL => match self.optional(call, expression) {
                Some((ty, default)) => {
                    object.optional.push(name.clone());
                    (ty, default)
                }
                None => return,
            },
            _ => (expression, None),
        };
        let attribute = self.read(type_expression);
        if let Some(default) = default
            && let Some(value) = self.default(default, &attribute)
        {
            object.values.insert(name.clone(), value);
        }
        if let Some(child) = attribute.defaults {
            object.children.insert(name.clone(), child);
        }
        object.types.insert(name, attribute.ty);
    }

    /// The type and the default of `optional(type, default)`.
    fn optional<'e>(&mut self, call: &'e Call, whole: &Expression) -> Option<(&'e Expression, Option<&'e Expression>)> {
        let parentheses = call.open.to(call.close);
        let detail = match call.arguments() {
            [] => "The modifier \"optional\" takes the type of the attribute as its argument.",
            [ty] => return Some((ty, None)),
            [ty, default] => return Some((ty, Some(default))),
            _ => "The modifier \"optional\" takes at most two arguments: the type and a default value.",
        };
        self.diagnostics.push(Diagnostic::error(SUMMARY, detail).at(parentheses).within(whole.span));
        None
    }

    fn default(&mut self, expression: &Expression, attribute: &TypeConstraint) -> Option<Value> {
        // Earlier errors in the same type do not concern this default.
        let before = self.diagnostics.len();
        let value = evaluate_constant(expression, &mut self.diagnostics);
        if self.diagnostics.iter().skip(before).any(Diagnostic::is_error) {
            return None;
        }
        // Nested defaults are filled in later, by `Defaults::apply`.
        match convert::convert(&value, &attribute.ty) {
            Ok(value) => Some(value),
            Err(problem) => {
                let detail = format!("The default value does not fit the type of the attribute: {problem}.");
                self.diagnostics.push(
                    Diagnostic::error("Invalid default value for optional attribute", detail).at(expression.span),
                );
                None
            }
        }
    }
}

/// An object type in the making.
#[derive(Default)]
struct Object {
    types: BTreeMap<Name, Type>,
    optional: Vec<Name>,
    values: BTreeMap<Name, Value>,
    children: BTreeMap<Name, Defaults>,
}

/// The name that a key is, without quotes: only those take more room than their characters.
fn bare_name(key: &Expression) -> Option<&Name> {
    match &key.kind {
        ExpressionKind::String(name) if key.span.len() as usize == name.len() => Some(name),
        _ => None,
    }
}

fn requirement(constructor: &str) -> String {
    match constructor {
        "object" => {
            "The object type constructor takes one argument: the attributes and their types as a map.".to_owned()
        }
        "tuple" => "The tuple type constructor takes one argument: the types of the elements as a list.".to_owned(),
        _ => format!("The {constructor} type constructor takes one argument: the type of the elements."),
    }
}

/// The expression in a string of the JSON syntax, where types have no other notation.
fn native(expression: &Expression) -> Option<Expression> {
    match &expression.kind {
        ExpressionKind::JsonString(_) => expression.unquoted(),
        _ => None,
    }
}
