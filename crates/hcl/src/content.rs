//! What reading a body gives.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};

use crate::ast::Name;
use crate::body::{Attribute, Block};
use crate::schema::BodySchema;

/// What was found in a body.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The arguments, in the order of the source; each name once.
    pub attributes: Vec<Attribute>,
    /// The blocks, in the order of the source.
    pub blocks: Vec<Block>,
    /// Where to say that something is missing.
    pub missing_item: Span,
    /// Whether something that stands in the body is not in here.
    pub(crate) leaves_out: bool,
    /// Where each argument is, once there are many.
    index: Option<HashMap<Name, usize>>,
}

/// Up to this many arguments, looking at each of them is the quickest.
const FEW: usize = 16;

impl Content {
    pub(crate) fn new(missing_item: Span) -> Self {
        Self { missing_item, ..Self::default() }
    }

    /// Whether everything in the body that was looked at is in here. What is not (an argument that is not expected, a block with too
    /// many labels) was told: it may be what is missing.
    pub fn is_whole(&self) -> bool {
        !self.leaves_out
    }

    /// The argument `name`.
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
