//! The real objects of a scripted provider.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groma_value::Value;

/// Objects by type and ID. Clones share the objects, so a test can inspect and change them behind the provider's back,
/// and a second provider can continue with them.
#[derive(Clone, Debug, Default)]
pub struct World {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    objects: BTreeMap<(String, String), Value>,
    made: u64,
}

impl World {
    /// Creates an empty world.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the object `id` of the type `type_name`.
    pub fn get(&self, type_name: &str, id: &str) -> Option<Value> {
        self.lock().objects.get(&(type_name.to_owned(), id.to_owned())).cloned()
    }

    /// Stores an object, replacing one with the same ID.
    pub fn put(&self, type_name: &str, id: &str, object: Value) {
        self.lock().objects.insert((type_name.to_owned(), id.to_owned()), object);
    }

    /// Removes and returns an object.
    pub fn remove(&self, type_name: &str, id: &str) -> Option<Value> {
        self.lock().objects.remove(&(type_name.to_owned(), id.to_owned()))
    }

    /// Changes an attribute of an object, to simulate drift. Returns whether the object exists.
    pub fn change(&self, type_name: &str, id: &str, attribute: &str, value: Value) -> bool {
        let mut inner = self.lock();
        let Some(object) = inner.objects.get_mut(&(type_name.to_owned(), id.to_owned())) else { return false };
        let Some(view) = object.as_object() else { return false };
        let attributes: Vec<_> = view
            .iter()
            .map(|(name, old)| (name.clone(), if **name == *attribute { value.clone() } else { old.clone() }))
            .collect();
        *object = Value::object(attributes);
        true
    }

    /// Returns the sorted IDs of all objects of a type.
    pub fn ids(&self, type_name: &str) -> Vec<String> {
        self.lock().objects.keys().filter(|(own, _)| own == type_name).map(|(_, id)| id.clone()).collect()
    }

    /// Returns the number of objects of all types.
    pub fn len(&self) -> usize {
        self.lock().objects.len()
    }

    /// Whether the world contains no objects.
    pub fn is_empty(&self) -> bool {
        self.lock().objects.is_empty()
    }

    /// Generates an ID that no object has had.
    pub(crate) fn new_id(&self, type_name: &str) -> String {
        let mut inner = self.lock();
        inner.made += 1;
        format!("{type_name}-{}", inner.made)
    }
}
