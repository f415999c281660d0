//! Interned values, shared by all records that have them in common.

use std::collections::HashMap;

/// Asked several times for each instance, and once for each of its dependencies; hence the hash.
pub(super) type Known<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
