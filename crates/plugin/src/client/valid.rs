//! Configurations that the provider has found valid.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use prost::Message;

use crate::proto::v6::validate_resource_config::Request;

/// More are not remembered: where so many differ, few are the same.
const MOST: usize = 1_000;

/// Configurations that the provider took without a word. What the many instances of a block are configured with is often the same, and
/// a provider says the same of it each time.
#[derive(Default)]
pub(super) struct Valid(Mutex<HashSet<Vec<u8>>>);

/// A configuration as it is remembered: the whole request.
pub(super) struct Key(Vec<u8>);

impl Valid {
    /// The key of a request, where the provider must be asked; nothing where it has answered the same before.
    pub fn unless_known(&self, request: &Request) -> Option<Key> {
        let key = request.encode_to_vec();
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&key);
        (!known).then_some(Key(key))
    }

    /// Remembers that nothing was said about a request.
    pub fn remember(&self, Key(key): Key) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST {
            known.insert(key);
        }
    }

    /// Forgets all: with another configuration of its own the provider may say something else.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(type_name: &str, config: &'static [u8]) -> Request {
        let config = crate::proto::v6::DynamicValue { msgpack: config.into(), json: Default::default() };
        Request { type_name: type_name.to_owned(), config: Some(config), client_capabilities: None }
    }

    #[test]
    fn the_same_is_known_until_it_is_forgotten() {
        let valid = Valid::default();
        let key = valid.unless_known(&request("a", b"1")).unwrap();
        assert!(valid.unless_known(&request("a", b"1")).is_some(), "no answer yet");
        valid.remember(key);
        assert!(valid.unless_known(&request("a", b"1")).is_none());
        assert!(valid.unless_known(&request("a", b"2")).is_some());
        assert!(valid.unless_known(&request("b", b"1")).is_some());
        valid.forget();
        assert!(valid.unless_known(&request("a", b"1")).is_some());
    }
}
