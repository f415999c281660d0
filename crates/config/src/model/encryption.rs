//! The content of an `encryption` block.

use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::{Body, Expression};
use indexmap::IndexMap;

/// The encryption of a root module: its blocks, and what they come to.
#[derive(Clone, Debug)]
pub struct Encryption {
    /// The location of the block's header.
    pub span: Span,
    /// The evaluated methods, or the errors to report when a state or plan is opened.
    pub methods: Result<EncryptionMethods, Diagnostics>,
}

/// The encryption of each kind of file; kinds without one stay in clear.
#[derive(Clone, Debug, Default)]
pub struct EncryptionMethods {
    /// The encryption of state files.
    pub state: Option<Arc<groma_encryption::Encryption>>,
    /// The encryption of plan files.
    pub plan: Option<Arc<groma_encryption::Encryption>>,
    /// The states of others, which data sources read.
    pub remote: groma_encryption::RemoteEncryption,
}

/// An `encryption` block as it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct EncryptionBlock {
    pub(crate) key_providers: IndexMap<(Name, Name), EncryptionPart>,
    pub(crate) methods: IndexMap<(Name, Name), EncryptionPart>,
    pub(crate) state: Option<EncryptionTarget>,
    pub(crate) plan: Option<EncryptionTarget>,
    pub(crate) remote: Option<RemoteTargets>,
    /// Whether there are key providers or methods that could not be read, so that names of them may be meant.
    pub(crate) has_unread_parts: bool,
    pub(crate) span: Span,
}

/// A `key_provider` or `method` block.
#[derive(Clone, Debug)]
pub(crate) struct EncryptionPart {
    pub(crate) body: Body,
    pub(crate) span: Span,
}

/// The methods for a kind of file.
#[derive(Clone, Debug)]
pub(crate) struct EncryptionTarget {
    pub(crate) enforced: bool,
    pub(crate) method: Option<Expression>,
    pub(crate) fallback: Option<Box<EncryptionTarget>>,
    pub(crate) span: Span,
}

/// For the states of others, which data sources read.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemoteTargets {
    pub(crate) default: Option<EncryptionTarget>,
    pub(crate) named: IndexMap<Name, EncryptionTarget>,
}

impl EncryptionBlock {
    /// Applies an override: its arguments replace those of this target.
    pub(crate) fn overridden_by(mut self, change: Self) -> Self {
        override_parts(&mut self.key_providers, change.key_providers);
        override_parts(&mut self.methods, change.methods);
        override_target(&mut self.state, change.state);
        override_target(&mut self.plan, change.plan);
        self.has_unread_parts |= change.has_unread_parts;
        if let Some(remote) = change.remote {
            let base = self.remote.get_or_insert_default();
            override_target(&mut base.default, remote.default);
            for (name, target) in remote.named {
                let mut known = base.named.swap_remove(&name);
                override_target(&mut known, Some(target));
                base.named.extend(known.map(|target| (name, target)));
            }
        }
        self
    }

    /// The targets that may name methods.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &EncryptionTarget> {
        let remote = self.remote.iter().flat_map(|remote| remote.default.iter().chain(remote.named.values()));
        self.state.iter().chain(&self.plan).chain(remote)
    }
}

fn override_parts(base: &mut IndexMap<(Name, Name), EncryptionPart>, change: IndexMap<(Name, Name), EncryptionPart>) {
    for (name, part) in change {
        match base.get_mut(&name) {
            Some(known) => known.body = known.body.overridden_by(&part.body),
            None => {
                base.insert(name, part);
            }
        }
    }
}

fn override_target(base: &mut Option<EncryptionTarget>, change: Option<EncryptionTarget>) {
    let Some(change) = change else { return };
    *base = Some(match base.take() {
        None => change,
        Some(known) => EncryptionTarget {
            enforced: known.enforced || change.enforced,
            method: change.method.or(known.method),
            fallback: change.fallback.or(known.fallback),
            span: known.span,
        },
    });
}
