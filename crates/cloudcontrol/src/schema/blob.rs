//! The shipped schemas: one indexed blob inside the binary, of which single types are expanded when they are asked for.
//!
//! Layout, all numbers little-endian `u32`:
//!
//! ```text
//! "GROMSCH1"
//! types, frames, source length, names length, packed dictionary length, dictionary length
//! types  x (name offset, name length, frame number, offset in frame, length)   sorted by name
//! frames x (offset, packed length, expanded length)
//! source        one line that says where the schemas come from
//! names         type names one after the other
//! dictionary    zstd, for all frames
//! frames        zstd with that dictionary; the schemas of neighbouring types, minified JSON, one after the other
//! ```
//!
//! `cargo xtask schemas` writes it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::SchemaError;

const MAGIC: &[u8; 8] = b"GROMSCH1";
const HEADER: usize = 32;
const RECORD: usize = 20;
const FRAME: usize = 12;
/// The largest services have about 100 types, in frames of 128 KiB.
const FRAMES_OF_A_SERVICE: usize = 16;

static SHIPPED: &[u8] = include_bytes!("../../data/schemas.bin");
static DESCRIPTIONS: &[u8] = include_bytes!("../../data/descriptions.bin");

/// An opened blob. Opening reads the header only.
#[derive(Debug)]
pub struct Blob {
    bytes: &'static [u8],
    types: usize,
    frames: usize,
    source: usize,
    names: usize,
    dictionary: usize,
    dictionary_size: usize,
    expanded_dictionary: OnceLock<Vec<u8>>,
    /// The frames that were expanded last, the latest at the end: neighbouring types are often requested one after the other.
    recent_frames: Mutex<Vec<(usize, Arc<Vec<u8>>)>>,
    /// The number of frames to keep.
    capacity: usize,
    sections: Sections,
}

#[derive(Debug, Clone, Copy)]
struct Sections {
    frame_table: usize,
    source: usize,
    names: usize,
    dictionary: usize,
    frames: usize,
}

impl Blob {
    /// The blob inside this binary.
    pub fn shipped() -> Result<Self, SchemaError> {
        Self::open(SHIPPED)
    }

    /// The descriptions and permissions inside this binary, in the same layout: JSON objects by type.
    pub fn descriptions() -> Result<Self, SchemaError> {
        Self::open(DESCRIPTIONS)
    }

    fn open(bytes: &'static [u8]) -> Result<Self, SchemaError> {
        if bytes.get(..8) != Some(MAGIC.as_slice()) {
            return Err(SchemaError::Blob("it does not begin as one"));
        }
        let mut counts = [0usize; 6];
        for (index, count) in counts.iter_mut().enumerate() {
            *count = number(bytes, 8 + index * 4)?;
        }
        let [types, frames, source, names, dictionary, dictionary_size] = counts;
        let frame_table = HEADER + types * RECORD;
        let source_at = frame_table + frames * FRAME;
        let names_at = source_at + source;
        let dictionary_at = names_at + names;
        let sections = Sections {
            frame_table,
            source: source_at,
            names: names_at,
            dictionary: dictionary_at,
            frames: dictionary_at + dictionary,
        };
        if sections.frames > bytes.len() {
            return Err(SchemaError::Blob("it is cut off"));
        }
        let expanded_dictionary = OnceLock::new();
        Ok(Self {
            bytes,
            types,
            frames,
            source,
            names,
            dictionary,
            dictionary_size,
            expanded_dictionary,
            recent_frames: Mutex::default(),
            capacity: 1,
            sections,
        })
    }

    /// Keeps the frames of a whole service, for a pass over all types.
    #[must_use]
    pub fn for_all_types(self) -> Self {
        Self { capacity: FRAMES_OF_A_SERVICE, ..self }
    }

