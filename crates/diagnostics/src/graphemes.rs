//! Grapheme clusters: the user-perceived characters that columns and string functions count.

use unicode_segmentation::UnicodeSegmentation;

/// Splits a text into grapheme clusters by the rules of Unicode 15.
///
/// Later versions of Unicode join consonants around a virama (`क्ष`) into one cluster; Terraform counts them
/// separately.
pub fn graphemes(text: &str) -> impl Iterator<Item = &str> {
    // Split before segmentation, which would join a replacement character with combining marks after it.
    let parts = text.split_inclusive(REPLACEMENT).flat_map(|part| match part.strip_suffix(REPLACEMENT) {
        Some(before) => [before, &part[before.len()..]],
        None => [part, ""],
    });
    parts.flat_map(|part| part.graphemes(true)).flat_map(|cluster| Consonants { rest: cluster })
}

/// Represents bytes that are not UTF-8. Terraform treats it as a separate cluster regardless of its neighbors.
const REPLACEMENT: char = '\u{FFFD}';

/// Counts the grapheme clusters of a text, see [`graphemes`].
pub fn grapheme_count(text: &str) -> usize {
    // CRLF is one cluster of two bytes; apart from that, every ASCII character is a cluster.
    if text.is_ascii() && !text.contains('\r') { text.len() } else { graphemes(text).count() }
}

/// Splits a cluster where Unicode 15 has a boundary that newer rules remove.
struct Consonants<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Consonants<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        // A boundary between two joined consonants is found by segmenting just the pair: the joining rule needs more
        // context.
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

/// Whether newer Unicode rules may join the character with the consonant before it. Only Indic scripts qualify; the
/// joiner in emoji sequences follows an older rule.
fn may_be_joined(character: char) -> bool {
    matches!(u32::from(character), 0x900..=0x1CFF | 0xA800..=0xABFF | 0x1_0A00..=0x1_1FFF)
}

/// Whether there is a cluster boundary between the two characters, ignoring the text before them.
fn has_boundary(pair: &str) -> bool {
    pair.graphemes(true).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::{grapheme_count, graphemes};

    #[test]
    fn consonants_joined_by_a_virama_are_apart() {
        assert_eq!(graphemes("क्षि").collect::<Vec<_>>(), ["क्", "षि"]);
        assert_eq!(graphemes("नमस्ते x").collect::<Vec<_>>(), ["न", "म", "स्", "ते", " ", "x"]);
        assert_eq!(graphemes("ক্ত").count(), 2);
        assert_eq!(graphemes("നമ്മ്ള").count(), 4);
        assert_eq!(graphemes("क्\u{200D}ष").collect::<Vec<_>>(), ["क्\u{200D}", "ष"]);
    }

    #[test]
    fn the_replacement_character_is_apart_from_everything() {
        assert_eq!(
            graphemes("\u{600}\u{FFFD}\u{301}\u{301}x").collect::<Vec<_>>(),
            ["\u{600}", "\u{FFFD}", "\u{301}\u{301}", "x"]
        );
        assert_eq!(graphemes("\u{FFFD}\u{FFFD}").count(), 2);
        assert_eq!(graphemes("").count(), 0);
    }

    #[test]
    fn clusters_of_older_rules_stay_whole() {
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
            assert_eq!(grapheme_count(text), 1, "{text:?}");
        }
        assert_eq!(grapheme_count("🇩🇪🇫"), 2);
        assert_eq!(grapheme_count("abc\n"), 4);
        assert_eq!(grapheme_count(""), 0);
    }
}
