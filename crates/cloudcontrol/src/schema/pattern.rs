//! Patterns of the schemas. They are meant for ECMAScript, but their authors thought of Java, Python or Go as well, so a
//! few ways of theirs are translated first.

use std::sync::OnceLock;

use crate::Name;

/// Longer text is not matched: the engine backtracks, and a validator must not hang on a document.
const LONGEST_MATCHED_TEXT: usize = 16 * 1024;

/// A pattern, compiled when first used.
#[derive(Debug)]
pub struct Pattern {
    text: Name,
    compiled: OnceLock<Option<regress::Regex>>,
}

impl Pattern {
    /// A pattern as the schema writes it.
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), compiled: OnceLock::new() }
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the pattern engine takes it. One that it does not take allows everything (CC-20).
    pub fn is_supported(&self) -> bool {
        self.compiled().is_some()
    }

    /// Whether linear-time engines take the pattern too: it has no lookaround, back references or syntax of one dialect.
    ///
    /// Other tools skip the rest, and AWS itself accepts values that some of these patterns exclude: tags with the key
    /// `Modified By` break the pattern `^(?!aws:)[a-zA-Z+-=._:/]+$` of many types.
    pub fn is_portable(&self) -> bool {
        let has_foreign_escape = ["\\u", "\\<", "\\>"].iter().any(|escape| self.text.contains(escape));
        !has_foreign_escape && regex_syntax::ast::parse::Parser::new().parse(&self.text).is_ok()
    }

    /// Unanchored search, as JSON Schema has it.
    pub fn matches(&self, text: &str) -> bool {
        text.len() > LONGEST_MATCHED_TEXT || self.compiled().is_none_or(|regex| regex.find(text).is_some())
    }

    fn compiled(&self) -> Option<&regress::Regex> {
        self.compiled.get_or_init(|| compile(&self.text)).as_ref()
    }
}

fn compile(text: &str) -> Option<regress::Regex> {
    let (flags, rest) = inline_flags(text);
    // Property classes mean something in Unicode mode only; everything else is laxer without it.
    let unicode = rest.contains("\\p{") || rest.contains("\\P{") || rest.contains("\\u{");
    let flags = if unicode { format!("{flags}u") } else { flags };
    regress::Regex::with_flags(&translate(rest, unicode), flags.as_str()).ok()
}

/// `(?i)` and `(?s)` at the beginning are flags elsewhere.
fn inline_flags(text: &str) -> (String, &str) {
    if let Some((flags, rest)) = text.strip_prefix("(?").and_then(|rest| rest.split_once(')'))
        && !flags.is_empty()
        && flags.chars().all(|flag| "ims".contains(flag))
    {
        return (flags.to_owned(), rest);
    }
    (String::new(), text)
}

/// `\A`, `\Z`, `\z` are anchors elsewhere; Unicode mode refuses a backslash before a character that needs none.
fn translate(text: &str, unicode: bool) -> String {
    let mut translated = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            translated.push(character);
            continue;
        }
        match characters.next() {
            Some('A') => translated.push('^'),
            Some('Z' | 'z') => translated.push('$'),
            Some(escaped) if unicode && !needs_escape(escaped) => translated.push(escaped),
            Some(escaped) => translated.extend(['\\', escaped]),
            None => translated.push('\\'),
        }
    }
    translated
}

fn needs_escape(character: char) -> bool {
    character.is_ascii_alphanumeric() || "^$\\.*+?()[]{}|/-".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Catalogue;

    #[test]
    fn cc_20_patterns_of_other_dialects() {
        assert!(Pattern::new("^a+\\Z").matches("aa"));
        assert!(!Pattern::new("^a+\\Z").matches("aab"));
        assert!(Pattern::new("^[\\p{L}\\p{Z}_.:\\=\\@]*$").matches("Größe a.b"));
        assert!(!Pattern::new("^[\\p{L}]*$").matches("1"));
        assert!(Pattern::new("(?i)^ab$").matches("AB"));
        assert!(Pattern::new("(").matches("anything"), "a pattern that cannot be read allows everything");
    }

    #[test]
    fn cc_20_patterns_of_one_dialect_are_not_portable() {
        for portable in ["^[a-z]{1,64}$", "^(?i)x$", "^[\\p{L}\\p{Z}_.:]*$", "^arn:aws[a-z-]*:\\S+$"] {
            assert!(Pattern::new(portable).is_portable(), "{portable}");
        }
        for other in ["^(?!aws:)[a-z]+$", "^(?=.*[0-9]).+$", "^(a)\\1$", "^a+\\Z", "^[\\u0020-\\u00FF]*$"] {
            assert!(!Pattern::new(other).is_portable(), "{other}");
        }
    }

    #[test]
    fn cc_20_nearly_all_patterns_are_supported() {
        let mut unsupported = std::collections::BTreeSet::new();
        for type_name in Catalogue::shipped().type_names() {
            let schema = Catalogue::shipped().get(type_name).unwrap().unwrap();
            for node in &schema.nodes {
                let patterns = node.pattern.iter().chain(node.patterns.iter().map(|(pattern, _)| pattern));
                unsupported.extend(
                    patterns.filter(|pattern| !pattern.is_supported()).map(|pattern| pattern.text().to_owned()),
                );
            }
        }
        assert!(unsupported.len() < 20, "{}: {unsupported:#?}", unsupported.len());
    }
}
