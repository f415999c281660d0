//! What providers declare, kept on disk: large providers take seconds to say it, and say the same every time.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use prost::Message;

use super::schemas::RawSchemas;
use crate::Protocol;
use crate::proto::v6::ResourceIdentitySchema;

/// Counts the changes of [`Kept`], of which older files are no use.
const FORMAT: u32 = 1;

/// The place for what the provider of one package declares.
///
/// Only a package whose content is known may have one: a provider's schemas may depend on its code, and on nothing else.
#[derive(Clone, Debug)]
pub struct SchemaCache {
    folder: PathBuf,
    name: String,
}

/// What a provider said.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Kept {
    #[prost(uint32, tag = "1")]
    protocol: u32,
    #[prost(message, required, tag = "2")]
    pub(super) schemas: RawSchemas,
    #[prost(btree_map = "string, message", tag = "3")]
    pub(super) identities: BTreeMap<String, ResourceIdentitySchema>,
}

impl SchemaCache {
    /// A place in `folder`, which is made when it is needed, for the package that has this `hash`.
    pub fn new(folder: impl Into<PathBuf>, hash: &str) -> Self {
        let name = hash.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
        Self { folder: folder.into(), name }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.{FORMAT}", self.name))
    }

    /// What was kept; nothing where it cannot be read, for whatever reason: the provider can be asked.
    pub(super) fn read(&self) -> Option<Kept> {
        let bytes = std::fs::read(self.path()).ok()?;
        let (content, sum) = bytes.split_last_chunk()?;
        if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return None;
        }
        Kept::decode(content).ok()
    }

    /// Keeps what a provider said. A cache that cannot be written is none, which is no reason to stop.
    ///
    /// Other runs may read and write the same at the same time: a file is there as a whole or not at all.
    pub(super) fn write(&self, kept: &Kept) {
        let mut bytes = kept.encode_to_vec();
        let sum = crc32fast::hash(&bytes);
        bytes.extend(sum.to_le_bytes());
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = self.folder.join(format!("{}.{}-{number}.new", self.name, std::process::id()));
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::File::create(&own)?.write_all(&bytes))
            .and_then(|()| std::fs::rename(&own, self.path()));
        if written.is_err() {
            let _ = std::fs::remove_file(own);
        }
    }
}

impl Kept {
    pub fn new(protocol: Protocol, schemas: RawSchemas, identities: BTreeMap<String, ResourceIdentitySchema>) -> Self {
        Self { protocol: protocol.number(), schemas, identities }
    }

    /// The version of the protocol that it was said in.
    pub fn protocol(&self) -> Option<Protocol> {
        Protocol::from_number(self.protocol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_back_unless_it_was_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let cache = SchemaCache::new(folder.path().join("schemas"), "h1:a/b+c=");
        assert!(cache.read().is_none());
        let kept = Kept::new(Protocol::V6, RawSchemas::default(), BTreeMap::new());
        cache.write(&kept);
        assert_eq!(cache.read(), Some(kept));
        assert_eq!(std::fs::read_dir(folder.path().join("schemas")).unwrap().count(), 1);

        let mut bytes = std::fs::read(cache.path()).unwrap();
        bytes[0] ^= 1;
        std::fs::write(cache.path(), &bytes).unwrap();
        assert!(cache.read().is_none());
        std::fs::write(cache.path(), b"x").unwrap();
        assert!(cache.read().is_none());
    }
}
