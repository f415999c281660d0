//! Values and paths in a saved plan: msgpack for known and unknown values, followed by marks.

use std::borrow::Cow;

use groma_value::{CodecError, Marks, Path, PathMarks, PathStep, Type, Value, msgpack};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes as they are; when read, those of the file.
#[derive(Default)]
pub(super) struct Bytes<'a>(pub(super) Cow<'a, [u8]>);

impl<'a> Bytes<'a> {
    /// Returns the bytes as they are in the file, which live as long as the file; `None` for values that are yet to be written.
    pub(super) fn in_file(self) -> Option<&'a [u8]> {
        match self.0 {
            Cow::Borrowed(bytes) => Some(bytes),
            Cow::Owned(_) => None,
        }
    }
}

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Bytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'a [u8]>::deserialize(deserializer).map(|bytes| Self(Cow::Borrowed(bytes)))
    }
}

/// A value of a type that the reader knows.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredValue<'a> {
    #[serde(borrow)]
    data: Bytes<'a>,
    sensitive: Vec<StoredPath<'a>>,
}

/// A path through a value.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPath<'a>(#[serde(borrow)] Vec<StoredStep<'a>>);

#[derive(Serialize, Deserialize)]
enum StoredStep<'a> {
    /// An attribute of an object.
    Attribute(Cow<'a, str>),
    /// An index, as a value of any type.
    #[serde(borrow)]
    Index(Bytes<'a>),
}

impl StoredValue<'_> {
    pub(super) fn of(value: &Value, ty: &Type) -> Result<Self, CodecError> {
        let (plain, marks) = value.unmark_deep();
        let data = Bytes(msgpack::encode(&plain, ty)?.into());
        let sensitive = marks.iter().filter(|(_, marks)| marks.is_sensitive());
        let sensitive = sensitive.map(|(path, _)| StoredPath::of(path)).collect::<Result<_, _>>()?;
        Ok(Self { data, sensitive })
    }

    /// A value that brings its type along.
    pub(super) fn dynamic(value: &Value) -> Result<Self, CodecError> {
        Self::of(value, &Type::Dynamic)
    }

    pub(super) fn value(self, ty: &Type) -> Option<Value> {
        let value = msgpack::decode(&self.data.0, ty).ok()?;
        if self.sensitive.is_empty() {
            return Some(value);
        }
        let marks: Option<PathMarks> =
            self.sensitive.into_iter().map(|path| Some((path.path()?, Marks::SENSITIVE))).collect();
        Some(value.mark_paths(&marks?))
    }

    pub(super) fn dynamic_value(self) -> Option<Value> {
        self.value(&Type::Dynamic)
    }
}

impl StoredPath<'_> {
    pub(super) fn of(path: &Path) -> Result<Self, CodecError> {
        let step = |step: &PathStep| match step {
            PathStep::Attribute(name) => Ok(StoredStep::Attribute(name.to_string().into())),
            PathStep::Index(key) => {
                let (plain, _) = key.unmark_deep();
                Ok(StoredStep::Index(Bytes(msgpack::encode(&plain, &Type::Dynamic)?.into())))
            }
        };
        path.steps().iter().map(step).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn path(self) -> Option<Path> {
        let mut path = Path::root();
        for step in self.0 {
            path.push(match step {
                StoredStep::Attribute(name) => PathStep::Attribute((&*name).into()),
                StoredStep::Index(key) => PathStep::Index(msgpack::decode(&key.0, &Type::Dynamic).ok()?),
            });
        }
        Some(path)
    }
}
