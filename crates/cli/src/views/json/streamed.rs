//! Documents that are too large to be in memory as a whole.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

/// A part of a document. The elements of its lists are made one after the other while the document is written, so that the memory that it
/// takes does not depend on their number.
pub enum Streamed<'a> {
    /// A small value, written at once.
    Json(Json),
    /// The members of an object, in their order.
    Object(Vec<(String, Streamed<'a>)>),
    /// The elements of a short list, which may be large themselves.
    Array(Vec<Streamed<'a>>),
    /// A long list, written element by element.
    List(Box<dyn Elements + 'a>),
}

/// The elements of a list, which are made each time they are asked for.
pub trait Elements {
    /// The elements in their order.
    fn elements(&self) -> Box<dyn Iterator<Item = Json> + '_>;
}

struct Told<'a, T> {
    items: Vec<&'a T>,
    tell: Box<dyn Fn(&T) -> Json + 'a>,
}

impl<T> Elements for Told<'_, T> {
    fn elements(&self) -> Box<dyn Iterator<Item = Json> + '_> {
        Box::new(self.items.iter().map(|item| (self.tell)(item)))
    }
}

impl<'a> Streamed<'a> {
    /// The list of what `tell` makes of each item.
    pub fn list<T>(items: Vec<&'a T>, tell: impl Fn(&T) -> Json + 'a) -> Self {
        Self::List(Box::new(Told { items, tell: Box::new(tell) }))
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
    fn streamed_documents_read_like_others() {
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
    fn elements_are_made_while_the_document_is_written() {
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
