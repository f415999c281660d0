//! Parsing of addresses that are written as references, in `moved`, `removed` and override blocks.

use groma_address::{InstanceKey, Mode, ModuleInstance, Name, Resource, is_reserved};
use groma_diagnostics::Span;
use groma_hcl::{Step, Traversal};
use groma_lang::instance_key;

use super::context::Decoding;

/// An address written as a reference: a module path, optionally followed by a resource with its key.
pub(super) struct Address {
    pub(super) module: ModuleInstance,
    pub(super) resource: Option<(Resource, InstanceKey)>,
    /// The first instance key.
    pub(super) first_key: Option<KeySpan>,
    /// The first index that is not a valid instance key.
    pub(super) wrong_key: Option<KeySpan>,
    /// A resource type that is a reserved word, which usually refers to something else.
    pub(super) reserved: Option<Name>,
}

/// Error for a reference that is not an address.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoAddress {
    pub(super) why: Why,
    /// The first instance key before the invalid part.
    pub(super) first_key: Option<KeySpan>,
}

/// Reason why a reference is not an address.
#[derive(Clone, Copy, Debug)]
pub(super) enum Why {
    /// An incomplete module step: `module` without a name, or a second key.
    ModuleStep,
    /// Extra steps after the resource or its key.
    ExtraSteps,
    /// A missing or misplaced part.
    Other,
}

/// The span of an instance key and the object that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeySpan {
    pub(super) span: Span,
    pub(super) of: Keyed,
}

/// The kind of object that an instance key selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyed {
    Module,
    Resource,
}

impl Address {
    /// Parses `traversal` and reports errors, except for an invalid key.
    pub(super) fn read(traversal: &Traversal, decoding: &mut Decoding<'_>) -> Option<Self> {
        Self::of(traversal).map_err(|why| why.report(traversal.span, decoding)).ok()
    }

    /// Parses `traversal` as an address.
    pub(super) fn of(traversal: &Traversal) -> Result<Self, NoAddress> {
        let mut reader = Reader {
            words: words(traversal),
            at: 0,
            first_key: None,
            wrong_key: None,
            reserved: None,
            is_resource_read: false,
        };
        reader.address().ok_or_else(|| NoAddress { why: reader.why_not(), first_key: reader.first_key })
    }
}

impl NoAddress {
    /// Reports the error at `span`.
    pub(super) fn report(self, span: Span, decoding: &mut Decoding<'_>) {
        let summary = match self.why {
            Why::ModuleStep => "Invalid address operator",
            Why::ExtraSteps | Why::Other => "Invalid address",
        };
        decoding.error(
            span,
            summary,
            "An address must be a resource (TYPE.NAME), a module (module.NAME), or a resource in a module \
             (module.NAME.TYPE.NAME), optionally with instance keys in brackets.",
        );
    }
}

enum Word<'a> {
    Name(&'a Name),
    Key(Option<InstanceKey>, Span),
}

fn words(traversal: &Traversal) -> Vec<Word<'_>> {
    let steps = traversal.steps().iter().map(|step| match step {
        Step::Attribute { name, .. } => Word::Name(name),
        Step::Index { key, span } => Word::Key(instance_key(key), *span),
    });
    std::iter::once(Word::Name(&traversal.root.name)).chain(steps).collect()
}

struct Reader<'a> {
    words: Vec<Word<'a>>,
    at: usize,
    first_key: Option<KeySpan>,
    wrong_key: Option<KeySpan>,
    reserved: Option<Name>,
    is_resource_read: bool,
}

impl<'a> Reader<'a> {
    fn name(&mut self) -> Option<&'a Name> {
        let Some(Word::Name(name)) = self.words.get(self.at) else { return None };
        self.at += 1;
        Some(name)
    }

    /// Parses an optional instance key.
    fn key(&mut self, of: Keyed) -> InstanceKey {
        let Some(Word::Key(key, span)) = self.words.get(self.at) else { return InstanceKey::None };
        self.at += 1;
        let found = Some(KeySpan { span: *span, of });
        self.first_key = self.first_key.or(found);
        key.clone().unwrap_or_else(|| {
            self.wrong_key = self.wrong_key.or(found);
            InstanceKey::None
        })
    }

    fn address(&mut self) -> Option<Address> {
        let mut module = ModuleInstance::root();
        while let Some(Word::Name(word)) = self.words.get(self.at) {
            if &***word != "module" {
                break;
            }
            self.at += 1;
            let name = self.name()?;
            module = module.child(name.clone(), self.key(Keyed::Module));
        }
        let resource = if self.at == self.words.len() { None } else { Some(self.resource()?) };
        // Without a resource and without a module step, nothing is addressed.
        if self.at < self.words.len() || (resource.is_none() && module.is_root()) {
            return None;
        }
        let (first_key, wrong_key, reserved) = (self.first_key, self.wrong_key, self.reserved.take());
        Some(Address { module, resource, first_key, wrong_key, reserved })
    }

    /// Determines the reason why parsing stopped at the current word.
    fn why_not(&self) -> Why {
        let is_word = |word: &Word<'_>| matches!(word, Word::Name(name) if &***name == "module");
        let before = self.words.get(..self.at).unwrap_or_default();
        let begins_with_step = before.first().is_some_and(is_word);
        match (before, self.words.get(self.at)) {
            ([.., last], None) if is_word(last) && begins_with_step => Why::ModuleStep,
            // A second key after the name of a module: module.a[0][1].
            ([.., step, Word::Name(_), Word::Key(..)], Some(Word::Key(..))) if is_word(step) => Why::ModuleStep,
            _ if self.is_resource_read => Why::ExtraSteps,
            _ => Why::Other,
        }
    }

    fn resource(&mut self) -> Option<(Resource, InstanceKey)> {
        let first = self.name()?;
        // Recorded, not refused: some blocks only warn about a reserved word.
        self.reserved = Some(first).filter(|name| is_reserved(name)).cloned();
        let (mode, type_name) = match Mode::from_block_keyword(first) {
            Some(mode) => (mode, self.name()?),
            None => (Mode::Managed, first),
        };
        let name = self.name()?;
        let key = self.key(Keyed::Resource);
        self.is_resource_read = true;
        Some((Resource { mode, type_name: type_name.clone(), name: name.clone() }, key))
    }
}