    /// Returns the origin of the schemas, for `version` output: package, version and date.
    pub fn source(&self) -> &'static str {
        self.slice(self.sections.source, self.source)
            .ok()
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or("")
    }

    /// Returns the number of types.
    pub fn len(&self) -> usize {
        self.types
    }

    /// Whether there are no types.
    pub fn is_empty(&self) -> bool {
        self.types == 0
    }

    /// The names of all types, sorted.
    pub fn type_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        (0..self.types).filter_map(|index| self.name(index).ok())
    }

    /// The position of a type's name in the sorted names.
    pub fn position(&self, type_name: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.types);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(middle).ok()?.cmp(type_name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// The schema document of one type: minified JSON.
    pub fn document(&self, type_name: &str) -> Result<Option<String>, SchemaError> {
        let Some(position) = self.position(type_name) else { return Ok(None) };
        let record = HEADER + position * RECORD;
        let frame = number(self.bytes, record + 8)?;
        let offset = number(self.bytes, record + 12)?;
        let length = number(self.bytes, record + 16)?;
        let expanded = self.recent_frame(frame)?;
        let text = expanded.get(offset..offset + length).ok_or(SchemaError::Blob("a schema lies outside its frame"))?;
        let text = std::str::from_utf8(text).map_err(|_| SchemaError::Blob("a schema is not UTF-8"))?;
        Ok(Some(text.to_owned()))
    }

    /// All schema documents in the order of their names, each frame expanded once.
    pub fn documents(&self, mut visit: impl FnMut(&'static str, &str)) -> Result<(), SchemaError> {
        let mut open: Option<(usize, Vec<u8>)> = None;
        for position in 0..self.types {
            let record = HEADER + position * RECORD;
            let frame = number(self.bytes, record + 8)?;
            let expanded = match open.take() {
                Some((known, bytes)) if known == frame => bytes,
                _ => self.frame(frame)?,
            };
            let (offset, length) = (number(self.bytes, record + 12)?, number(self.bytes, record + 16)?);
            let text =
                expanded.get(offset..offset + length).ok_or(SchemaError::Blob("a schema lies outside its frame"))?;
            visit(
                self.name(position)?,
                std::str::from_utf8(text).map_err(|_| SchemaError::Blob("a schema is not UTF-8"))?,
            );
            open = Some((frame, expanded));
        }
        Ok(())
    }

    fn recent_frame(&self, frame: usize) -> Result<Arc<Vec<u8>>, SchemaError> {
        // The lock is held while a frame is expanded, so that parallel callers expand it once.
        let mut recent = self.recent_frames.lock().unwrap_or_else(PoisonError::into_inner);
        let known = recent.iter().position(|(known, _)| *known == frame);
        let entry = match known {
            Some(position) => recent.remove(position),
            None => (frame, Arc::new(self.frame(frame)?)),
        };
        if recent.len() >= self.capacity {
            recent.remove(0);
        }
        recent.push(entry.clone());
        Ok(entry.1)
    }

    fn frame(&self, frame: usize) -> Result<Vec<u8>, SchemaError> {
        if frame >= self.frames {
            return Err(SchemaError::Blob("a schema names a frame that does not exist"));
        }
        let entry = self.sections.frame_table + frame * FRAME;
        let offset = number(self.bytes, entry)?;
        let packed = number(self.bytes, entry + 4)?;
        let size = number(self.bytes, entry + 8)?;
        let packed = self.slice(self.sections.frames + offset, packed)?;
        let mut decompressor = zstd::bulk::Decompressor::with_dictionary(self.dictionary()?)
            .map_err(|_| SchemaError::Blob("its dictionary cannot be used"))?;
        decompressor.decompress(packed, size).map_err(|_| SchemaError::Blob("a frame cannot be expanded"))
    }

    fn dictionary(&self) -> Result<&[u8], SchemaError> {
        if let Some(dictionary) = self.expanded_dictionary.get() {
            return Ok(dictionary);
        }
        let packed = self.slice(self.sections.dictionary, self.dictionary)?;
        let expanded = zstd::bulk::decompress(packed, self.dictionary_size)
            .map_err(|_| SchemaError::Blob("its dictionary cannot be expanded"))?;
        // Two threads may expand it at the same time; the first result is kept.
        Ok(self.expanded_dictionary.get_or_init(|| expanded))
    }

    fn name(&self, index: usize) -> Result<&'static str, SchemaError> {
        let record = HEADER + index * RECORD;
        let offset = number(self.bytes, record)?;
        let length = number(self.bytes, record + 4)?;
        if offset + length > self.names {
            return Err(SchemaError::Blob("a name lies outside the names"));
        }
        let bytes = self.slice(self.sections.names + offset, length)?;
        std::str::from_utf8(bytes).map_err(|_| SchemaError::Blob("a name is not UTF-8"))
    }

    fn slice(&self, offset: usize, length: usize) -> Result<&'static [u8], SchemaError> {
        self.bytes.get(offset..offset + length).ok_or(SchemaError::Blob("it is cut off"))
    }
}

fn number(bytes: &[u8], offset: usize) -> Result<usize, SchemaError> {
    let bytes = bytes.get(offset..offset + 4).ok_or(SchemaError::Blob("it is cut off"))?;
    let array: [u8; 4] = bytes.try_into().map_err(|_| SchemaError::Blob("it is cut off"))?;
    Ok(u32::from_le_bytes(array) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_can_be_expanded_alone() {
        let blob = Blob::shipped().unwrap();
        assert!(blob.len() > 1_700);
        for name in blob.type_names() {
            let text = blob.document(name).unwrap().unwrap();
            let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(schema["typeName"], name);
            assert!(schema.get("description").is_none(), "{name} carries prose");
        }
        assert!(blob.document("AWS::No::Such").unwrap().is_none());
        let mut visited = 0;
        blob.documents(|name, text| {
            assert_eq!(blob.document(name).unwrap().as_deref(), Some(text));
            visited += 1;
        })
        .unwrap();
        assert_eq!(visited, blob.len());
    }

    #[test]
    fn a_damaged_blob_is_an_error_and_not_a_panic() {
        for cut in [0, 7, 8, 20, 40, 5_000, 60_000] {
            let opened = Blob::open(&SHIPPED[..cut]);
            if let Ok(blob) = opened {
                let _ = blob.document("AWS::EC2::VPC");
            }
        }
    }
}
