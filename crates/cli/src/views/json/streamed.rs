//! JSON documents that are generated while they are written.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

/// A JSON value whose long lists are generated during serialization, one element at a time, so that memory use does not depend on
/// their length.
pub enum Streamed<'a> {
    /// A small value in memory.
    Json(Json),
    /// An object with its members in order.
    Object(Vec<(String, Streamed<'a>)>),
    /// A short list of large elements.
    Array(Vec<Streamed<'a>>),
    /// A long list of small elements.
    List(Box<dyn Elements + 'a>),
}

/// List elements, generated on each call.
pub trait Elements {
    /// Generates the elements in order.
    fn elements(&self) -> Box<dyn Iterator<Item = Json> + '_>;
}

struct Mapped<'a, T> {
    items: Vec<&'a T>,
    to_json: Box<dyn Fn(&T) -> Json + 'a>,
}

impl<T> Elements for Mapped<'_, T> {
    fn elements(&self) -> Box<dyn Iterator<Item = Json> + '_> {
        Box::new(self.items.iter().map(|item| (self.to_json)(item)))
    }
}

impl<'a> Streamed<'a> {
    /// Creates a list that converts each item with `to_json`.
    pub fn list<T>(items: Vec<&'a T>, to_json: impl Fn(&T) -> Json + 'a) -> Self {
        Self::List(Box::new(Mapped { items, to_json: Box::new(to_json) }))
    }
}

impl From<Json> for Streamed<'_> {
    fn from(json: Json) -> Self {
        Self::Json(json)
    }
}

impl Serialize for Streamed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(json) => json.serialize(serializer),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, member)| map.serialize_entry(name, member))?;
                map.end()
            }
            Self::Array(elements) => elements.serialize(serializer),
            Self::List(list) => serializer.collect_seq(list.elements()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;
    use crate::views::json::{compact, write_compact};

    #[test]
    fn streamed_document_equals_document_in_memory() {
        let numbers = [1, 2];
        let list = Streamed::list(numbers.iter().collect(), |number| json!({ "number": number }));
        let document = Streamed::Object(vec![
            ("first".into(), json!("<").into()),
            ("list".into(), list),
            ("none".into(), Streamed::list(Vec::<&u8>::new(), |_| Json::Null)),
        ]);
        assert_eq!(compact(&document), r#"{"first":"\u003c","list":[{"number":1},{"number":2}],"none":[]}"#);
    }

    /// Counts the elements that were made, and fails when an element is made before the one ahead of it was written.
    struct Written<'c>(&'c Cell<usize>);

    impl std::io::Write for Written<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.set(self.0.get() + bytes.iter().filter(|byte| **byte == b'x').count());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn elements_are_generated_during_serialization() {
        let items = [(); 100];
        let (made, written) = (Cell::new(0), Cell::new(0));
        let list = Streamed::list(items.iter().collect(), |()| {
            assert_eq!(made.get(), written.get(), "an element was made before the one ahead of it was written");
            made.set(made.get() + 1);
            json!("x")
        });
        write_compact(&list, &mut Written(&written)).unwrap();
        assert_eq!((made.get(), written.get()), (100, 100));
    }
}
