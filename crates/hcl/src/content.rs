//! The result of decoding a body.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};

use crate::ast::Name;
use crate::body::{Attribute, Block};
use crate::schema::BodySchema;

/// The arguments and blocks of a body.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The arguments, in the order of the source; each name once.
    pub attributes: Vec<Attribute>,
    /// The blocks, in the order of the source.
    pub blocks: Vec<Block>,
    /// The location for a missing item.
    pub missing_item: Span,
    /// Whether the body has items that are not part of this content.
    pub(crate) leaves_out: bool,
    /// The positions of arguments, once there are many.
    index: Option<HashMap<Name, usize>>,
}

/// Up to this many arguments, looking at each of them is the quickest.
const FEW: usize = 16;

impl Content {
    pub(crate) fn new(missing_item: Span) -> Self {
        Self { missing_item, ..Self::default() }
    }

    /// Whether the content is complete. Missing items (an unexpected argument, a block with too
    /// many labels) were reported, and may be what a required item should have been.
    pub fn is_whole(&self) -> bool {
        !self.leaves_out
    }

    /// Returns the argument `name`.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        match &self.index {
            Some(index) => self.attributes.get(*index.get(name)?),
            None => self.attributes.iter().find(|attribute| &*attribute.name.name == name),
        }
    }

    /// The blocks of one kind, in order.
    pub fn blocks_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks.iter().filter(move |block| &*block.kind.name == kind)
    }

    /// Adds `attribute`, unless there is one of its name; gives that one back.
    pub(crate) fn insert(&mut self, attribute: Attribute) -> Option<&Attribute> {
        if self.get(&attribute.name.name).is_some() {
            return self.get(&attribute.name.name);
        }
        if let Some(index) = &mut self.index {
            index.insert(attribute.name.name.clone(), self.attributes.len());
        }
        self.attributes.push(attribute);
        if self.index.is_none() && self.attributes.len() > FEW {
            let places = self.attributes.iter().enumerate();
            self.index = Some(places.map(|(place, attribute)| (attribute.name.name.clone(), place)).collect());
        }
        None
    }

    /// Says which required arguments of `schema` are not there.
    pub(crate) fn report_missing(&self, schema: &BodySchema, diagnostics: &mut Diagnostics) {
        for spec in &schema.attributes {
            if spec.required && self.get(&spec.name).is_none() {
                let detail = format!("The argument \"{}\" is required, but no definition was found.", spec.name);
                diagnostics.push(Diagnostic::error("Missing required argument", detail).at(self.missing_item));
            }
        }
    }
}
