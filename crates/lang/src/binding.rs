//! Resolved names: the kind and position of a declaration, stored with the name.

use groma_diagnostics::Name;
use groma_hcl::{LiteralKey, Step, Traversal};

/// An object of the module that a traversal begins with, by its position among those of its kind.
///
/// All modules made of one folder have the same objects at the same positions, so that they share what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// `var.name`
    Variable(u32),
    /// `local.name`
    Local(u32),
    /// `type.name`: the first step ends the address.
    Resource(u32),
    /// `data.type.name`, `ephemeral.type.name`, `list.type.name` or `resource.type.name`: the second step ends the address.
    PrefixedResource(u32),
    /// `module.name`
    Module(u32),
}

/// The low bits are the kind, 0 being none; the others are the position.
const KIND_BITS: u32 = 3;

impl Binding {
    /// Returns the stored resolution of `traversal`, if there is one.
    pub fn of(traversal: &Traversal) -> Option<Self> {
        let number = traversal.meaning.get();
        let position = number >> KIND_BITS;
        match number & ((1 << KIND_BITS) - 1) {
            1 => Some(Self::Variable(position)),
            2 => Some(Self::Local(position)),
            3 => Some(Self::Resource(position)),
            4 => Some(Self::PrefixedResource(position)),
            5 => Some(Self::Module(position)),
            _ => None,
        }
    }

    /// Keeps it with the text, for [`Binding::of`]. Positions that do not fit are not kept.
    pub fn keep(self, traversal: &Traversal) {
        let (kind, position) = match self {
            Self::Variable(position) => (1, position),
            Self::Local(position) => (2, position),
            Self::Resource(position) => (3, position),
            Self::PrefixedResource(position) => (4, position),
            Self::Module(position) => (5, position),
        };
        // A position that does not fit is looked up by name again: slower, but correct.
        if position < 1 << (u32::BITS - KIND_BITS) {
            traversal.meaning.keep(position << KIND_BITS | kind);
        }
    }

    /// Returns the number of steps of the traversal that belong to the name.
    pub fn steps(self) -> usize {
        match self {
            Self::PrefixedResource(_) => 2,
            Self::Variable(_) | Self::Local(_) | Self::Resource(_) | Self::Module(_) => 1,
        }
    }

    /// The literal index right after the name, if one is there.
    pub fn index(self, traversal: &Traversal) -> Option<&LiteralKey> {
        match traversal.steps().get(self.steps()) {
            Some(Step::Index { key, .. }) => Some(key),
            _ => None,
        }
    }

    /// The resource block into whose object `traversal` goes, and how many of its steps lead to the object. None of what a search finds, which is
    /// not what it is written like.
    pub fn object_of(traversal: &Traversal) -> Option<(u32, usize)> {
        let binding = Self::of(traversal).filter(|_| &*traversal.root.name != "list")?;
        match binding {
            Self::Resource(block) | Self::PrefixedResource(block) => {
                Some((block, binding.steps() + usize::from(binding.index(traversal).is_some())))
            }
            Self::Variable(_) | Self::Local(_) | Self::Module(_) => None,
        }
    }

    /// The attribute right after the name and its literal index, if one is there.
    pub fn attribute(self, traversal: &Traversal) -> Option<&Name> {
        let named = self.steps() + usize::from(self.index(traversal).is_some());
        match traversal.steps().get(named) {
            Some(Step::Attribute { name, .. }) => Some(name),
            _ => None,
        }
    }
}

/// Whether references that begin with `root` mean something other than a managed resource of that type.
pub fn is_reserved(root: &str) -> bool {
    matches!(
        root,
        "var"
            | "local"
            | "module"
            | "data"
            | "ephemeral"
            | "list"
            | "action"
            | "resource"
            | "count"
            | "each"
            | "self"
            | "path"
            | "terraform"
            | "tofu"
            | "template"
            | "lazy"
            | "arg"
    )
}

#[cfg(test)]
mod tests {
    use groma_diagnostics::Span;
    use groma_hcl::Ident;

    use super::*;

    #[test]
    fn what_was_kept_is_found_again() {
        let bindings = [
            Binding::Variable(0),
            Binding::Local(1),
            Binding::Resource(99_999),
            Binding::PrefixedResource(7),
            Binding::Module((1 << 29) - 1),
        ];
        for binding in bindings {
            let traversal = Traversal::new(Ident::new("a", Span::NONE), Vec::new(), Span::NONE);
            assert_eq!(Binding::of(&traversal), None);
            binding.keep(&traversal);
            assert_eq!(Binding::of(&traversal), Some(binding));
            assert_eq!(Binding::of(&traversal.clone()), Some(binding));
        }
    }

    #[test]
    fn a_position_that_does_not_fit_is_looked_up_again() {
        let traversal = Traversal::new(Ident::new("a", Span::NONE), Vec::new(), Span::NONE);
        Binding::Resource(1 << 29).keep(&traversal);
        assert_eq!(Binding::of(&traversal), None);
    }
}
