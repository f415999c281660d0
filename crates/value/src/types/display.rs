//! Text forms of types: as a type expression, and as words in a message.

use super::Type;
use std::fmt;

impl fmt::Display for Type {
    /// The type expression of the configuration language, such as `list(object({a=string,b=optional(number)}))`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Number => f.write_str("number"),
            Type::String => f.write_str("string"),
            Type::Dynamic => f.write_str("any"),
            Type::List(element) => write!(f, "list({element})"),
            Type::Set(element) => write!(f, "set({element})"),
            Type::Map(element) => write!(f, "map({element})"),
            Type::Tuple(elements) => {
                f.write_str("tuple([")?;
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{element}")?;
                }
                f.write_str("])")
            }
            Type::Object(object) => {
                f.write_str("object({")?;
                for (at, (name, ty)) in object.iter().enumerate() {
                    if at > 0 {
                        f.write_str(",")?;
                    }
                    if object.is_optional(name) {
                        write!(f, "{name}=optional({ty})")?;
                    } else {
                        write!(f, "{name}={ty}")?;
                    }
                }
                f.write_str("})")
            }
        }
    }
}

impl Type {
    /// The type in words, as in messages: `list of string`, `object`, `dynamic`.
    pub fn friendly_name(&self) -> String {
        self.named(Use::Value)
    }

    /// The words for a type that a value must have: [`Type::Dynamic`] reads "any type".
    pub fn constraint_name(&self) -> String {
        self.named(Use::Constraint)
    }

    fn named(&self, usage: Use) -> String {
        match self {
            Type::Bool => "bool".into(),
            Type::Number => "number".into(),
            Type::String => "string".into(),
            Type::Dynamic => match usage {
                Use::Value => "dynamic".into(),
                Use::Constraint => "any type".into(),
            },
            Type::List(element) => format!("list of {}", element.named_element(usage)),
            Type::Set(element) => format!("set of {}", element.named_element(usage)),
            Type::Map(element) => format!("map of {}", element.named_element(usage)),
            Type::Object(_) => "object".into(),
            Type::Tuple(_) => "tuple".into(),
        }
    }

    fn named_element(&self, usage: Use) -> String {
        match (self, usage) {
            (Type::Dynamic, Use::Constraint) => "any single type".into(),
            _ => self.named(usage),
        }
    }
}

#[derive(Clone, Copy)]
enum Use {
    Value,
    Constraint,
}
