//! Key providers that use a key management service.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_diagnostics::{Span, did_you_mean};
use groma_encryption::{Argument, Given, GivenValue, KeyService, Kind, Need, service, service_arguments};
use groma_hcl::{Attribute, Block, BodySchema, Content};
use groma_value::{Type, Value, convert};

use super::arguments::Arguments;

/// Returns the schema of a body with these arguments. OpenTofu also allows a block for an object argument.
pub(super) fn schema_of(arguments: &[Argument]) -> BodySchema {
    arguments.iter().fold(BodySchema::new(), |schema, argument| {
        let schema = match argument.need {
            Need::Required => schema.required(argument.name),
            Need::Optional => schema.optional(argument.name),
        };
        if matches!(argument.kind, Kind::Object(_)) { schema.block(argument.name, &[]) } else { schema }
    })
}

impl Arguments<'_> {
    /// Creates the key service `kind` with the arguments in `content`.
    pub(super) fn service(&mut self, kind: &str, content: &Content, span: Span) -> Option<Arc<dyn KeyService>> {
        let given = self.given_in(service_arguments(kind)?, content)?;
        let Some(network) = self.early.key_network() else {
            self.unusable(span, "this command has no network access to its service");
            return None;
        };
        let service = service(kind, &given, network);
        service.map_err(|problem| self.unusable(span, &problem)).ok()
    }

    /// Reads the arguments of a body.
    fn given_in(&mut self, arguments: &'static [Argument], content: &Content) -> Option<Given> {
        let mut given = Vec::new();
        for argument in arguments {
            let blocks: Vec<&Block> = content.blocks_of(argument.name).collect();
            let value = match (content.get(argument.name), blocks.as_slice(), argument.kind) {
                (Some(attribute), [], _) => self.given(argument, attribute)?,
                (None, [block], Kind::Object(inner)) => Some(self.given_in_block(inner, block)?),
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
        Some(Given::from_iter(given))
    }

    fn given_in_block(&mut self, arguments: &'static [Argument], block: &Block) -> Option<GivenValue> {
        let (content, problems) = block.body.content(&schema_of(arguments));
        let failed = problems.has_errors();
        self.diagnostics.append(problems);
        if failed { None } else { self.given_in(arguments, &content).map(GivenValue::Object) }
    }

    /// Evaluates an argument. The inner option is `None` for null and for arguments without an effect.
    fn given(&mut self, argument: &Argument, attribute: &Attribute) -> Option<Option<GivenValue>> {
        let value = self.early.secret(&attribute.expression, "encryption argument", &mut self.diagnostics)?;
        self.read(argument, &value, argument.name, attribute.name.span)
    }

    /// Converts the value of an argument; `name` is its name in messages.
    fn read(&mut self, argument: &Argument, value: &Value, name: &str, span: Span) -> Option<Option<GivenValue>> {
        if value.is_null() {
            return Some(None);
        }
        let expected = match argument.kind {
            Kind::NoEffect => return Some(None),
            Kind::Absent(advice) => {
                let detail = format!(
                    "This version of Groma does not support the argument {name:?} of this OpenTofu key provider. {advice} Nothing was \
                     read or written."
                );
                self.error(span, "Unsupported key_provider argument", detail);
                return None;
            }
            Kind::Object(inner) if value.as_object().is_some() || value.as_map().is_some() => {
                return Some(Some(GivenValue::Object(self.members(inner, value, name, span)?)));
            }
            Kind::Object(_) => "an object".to_owned(),
            kind => match plain(kind, value) {
                Ok(given) => return Some(Some(given)),
                Err(ty) => format!("a {}", ty.friendly_name()),
            },
        };
        self.error(span, "Invalid encryption argument", format!("The argument {name:?} must be {expected}."));
        None
    }

    /// Reads the attributes of an object argument.
    fn members(&mut self, arguments: &'static [Argument], object: &Value, name: &str, span: Span) -> Option<Given> {
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
        Some(Given::from_iter(given))
    }
}

/// Converts a value to the primitive or collection type of `kind`.
///
/// # Errors
/// The value cannot be converted; returns the expected type.
fn plain(kind: Kind, value: &Value) -> Result<GivenValue, Type> {
    let ty = match kind {
        Kind::Text => Type::String,
        Kind::Number => Type::Number,
        Kind::Flag => Type::Bool,
        Kind::Map => Type::map(Type::String),
        Kind::Texts => Type::list(Type::String),
        Kind::Object(_) | Kind::NoEffect | Kind::Absent(_) => Type::Dynamic,
    };
    let read = convert::convert(value, &ty).ok().and_then(|value| as_given(kind, &value));
    read.ok_or(ty)
}

fn as_given(kind: Kind, value: &Value) -> Option<GivenValue> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some(match kind {
        Kind::Text => GivenValue::Text(text(value)?),
        Kind::Number => GivenValue::Number(value.as_number()?.to_i64()?),
        Kind::Flag => GivenValue::Flag(value.as_bool()?),
        Kind::Map => {
            let entries = value.elements().map(|(key, value)| Some((text(&key)?, text(&value)?)));
            GivenValue::Map(entries.collect::<Option<BTreeMap<String, String>>>()?)
        }
        Kind::Texts => GivenValue::Texts(value.elements().map(|(_, value)| text(&value)).collect::<Option<_>>()?),
        Kind::Object(_) | Kind::NoEffect | Kind::Absent(_) => return None,
    })
}
