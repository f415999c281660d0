//! The arguments of a block, by name.

use groma_value::{Kind, Value};

/// The evaluated arguments of a block, without marks.
pub(super) struct Arguments {
    values: Value,
    /// The reason why output is suppressed, if it is.
    pub(super) secret: Option<&'static str>,
}

impl Arguments {
    pub(super) fn new(arguments: &Value) -> Self {
        let marks = arguments.deep_marks();
        // Terraform's texts, which users and their tools recognize.
        let secret = match (marks.is_sensitive(), marks.is_ephemeral()) {
            (true, _) => Some("(output suppressed due to sensitive value in config)"),
            (false, true) => Some("(output suppressed due to ephemeral value in config)"),
            (false, false) => None,
        };
        Self { values: arguments.unmark_deep().0, secret }
    }

    /// The value of an argument; null where it is not set.
    pub(super) fn value(&self, name: &str) -> Value {
        self.values.attribute(name).unwrap_or(Value::NULL)
    }

    /// Whether the argument is set, be it to something unknown.
    pub(super) fn has(&self, name: &str) -> bool {
        !self.value(name).is_null()
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.value(name).as_str().map(str::to_owned)
    }

    /// A text that says something.
    pub(super) fn filled(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.is_empty())
    }

    pub(super) fn truth(&self, name: &str) -> Option<bool> {
        self.value(name).as_bool()
    }

    /// The texts of a list; none where it is not set.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        match self.value(name).kind() {
            Kind::List(texts) => texts.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect(),
            _ => Vec::new(),
        }
    }

    /// The names and texts of a map.
    pub(super) fn pairs(&self, name: &str) -> Vec<(String, String)> {
        match self.value(name).kind() {
            Kind::Map(map) => {
                map.iter().filter_map(|(name, value)| Some((name.to_string(), value.as_str()?.to_owned()))).collect()
            }
            _ => Vec::new(),
        }
    }
}
