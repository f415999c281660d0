//! Key providers that are services in networks.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_diagnostics::Span;
use groma_encryption::{Given, GivenValue, KeyService, Kind, service, service_arguments};
use groma_hcl::{Attribute, Content};
use groma_value::{Type, Value, convert};

use super::arguments::Arguments;

impl Arguments<'_> {
    /// The service `kind` with what is given for its arguments.
    pub(super) fn service(&mut self, kind: &str, content: &Content, span: Span) -> Option<Arc<dyn KeyService>> {
        let mut given = Vec::new();
        for argument in service_arguments(kind)? {
            let Some(attribute) = content.get(argument.name) else { continue };
            if let Some(value) = self.given(argument.kind, attribute)? {
                given.push((argument.name.to_owned(), value));
            }
        }
        let Some(network) = self.early.key_network() else {
            self.unusable(span, "nothing leads to its service here");
            return None;
        };
        let service = service(kind, &Given::from_iter(given), network);
        service.map_err(|problem| self.unusable(span, &problem)).ok()
    }

    /// What is given for an argument; nothing for a null, and for what has no effect.
    fn given(&mut self, kind: Kind, attribute: &Attribute) -> Option<Option<GivenValue>> {
        let ty = match kind {
            Kind::Text => Type::String,
            Kind::Number => Type::Number,
            Kind::Flag => Type::Bool,
            Kind::Map => Type::map(Type::String),
            Kind::Texts => Type::list(Type::String),
            Kind::NoEffect | Kind::Absent => Type::Dynamic,
        };
        let value = self.early.secret(&attribute.expression, "encryption argument", &mut self.diagnostics)?;
        if value.is_null() {
            return Some(None);
        }
        if kind == Kind::Absent {
            let detail = format!(
                "The argument {:?} of this key provider of OpenTofu is not in this version of Groma. Nothing was read or written.",
                attribute.name.name
            );
            self.error(attribute.name.span, "Unsupported key_provider argument", detail);
            return None;
        }
        let read = convert::convert(&value, &ty).ok().and_then(|value| read(kind, &value));
        if read.is_none() {
            let detail = format!("The argument {:?} has to be a {}.", attribute.name.name, ty.friendly_name());
            self.error(attribute.name.span, "Invalid encryption argument", detail);
        }
        read
    }
}

/// A value of the type of `kind` as what is given; nothing where it cannot be that.
fn read(kind: Kind, value: &Value) -> Option<Option<GivenValue>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let given = match kind {
        Kind::Text => GivenValue::Text(text(value)?),
        Kind::Number => GivenValue::Number(value.as_number()?.to_i64()?),
        Kind::Flag => GivenValue::Flag(value.as_bool()?),
        Kind::Map => {
            let entries = value.elements().map(|(key, value)| Some((text(&key)?, text(&value)?)));
            GivenValue::Map(entries.collect::<Option<BTreeMap<String, String>>>()?)
        }
        Kind::Texts => GivenValue::Texts(value.elements().map(|(_, value)| text(&value)).collect::<Option<_>>()?),
        Kind::NoEffect | Kind::Absent => return Some(None),
    };
    Some(Some(given))
}
