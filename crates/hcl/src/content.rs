//! The result of decoding a body with a schema.

use std::collections::HashMap;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};

use crate::ast::Name;
use crate::body::{Attribute, Block};
use crate::schema::BodySchema;

/// The arguments and blocks of a body that a schema describes.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The arguments in source order; names are unique.
    pub attributes: Vec<Attribute>,
    /// The blocks in source order.
    pub blocks: Vec<Block>,
    /// The span for reports of missing items.
    pub missing_item: Span,
    /// Whether items of the body were invalid or unexpected and are therefore not included.
    pub(crate) omits_invalid: bool,
    /// The position of each argument by name, built only for many arguments.
    index: Option<HashMap<Name, usize>>,
}

/// The number of arguments up to which a linear search is fastest.
const FEW: usize = 16;

impl Content {
    pub(crate) fn new(missing_item: Span) -> Self {
        Self { missing_item, ..Self::default() }
    }

    /// Whether no item of the body was omitted. Omitted items (unexpected arguments, blocks with wrong labels) were
    /// reported, and one of them may be a misspelled required item.
    pub fn is_whole(&self) -> bool {
        !self.omits_invalid
    }

    /// Returns the argument `name`.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        match &self.index {
            Some(index) => self.attributes.get(*index.get(name)?),
            None => self.attributes.iter().find(|attribute| &*attribute.name.name == name),
        }
    }

    /// Returns the blocks of one type, in source order.
    pub fn blocks_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks.iter().filter(move |block| &*block.kind.name == kind)
    }

    /// Adds `attribute` unless the name is taken. Returns the existing argument in that case.
    pub(crate) fn insert(&mut self, attribute: Attribute) -> Option<&Attribute> {
        // Looked up twice, because a borrow returned from the first lookup would exclude the insertion below.
        if self.get(&attribute.name.name).is_some() {
            return self.get(&attribute.name.name);
        }
        if let Some(index) = &mut self.index {
            index.insert(attribute.name.name.clone(), self.attributes.len());
        }
        self.attributes.push(attribute);
        if self.index.is_none() && self.attributes.len() > FEW {
            let positions = self.attributes.iter().enumerate();
            self.index = Some(positions.map(|(position, attribute)| (attribute.name.name.clone(), position)).collect());
        }
        None
    }

    /// Reports required arguments of `schema` that are missing.
    pub(crate) fn report_missing(&self, schema: &BodySchema, diagnostics: &mut Diagnostics) {
        for spec in &schema.attributes {
            if spec.required && self.get(&spec.name).is_none() {
                let detail = format!("The argument \"{}\" is required, but no definition was found.", spec.name);
                diagnostics.push(Diagnostic::error("Missing required argument", detail).at(self.missing_item));
            }
        }
    }
}
