//! Key providers that use a key management service.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_diagnostics::{Span, did_you_mean};
use groma_encryption::{Argument, ArgumentType, ArgumentValue, ArgumentValues, KeyService, Need, service_arguments};
use groma_hcl::{Attribute, Block, BodySchema, Content};
use groma_value::{Type, Value, convert};

use super::keys::Arguments;

/// Returns the schema of a body with these arguments. OpenTofu also allows a block for an object argument.
pub(super) fn schema_of(arguments: &[Argument]) -> BodySchema {
    arguments.iter().fold(BodySchema::new(), |schema, argument| {
        let schema = match argument.need {
            Need::Required => schema.required(argument.name),
            Need::Optional => schema.optional(argument.name),
        };
        if matches!(argument.ty, ArgumentType::Object(_)) { schema.block(argument.name, &[]) } else { schema }
    })
}

impl Arguments<'_> {
    /// Creates the key service `kind` with the arguments in `content`.
    pub(super) fn service(&mut self, kind: &str, content: &Content, span: Span) -> Option<Arc<dyn KeyService>> {
        let given = self.given_in(service_arguments(kind)?, content)?;
        let Some(services) = self.early.key_services() else {
            self.unusable(span, "this command has no network access to its service");
            return None;
        };
        let service = services.open(kind, &given);
        service.map_err(|problem| self.unusable(span, &problem.to_string())).ok()
    }

    /// Reads the arguments of a body.
    fn given_in(&mut self, arguments: &'static [Argument], content: &Content) -> Option<ArgumentValues> {
        let mut given = Vec::new();
        for argument in arguments {
            let blocks: Vec<&Block> = content.blocks_of(argument.name).collect();
            let value = match (content.get(argument.name), blocks.as_slice(), argument.ty) {
                (Some(attribute), [], _) => self.given(argument, attribute)?,
                (None, [block], ArgumentType::Object(inner)) => Some(self.given_in_block(inner, block)?),
                (None, [], _) => None,
                _ => {
                    let detail =
                        format!("The argument {:?} is set more than once. Keep one of the two.", argument.name);
                    let span = blocks.last().map_or(content.missing_item, |block| block.kind.span);
                    self.error(span, "Invalid encryption argument", detail);
                    return None;
                }
            };
            given.extend(value.map(|value| (argument.name.to_owned(), value)));
        }
        Some(ArgumentValues::from_iter(given))
    }

    fn given_in_block(&mut self, arguments: &'static [Argument], block: &Block) -> Option<ArgumentValue> {
        let (content, problems) = block.body.content(&schema_of(arguments));
        let failed = problems.has_errors();
        self.diagnostics.append(problems);
        if failed { None } else { self.given_in(arguments, &content).map(ArgumentValue::Object) }
    }

    /// Evaluates an argument. The inner option is `None` for null and for arguments without an effect.
    fn given(&mut self, argument: &Argument, attribute: &Attribute) -> Option<Option<ArgumentValue>> {
        let value = self.early.secret(&attribute.expression, "encryption argument", &mut self.diagnostics)?;
        self.read(argument, &value, argument.name, attribute.name.span)
    }

    /// Converts the value of an argument; `name` is its name in messages.
    fn read(&mut self, argument: &Argument, value: &Value, name: &str, span: Span) -> Option<Option<ArgumentValue>> {
        if value.is_null() {
            return Some(None);
        }
        let expected = match argument.ty {
            ArgumentType::Ignored => return Some(None),
            ArgumentType::Unsupported(advice) => {
                let detail = format!(
                    "This version of Groma does not support the argument {name:?} of this OpenTofu key provider. {advice} Nothing was \
                     read or written."
                );
                self.error(span, "Unsupported key_provider argument", detail);
                return None;
            }
            ArgumentType::Object(inner) if value.as_object().is_some() || value.as_map().is_some() => {
                return Some(Some(ArgumentValue::Object(self.members(inner, value, name, span)?)));
            }
            ArgumentType::Object(_) => "an object".to_owned(),
            kind => match plain(kind, value) {
                Ok(given) => return Some(Some(given)),
                Err(ty) => format!("a {}", ty.friendly_name()),
            },
        };
        self.error(span, "Invalid encryption argument", format!("The argument {name:?} must be {expected}."));
        None
    }

    /// Reads the attributes of an object argument.
    fn members(
        &mut self,
        arguments: &'static [Argument],
        object: &Value,
        name: &str,
        span: Span,
    ) -> Option<ArgumentValues> {
        let mut given = Vec::new();
        for (key, value) in object.elements() {
            let key = key.as_str().unwrap_or_default().to_owned();
            let Some(argument) = arguments.iter().find(|argument| argument.name == key) else {
                let known = did_you_mean(&key, arguments.iter().map(|argument| argument.name));
                self.error(span, "Invalid encryption argument", format!("{name:?} has no attribute {key:?}.{known}"));
                return None;
            };
            let whole = format!("{name}.{key}");
            given.extend(self.read(argument, &value, &whole, span)?.map(|value| (key, value)));
        }
        let lacks = |argument: &&Argument| {
            argument.need == Need::Required && !given.iter().any(|(known, _)| known == argument.name)
        };
        if let Some(lacking) = arguments.iter().find(lacks) {
            self.error(
                span,
                "Invalid encryption argument",
                format!("{name:?} requires the attribute {:?}.", lacking.name),
            );
            return None;
        }
        Some(ArgumentValues::from_iter(given))
    }
}

/// Converts a value to the primitive or collection type of `kind`.
///
/// # Errors
/// The value cannot be converted; returns the expected type.
fn plain(kind: ArgumentType, value: &Value) -> Result<ArgumentValue, Type> {
    let ty = match kind {
        ArgumentType::String => Type::String,
        ArgumentType::Number => Type::Number,
        ArgumentType::Bool => Type::Bool,
        ArgumentType::Map => Type::map(Type::String),
        ArgumentType::StringList => Type::list(Type::String),
        ArgumentType::Object(_) | ArgumentType::Ignored | ArgumentType::Unsupported(_) => Type::Dynamic,
    };
    let read = convert::convert(value, &ty).ok().and_then(|value| as_given(kind, &value));
    read.ok_or(ty)
}

fn as_given(kind: ArgumentType, value: &Value) -> Option<ArgumentValue> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some(match kind {
        ArgumentType::String => ArgumentValue::String(text(value)?),
        ArgumentType::Number => ArgumentValue::Number(value.as_number()?.to_i64()?),
        ArgumentType::Bool => ArgumentValue::Bool(value.as_bool()?),
        ArgumentType::Map => {
            let entries = value.elements().map(|(key, value)| Some((text(&key)?, text(&value)?)));
            ArgumentValue::Map(entries.collect::<Option<BTreeMap<String, String>>>()?)
        }
        ArgumentType::StringList => {
            ArgumentValue::StringList(value.elements().map(|(_, value)| text(&value)).collect::<Option<_>>()?)
        }
        ArgumentType::Object(_) | ArgumentType::Ignored | ArgumentType::Unsupported(_) => return None,
    })
}
