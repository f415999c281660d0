//! Flatmap attributes, the state format of Terraform 0.11 and older: one string for each leaf, keyed by its path.
//!
//! `a.#` is the number of elements of a list or set `a`, which are `a.0` or `a.HASH`; `a.%` is the number of entries of
//! a map.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::{Name, Number, Type, Value};

/// The reason why flatmap attributes do not match a type, with the path of the attribute.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FlatError {
    /// The type of all attributes is not an object type.
    #[error("the type of flatmap attributes must be an object")]
    NoObject,
    /// The type of the attribute is unknown.
    #[error("{0} has a dynamic type, which flatmap attributes cannot represent")]
    Dynamic(String),
    /// The string is not a bool.
    #[error("{0} is not a bool")]
    NoBool(String),
    /// The string is not a number.
    #[error("{0} is not a number")]
    NoNumber(String),
    /// The element count is not a number.
    #[error("the element count of {0} is not a number")]
    NoCount(String),
    /// The element count is higher than the number of attributes.
    #[error("the element count of {0} exceeds the number of stored attributes")]
    GreatCount(String),
}

/// Decodes flatmap attributes as an object of type `ty`; missing attributes become null.
///
/// # Errors
///
/// The path of an attribute that does not match its type. The value itself is omitted, because it may be a secret.
pub fn decode(flat: &BTreeMap<String, String>, ty: &Type) -> Result<Value, FlatError> {
    Flat(flat).object("", ty)
}

struct Flat<'a>(&'a BTreeMap<String, String>);

