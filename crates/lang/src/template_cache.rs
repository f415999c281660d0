//! Templates that functions have parsed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use groma_diagnostics::{Diagnostics, Sources};
use groma_hcl::{Expression, parse_template};

/// Templates that have been parsed, by name and text: a template that a thousand instances use is parsed once.
#[derive(Clone, Default)]
pub struct TemplateCache {
    parsed: Arc<Mutex<HashMap<NameAndText, Parsed>>>,
}

type NameAndText = (String, Arc<str>);
/// A template, and what is wrong with it.
pub(crate) type Parsed = Arc<(Expression, Diagnostics)>;

impl fmt::Debug for TemplateCache {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("TemplateCache")
    }
}

impl TemplateCache {
    /// The template of that name and text; nothing where there is no room for another text.
    pub(crate) fn parse(&self, name: &str, text: String, sources: &Sources) -> Option<Parsed> {
        let key = (name.to_owned(), Arc::<str>::from(text));
        let mut parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = parsed.get(&key) {
            return Some(Arc::clone(known));
        }
        let file = sources.add(name, Arc::clone(&key.1))?;
        let template = Arc::new(parse_template(&file));
        parsed.insert(key, Arc::clone(&template));
        Some(template)
    }
}
