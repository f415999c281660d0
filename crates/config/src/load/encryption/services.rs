//! Key providers that are services in networks.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_diagnostics::{Span, did_you_mean};
use groma_encryption::{Argument, Given, GivenValue, KeyService, Kind, Need, service, service_arguments};
use groma_hcl::{Attribute, Block, BodySchema, Content};
use groma_value::{Type, Value, convert};

use super::arguments::Arguments;

/// The schema of a body with these arguments; an object may be written as a block, too.
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
    /// Creates the service `kind` from its arguments.
    pub(super) fn service(&mut self, kind: &str, content: &Content, span: Span) -> Option<Arc<dyn KeyService>> {
        let given = self.given_in(service_arguments(kind)?, content)?;
        let Some(network) = self.early.key_network() else {
            self.unusable(span, "nothing leads to its service here");
            return None;
        };
        let service = service(kind, &given, network);
        service.map_err(|problem| self.unusable(span, &problem)).ok()
    }

    /// Evaluates the arguments in a body.
    fn given_in(&mut self, arguments: &'static [Argument], content: &Content) -> Option<Given> {
        let mut given = Vec::new();
        for argument in arguments {
            let blocks: Vec<&Block> = content.blocks_of(argument.name).collect();
            let value = match (content.get(argument.name), blocks.as_slice(), argument.kind) {
                (Some(attribute), [], _) => self.given(argument, attribute)?,
                (None, [block], Kind::Object(inner)) => Some(self.given_in_block(inner, block)?),
                (None, [], _) => None,
                _ => {
                    let detail = format!("The argument {:?} is given more than once.", argument.name);
                    let place = blocks.last().map_or(content.missing_item, |block| block.kind.span);
                    self.error(place, "Invalid encryption argument", detail);
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

    /// Evaluates an argument; `Some(None)` for null and for values without effect.
    fn given(&mut self, argument: &Argument, attribute: &Attribute) -> Option<Option<GivenValue>> {
        let value = self.early.secret(&attribute.expression, "encryption argument", &mut self.diagnostics)?;
        self.read(argument, &value, argument.name, attribute.name.span)
    }

    /// Converts a value for an argument; `name` is its name in messages.
    fn read(&mut self, argument: &Argument, value: &Value, name: &str, span: Span) -> Option<Option<GivenValue>> {
        if value.is_null() {
            return Some(None);
        }
        let wanted = match argument.kind {
            Kind::NoEffect => return Some(None),
            Kind::Absent(advice) => {
                let detail = format!(
                    "The argument {name:?} of this key provider of OpenTofu is not in this version of Groma. {advice} Nothing was \
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
        self.error(span, "Invalid encryption argument", format!("The argument {name:?} has to be {wanted}."));
        None
    }

    /// Evaluates the members of an object argument.
    fn members(&mut self, arguments: &'static [Argument], object: &Value, name: &str, span: Span) -> Option<Given> {
        let mut given = Vec::new();
        for (key, value) in object.elements() {
            let key = key.as_str().unwrap_or_default().to_owned();
            let Some(argument) = arguments.iter().find(|argument| argument.name == key) else {
                let known = did_you_mean(&key, arguments.iter().map(|argument| argument.name));
                self.error(span, "Invalid encryption argument", format!("There is no {key:?} in {name:?}.{known}"));
                return None;
            };
            let whole = format!("{name}.{key}");
            given.extend(self.read(argument, &value, &whole, span)?.map(|value| (key, value)));
        }
        let lacks = |argument: &&Argument| {
            argument.need == Need::Required && !given.iter().any(|(known, _)| known == argument.name)
        };
        if let Some(lacking) = arguments.iter().find(lacks) {
            self.error(span, "Invalid encryption argument", format!("There is no {:?} in {name:?}.", lacking.name));
            return None;
        }
        Some(Given::from_iter(given))
    }
}

/// A value of the type of `kind`.
///
/// # Errors
/// It cannot be of that type, which is given back.
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
