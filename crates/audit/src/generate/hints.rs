//! Hints about valid attribute values in a provider's texts.

use std::collections::BTreeMap;

use groma_provider::{Block, Item, ProviderDiagnostics};
use groma_value::PathStep;

/// Candidate values by attribute name.
///
/// A schema says only that an attribute is a string; its description or an error message may name the valid strings.
/// Words in quotes, backticks and brackets are candidates.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueHints {
    words: BTreeMap<String, Vec<String>>,
}

/// The maximum number of candidates per attribute.
const MAX_CANDIDATES: usize = 40;
/// The maximum length of a candidate, in bytes.
const MAX_LENGTH: usize = 60;

impl ValueHints {
    /// Collects candidates from the descriptions in `block`.
    pub(crate) fn of(block: &Block) -> Self {
        let mut hints = Self::default();
        hints.describe(block);
        hints
    }

    fn describe(&mut self, block: &Block) {
        for slot in block.slots() {
            if let Item::Attribute(attribute) = &slot.item {
                self.note(&slot.name, &attribute.description().text);
            }
            if let Some((_, inner)) = slot.item.nested() {
                self.describe(inner);
            }
        }
    }

    fn note(&mut self, name: &str, text: &str) {
        let found = words(text);
        if found.is_empty() {
            return;
        }
        let known = self.words.entry(name.to_owned()).or_default();
        for word in found {
            if known.len() < MAX_CANDIDATES && word != name && !known.contains(&word) {
                known.push(word);
            }
        }
    }

    /// Collects candidates from the errors about a rejected configuration.
    pub(crate) fn learn(&mut self, block: &Block, problems: &ProviderDiagnostics) {
        for problem in problems.iter().filter(|problem| problem.is_error()) {
            let named = problem.path.steps().iter().rev().find_map(|step| match step {
                PathStep::Attribute(name) => Some(name.to_string()),
                PathStep::Index(_) => None,
            });
            match named {
                Some(name) => self.note(&name, &problem.detail),
                // Providers often omit the attribute path and name the attribute only in the text.
                None => {
                    let mentioned = block.slots().iter().filter(|slot| problem.detail.contains(&*slot.name));
                    let names: Vec<String> = mentioned.map(|slot| slot.name.to_string()).collect();
                    names.iter().for_each(|name| self.note(name, &problem.detail));
                }
            }
        }
    }

    /// Returns the candidates for the attribute `name`.
    pub(crate) fn about(&self, name: &str) -> &[String] {
        self.words.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Extracts the words in quotes, backticks and brackets.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in [('"', '"'), ('`', '`'), ('[', ']')] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inner, remainder)) = after.split_once(close) else { break };
            rest = remainder;
            let parts: Vec<&str> = match open {
                '[' => inner.split([' ', ',']).collect(),
                _ => vec![inner],
            };
            let plain = parts.into_iter().map(|word| word.trim_matches(['"', '`', '\'']).trim());
            found.extend(
                plain
                    .filter(|word| {
                        !word.is_empty() && word.len() <= MAX_LENGTH && !word.contains(['(', '\n', '[', ']'])
                    })
                    .map(str::to_owned),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_quotes_backticks_and_brackets_are_hints() {
        assert_eq!(words("one of `RSA`, `ECDSA`"), ["RSA", "ECDSA"]);
        assert_eq!(words(r#"expected to be one of [a b], got "c""#), ["c", "a", "b"]);
        assert_eq!(
            words(r#"one of: ["x" "y"]"#),
            ["x", " ", "y", "x", "y"].map(str::trim).iter().filter(|w| !w.is_empty()).copied().collect::<Vec<_>>()
        );
        assert!(words("nothing here, and an open ` too").is_empty());
    }
}
