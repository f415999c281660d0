//! Resolution of references to the declarations of a module.

use groma_address::{Mode, Resource as ResourceAddress};
use groma_hcl::{Step, Traversal};
use groma_lang::{Binding, is_reserved};
use indexmap::Equivalent;

use super::module::Module;

impl Module {
    /// Returns the declaration that `traversal` refers to, or `None` if it is undeclared or not a reference to a
    /// declaration.
    ///
    /// The result is cached in the traversal, because expressions are evaluated for each instance.
    pub fn binding(&self, traversal: &Traversal) -> Option<Binding> {
        if let Some(known) = Binding::of(traversal) {
            return Some(known);
        }
        let found = self.look_up(traversal)?;
        found.keep(traversal);
        Some(found)
    }

    fn look_up(&self, traversal: &Traversal) -> Option<Binding> {
        let (Step::Attribute { name, .. }, rest) = traversal.steps().split_first()? else { return None };
        let root = &*traversal.root.name;
        let mode = match root {
            "var" => return self.variables.get_index_of(name).and_then(narrow).map(Binding::Variable),
            "local" => return self.locals.get_index_of(name).and_then(narrow).map(Binding::Local),
            "module" => return self.calls.get_index_of(name).and_then(narrow).map(Binding::Module),
            "data" => Mode::Data,
            "ephemeral" => Mode::Ephemeral,
            "list" => Mode::List,
            // OpenTofu and Terraform accept `resource.TYPE.NAME` for types whose name is reserved.
            "resource" => Mode::Managed,
            _ if is_reserved(root) => return None,
            _ => return self.resource_at(Mode::Managed, root, name).map(Binding::Resource),
        };
        match rest.first()? {
            Step::Attribute { name: own, .. } => self.resource_at(mode, name, own).map(Binding::PrefixedResource),
            Step::Index { .. } => None,
        }
    }

    fn resource_at(&self, mode: Mode, type_name: &str, name: &str) -> Option<u32> {
        self.resources.get_index_of(&Written { mode, type_name, name }).and_then(narrow)
    }
}

fn narrow(position: usize) -> Option<u32> {
    u32::try_from(position).ok()
}

/// A resource address of borrowed names, for lookups without allocation. Its hash equals that of a
/// [`ResourceAddress`].
#[derive(Hash)]
struct Written<'a> {
    mode: Mode,
    type_name: &'a str,
    name: &'a str,
}

impl Equivalent<ResourceAddress> for Written<'_> {
    fn equivalent(&self, other: &ResourceAddress) -> bool {
        // The name first: most resources of a module share mode and type.
        *self.name == *other.name && *self.type_name == *other.type_name && self.mode == other.mode
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn borrowed_address_hashes_like_an_owned_one() {
        let address = ResourceAddress::managed("type", "name");
        let written = Written { mode: Mode::Managed, type_name: "type", name: "name" };
        let hasher = std::hash::RandomState::new();
        assert_eq!(hasher.hash_one(&written), hasher.hash_one(&address));
        assert!(written.equivalent(&address));
        assert!(!written.equivalent(&ResourceAddress::data("type", "name")));
    }
}