impl Flat<'_> {
    /// Decodes the value at `path`.
    fn part(&self, path: &str, ty: &Type) -> Result<Value, FlatError> {
        match ty {
            Type::Bool | Type::Number | Type::String => self.simple(path, ty),
            Type::Object(_) => self.object(&format!("{path}."), ty),
            Type::Tuple(types) => {
                let parts = types.iter().enumerate().map(|(index, ty)| self.part(&format!("{path}.{index}"), ty));
                self.counted(path, ty, '#', |_| parts.collect::<Result<_, _>>().map(Value::tuple))
            }
            Type::List(element) => self.counted(path, ty, '#', |count| {
                let parts = (0..count).map(|index| self.part(&format!("{path}.{index}"), element));
                parts.collect::<Result<_, _>>().map(|values| Value::list_of(element.clone(), values))
            }),
            Type::Set(element) => self.counted(path, ty, '#', |_| {
                let parts = self.names(path).into_iter().map(|name| self.part(&format!("{path}.{name}"), element));
                parts.collect::<Result<_, _>>().map(|values| Value::set_of(element.clone(), values))
            }),
            Type::Map(element) => self.counted(path, ty, '%', |_| {
                // Keys may contain dots. Maps in this format hold only primitive values, so everything below belongs to
                // the key.
                let entries = self.below(path).filter(|name| *name != "%");
                let entries = entries.map(|name| Ok((name, self.part(&format!("{path}.{name}"), element)?)));
                entries.collect::<Result<Vec<_>, FlatError>>().map(|entries| Value::map_of(element.clone(), entries))
            }),
            Type::Dynamic => Err(FlatError::Dynamic(path.to_owned())),
        }
    }

    fn object(&self, prefix: &str, ty: &Type) -> Result<Value, FlatError> {
        let Type::Object(object) = ty else {
            return Err(FlatError::NoObject);
        };
        let attribute = |(name, ty): (&_, &Type)| Ok((Name::clone(name), self.part(&format!("{prefix}{name}"), ty)?));
        object.iter().map(attribute).collect::<Result<Vec<_>, FlatError>>().map(Value::object)
    }

    fn simple(&self, path: &str, ty: &Type) -> Result<Value, FlatError> {
        let Some(text) = self.0.get(path) else { return Ok(Value::null(ty.clone())) };
        match (ty, &**text) {
            (Type::Bool, "true" | "1") => Ok(Value::bool(true)),
            (Type::Bool, "false" | "0") => Ok(Value::bool(false)),
            (Type::Bool, _) => Err(FlatError::NoBool(path.to_owned())),
            (Type::Number, text) => {
                Number::parse(text).map(Value::number).map_err(|_| FlatError::NoNumber(path.to_owned()))
            }
            (_, text) => Ok(Value::string(text)),
        }
    }

    /// Decodes a collection whose element count is stored under `sign`; without a count it is null.
    fn counted(
        &self,
        path: &str,
        ty: &Type,
        sign: char,
        make: impl FnOnce(usize) -> Result<Value, FlatError>,
    ) -> Result<Value, FlatError> {
        let Some(count) = self.0.get(&format!("{path}.{sign}")) else { return Ok(Value::null(ty.clone())) };
        let count = count.parse().map_err(|_| FlatError::NoCount(path.to_owned()))?;
        // Every element has at least one entry. Reject a corrupt count before allocating millions of nulls.
        if count > self.0.len() {
            return Err(FlatError::GreatCount(path.to_owned()));
        }
        make(count)
    }

    /// Returns the distinct first path steps below `path`, except the element count.
    fn names(&self, path: &str) -> BTreeSet<&str> {
        let first = |rest: &'_ str| rest.find('.').unwrap_or(rest.len());
        self.below(path).map(|rest| &rest[..first(rest)]).filter(|name| *name != "#").collect()
    }

    fn below(&self, path: &str) -> impl Iterator<Item = &str> {
        let prefix = format!("{path}.");
        let range = self.0.range(prefix.clone()..);
        range.map_while(move |(key, _)| key.strip_prefix(&*prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(parts: &[(&str, &str)]) -> BTreeMap<String, String> {
        parts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    fn of(ty: Type) -> Type {
        Type::object([("it", ty)])
    }

    fn read(parts: &[(&str, &str)], ty: Type) -> Result<Value, FlatError> {
        decode(&flat(parts), &of(ty)).map(|value| value.element(&Value::string("it")).unwrap())
    }

    #[test]
    fn leaves_are_decoded_by_their_type() {
        assert_eq!(read(&[("it", "a b")], Type::String).unwrap(), Value::string("a b"));
        assert_eq!(read(&[("it", "1.5")], Type::Number).unwrap(), Value::number(Number::parse("1.5").unwrap()));
        assert_eq!(read(&[("it", "true")], Type::Bool).unwrap(), Value::bool(true));
        assert_eq!(read(&[("it", "0")], Type::Bool).unwrap(), Value::bool(false));
        assert_eq!(read(&[("other", "x")], Type::String).unwrap(), Value::null(Type::String));
    }

    #[test]
    fn collection_without_count_is_null() {
        let strings = || Type::list(Type::String);
        assert_eq!(
            read(&[("it.#", "2"), ("it.0", "a"), ("it.1", "b")], strings()).unwrap(),
            Value::list(Type::String, vec![Value::string("a"), Value::string("b")])
        );
        assert_eq!(read(&[("it.0", "a")], strings()).unwrap(), Value::null(strings()));
        assert_eq!(
            read(&[("it.%", "2"), ("it.a", "1"), ("it.b.c", "2")], Type::map(Type::String)).unwrap(),
            Value::map(Type::String, [("a", Value::string("1")), ("b.c", Value::string("2"))])
        );
        assert_eq!(
            read(&[("it.#", "2"), ("it.99", "a"), ("it.100", "b")], Type::set(Type::String)).unwrap(),
            Value::set(Type::String, vec![Value::string("a"), Value::string("b")])
        );
    }

    #[test]
    fn nested_block_is_decoded_as_element() {
        let block = Type::object([("name", Type::String), ("ports", Type::list(Type::Number))]);
        let parts = [("it.#", "1"), ("it.7.name", "x"), ("it.7.ports.#", "1"), ("it.7.ports.0", "80")];
        let ports = Value::list(Type::Number, vec![Value::number(80)]);
        let expected = Value::object([("name", Value::string("x")), ("ports", ports)]);
        assert_eq!(read(&parts, Type::set(block.clone())).unwrap(), Value::set(block, vec![expected]));
    }

    #[test]
    fn error_names_path_but_not_value() {
        for (parts, ty) in [
            (&[("it", "s3cret")], Type::Number),
            (&[("it", "s3cret")], Type::Bool),
            (&[("it.#", "s3cret")], Type::list(Type::String)),
            (&[("it.#", "4000000000")], Type::list(Type::String)),
            (&[("it", "s3cret")], Type::Dynamic),
        ] {
            let problem = read(parts, ty).unwrap_err().to_string();
            assert!(problem.contains("it") && !problem.contains("s3cret"), "{problem}");
        }
    }
}
