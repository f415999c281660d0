//! Property pointers of a schema (`/properties/Rules/*/Id`) and sets of them as a tree that is walked with the document.

use std::collections::BTreeMap;
use std::fmt;

use crate::Name;

/// One step of a pointer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A property of an object.
    Property(Name),
    /// `*`: every element of an array or every value of a map.
    Every,
}

/// A pointer into the documents of a type, without the leading `/properties`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(Vec<Step>);

impl Pointer {
    /// Reads `/properties/A/*/B`. Intermediate `properties` and `items` steps, as some schemas write them, say nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("/properties/")?;
        let steps: Vec<Step> = rest
            .split('/')
            .filter(|step| !matches!(*step, "properties" | "items" | ""))
            .map(|step| match step {
                "*" => Step::Every,
                name => Step::Property(name.replace("~1", "/").replace("~0", "~").into()),
            })
            .collect();
        if steps.is_empty() { None } else { Some(Self(steps)) }
    }

    /// The steps from the top.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The name of the property it ends in, for messages.
    pub fn last_name(&self) -> &str {
        self.0
            .iter()
            .rev()
            .find_map(|step| match step {
                Step::Property(name) => Some(&**name),
                Step::Every => None,
            })
            .unwrap_or("")
    }

    /// The name, where the pointer is one property of the document itself.
    pub fn top_level(&self) -> Option<&Name> {
        match self.0.as_slice() {
            [Step::Property(name)] => Some(name),
            _ => None,
        }
    }

    /// The value it points to, where no `*` is on the way.
    pub fn find<'a>(&self, document: &'a serde_json::Value) -> Option<&'a serde_json::Value> {
        self.0.iter().try_fold(document, |value, step| match step {
            Step::Property(name) => value.get(&**name),
            Step::Every => None,
        })
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("/properties")?;
        self.0.iter().try_for_each(|step| match step {
            Step::Property(name) => write!(formatter, "/{name}"),
            Step::Every => formatter.write_str("/*"),
        })
    }
}

/// A set of pointers. Walk it along with a document: [`Self::property`], [`Self::element`] and [`Self::entry`] give the rest
/// of the set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointerSet {
    here: bool,
    properties: BTreeMap<Name, PointerSet>,
    every: Option<Box<PointerSet>>,
}

impl PointerSet {
    /// The set of the given pointers.
    pub fn new<'a>(pointers: impl IntoIterator<Item = &'a Pointer>) -> Self {
        let mut set = Self::default();
        for pointer in pointers {
            set.insert(pointer.steps());
        }
        set
    }

    fn insert(&mut self, steps: &[Step]) {
        match steps.split_first() {
            None => self.here = true,
            Some((Step::Property(name), rest)) => self.properties.entry(name.clone()).or_default().insert(rest),
            Some((Step::Every, rest)) => self.every.get_or_insert_with(Box::default).insert(rest),
        }
    }

    /// Whether this very place is in the set.
    pub fn contains_here(&self) -> bool {
        self.here
    }

    /// Whether nothing at or below this place is in the set.
    pub fn is_empty(&self) -> bool {
        !self.here && self.properties.is_empty() && self.every.is_none()
    }

    /// The part of the set below a property.
    pub fn property(&self, name: &str) -> Option<&Self> {
        self.properties.get(name)
    }

    /// The part of the set below the elements of an array. A pointer that leaves out the `*` (`/Rules/Id` where `Rules` is
    /// an array) means the elements all the same.
    pub fn element(&self) -> Option<&Self> {
        match &self.every {
            Some(below) => Some(below),
            None if self.properties.is_empty() => None,
            None => Some(self),
        }
    }

    /// The part of the set below the values of a map.
    pub fn entry(&self) -> Option<&Self> {
        self.every.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_read_back_as_written() {
        for text in ["/properties/Id", "/properties/A/*/B", "/properties/A/B/C"] {
            assert_eq!(Pointer::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Pointer::parse("/definitions/A"), None);
        assert_eq!(Pointer::parse("/properties/"), None);
    }

    #[test]
    fn a_set_is_walked_with_the_document() {
        let pointers: Vec<Pointer> =
            ["/properties/A/*/B", "/properties/C/D"].iter().filter_map(|text| Pointer::parse(text)).collect();
        let set = PointerSet::new(&pointers);
        let below = set.property("A").unwrap();
        assert!(!below.contains_here());
        assert!(below.element().unwrap().property("B").unwrap().contains_here());
        assert!(set.property("C").unwrap().element().unwrap().property("D").unwrap().contains_here());
        assert!(set.property("C").unwrap().entry().is_none(), "an object has no elements");
        assert!(set.property("X").is_none());
    }
}
