//! Grapheme clusters: the characters as users see them, which columns and string functions count.

use unicode_segmentation::UnicodeSegmentation;

/// The grapheme clusters of a text, by the rules of Unicode 15: later ones take the consonants that a virama joins (`क्ष`) for one
/// cluster, and Terraform counts each of them.
pub fn clusters(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split_inclusive(REPLACEMENT).flat_map(|part| match part.strip_suffix(REPLACEMENT) {
        Some(before) => [before, &part[before.len()..]],
        None => [part, ""],
    });
    parts.flat_map(|part| part.graphemes(true)).flat_map(|cluster| Consonants { rest: cluster })
}

/// The replacement for invalid bytes. Terraform counts it as a cluster of its own, whatever surrounds it.
const REPLACEMENT: char = '\u{FFFD}';

/// Returns the number of grapheme clusters of a text, see [`clusters`].
pub fn cluster_count(text: &str) -> usize {
    // A line end of two characters is one cluster.
    if text.is_ascii() && !text.contains('\r') { text.len() } else { clusters(text).count() }
}

/// The parts of a cluster that newer rules have put together.
struct Consonants<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Consonants<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let mut before = self.rest.chars().next()?.len_utf8();
        let mut end = self.rest.len();
        for (at, character) in self.rest.char_indices().skip(1) {
            let next = at + character.len_utf8();
            if may_be_joined(character) && has_boundary(&self.rest[at - before..next]) {
                end = at;
                break;
            }
            before = character.len_utf8();
        }
        let (first, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(first)
    }
}

/// Consonants can be; parts of emoji, which a joiner holds together by an old rule, are elsewhere.
fn may_be_joined(character: char) -> bool {
    matches!(u32::from(character), 0x900..=0x1CFF | 0xA800..=0xABFF | 0x1_0A00..=0x1_1FFF)
}

/// Whether two characters are apart where nothing is before them.
fn has_boundary(pair: &str) -> bool {
    pair.graphemes(true).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::{cluster_count, clusters};

    #[test]
    fn consonants_joined_by_a_virama_are_apart() {
        assert_eq!(clusters("क्षि").collect::<Vec<_>>(), ["क्", "षि"]);
        assert_eq!(clusters("नमस्ते x").collect::<Vec<_>>(), ["न", "म", "स्", "ते", " ", "x"]);
        assert_eq!(clusters("ক্ত").count(), 2);
        assert_eq!(clusters("നമ്മ്ള").count(), 4);
        assert_eq!(clusters("क्\u{200D}ष").collect::<Vec<_>>(), ["क्\u{200D}", "ष"]);
    }

    #[test]
    fn the_replacement_character_is_apart_from_everything() {
        assert_eq!(
            clusters("\u{600}\u{FFFD}\u{301}\u{301}x").collect::<Vec<_>>(),
            ["\u{600}", "\u{FFFD}", "\u{301}\u{301}", "x"]
        );
        assert_eq!(clusters("\u{FFFD}\u{FFFD}").count(), 2);
        assert_eq!(clusters("").count(), 0);
    }

    #[test]
    fn what_belongs_together_by_old_rules_stays_together() {
        for text in [
            "e\u{301}",
            "👩🏽\u{200D}💻",
            "🇩🇪",
            "\u{1112}\u{1161}\u{11AB}",
            "\r\n",
            "\u{600}a",
            "ก\u{E33}",
            "\u{D4E}ക",
            "©\u{200D}®",
        ] {
            assert_eq!(cluster_count(text), 1, "{text:?}");
        }
        assert_eq!(cluster_count("🇩🇪🇫"), 2);
        assert_eq!(cluster_count("abc\n"), 4);
        assert_eq!(cluster_count(""), 0);
    }
}
