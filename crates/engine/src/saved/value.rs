//! Values and paths inside a saved plan: msgpack for what is known and unknown, marks beside it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_value::{CodecError, Marks, Path, PathMarks, PathStep, Type, Value, msgpack};
use serde::{Deserialize, Serialize};

/// A value of a type that the reader knows.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredValue {
    data: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sensitive: Vec<StoredPath>,
}

/// A path through a value.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPath(Vec<StoredStep>);

#[derive(Serialize, Deserialize)]
enum StoredStep {
    /// An attribute of an object.
    Attribute(String),
    /// An index, as a value of any type.
    Index(String),
}

impl StoredValue {
    pub(super) fn of(value: &Value, ty: &Type) -> Result<Self, CodecError> {
        let (plain, marks) = value.unmark_deep();
        let data = to_base64(&msgpack::encode(&plain, ty)?);
        let sensitive = marks.iter().filter(|(_, marks)| marks.is_sensitive());
        let sensitive = sensitive.map(|(path, _)| StoredPath::of(path)).collect::<Result<_, _>>()?;
        Ok(Self { data, sensitive })
    }

    /// A value that brings its type along.
    pub(super) fn dynamic(value: &Value) -> Result<Self, CodecError> {
        Self::of(value, &Type::Dynamic)
    }

    pub(super) fn value(self, ty: &Type) -> Option<Value> {
        let value = msgpack::decode(&from_base64(&self.data)?, ty).ok()?;
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

impl StoredPath {
    pub(super) fn of(path: &Path) -> Result<Self, CodecError> {
        let step = |step: &PathStep| match step {
            PathStep::Attribute(name) => Ok(StoredStep::Attribute(name.to_string())),
            PathStep::Index(key) => {
                let (plain, _) = key.unmark_deep();
                Ok(StoredStep::Index(to_base64(&msgpack::encode(&plain, &Type::Dynamic)?)))
            }
        };
        path.steps().iter().map(step).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn path(self) -> Option<Path> {
        let mut path = Path::root();
        for step in self.0 {
            path.push(match step {
                StoredStep::Attribute(name) => PathStep::Attribute(name.into()),
                StoredStep::Index(key) => PathStep::Index(msgpack::decode(&from_base64(&key)?, &Type::Dynamic).ok()?),
            });
        }
        Some(path)
    }
}

pub(super) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
