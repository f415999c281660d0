//! The simulated cloud: objects that are created with idempotency tokens.

use std::collections::BTreeMap;

use super::world::Inner;

#[derive(Default)]
pub(super) struct Cloud {
    /// The object that each token has created.
    tokens: BTreeMap<String, String>,
    /// The living objects with their addresses.
    pub alive: BTreeMap<String, String>,
    /// Objects that may be lost, because the store was out of reach when they were created.
    pub at_risk: Vec<String>,
    /// Objects that the state keeps as deposed ones: their address is free for another.
    pub deposed: Vec<String>,
}

/// The occasion of a creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The run wants a new object.
    First,
    /// An earlier run may have asked for the object.
    Again,
}

/// Creates an object at an address, or returns the one that the token has created before.
pub(super) fn create(inner: &mut Inner, token: &str, address: &str, asked: Asked) -> String {
    if let Some(id) = inner.cloud.tokens.get(token) {
        return id.clone();
    }
    let id = format!("i-{}", inner.cloud.tokens.len());
    let twin = inner.cloud.alive.iter().find(|(_, other)| *other == address).map(|(id, _)| id.clone());
    // A call that was announced and never made is made by the run that asks after it: the object is then deposed.
    if let Some(twin) = twin.filter(|twin| {
        asked == Asked::First && !inner.cloud.at_risk.contains(twin) && !inner.cloud.deposed.contains(twin)
    }) {
        inner.violate(format!("{address} is made twice: {twin} and {id}"));
    }
    inner.note("creates", &format!("{id} at {address}"));
    inner.cloud.tokens.insert(token.to_owned(), id.clone());
    inner.cloud.alive.insert(id.clone(), address.to_owned());
    id
}

/// Deletes an object.
pub(super) fn delete(inner: &mut Inner, id: &str) {
    inner.note("deletes", &id);
    inner.cloud.alive.remove(id);
}
