//! Slips that are made up.

use std::ops::Range;

use crate::common::random::Random;

/// How a configuration is written.
#[derive(Clone, Copy, Debug)]
pub enum Syntax {
    Native,
    Json,
}

impl Syntax {
    pub fn file(self) -> &'static str {
        match self {
            Self::Native => "main.tf",
            Self::Json => "main.tf.json",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Native => include_str!("native.txt"),
            Self::Json => include_str!("json.txt"),
        }
    }

    /// Expressions that may replace any value.
    fn values(self) -> Vec<&'static str> {
        let (references, more): (&[_], &[_]) = match self {
            Self::Native => (
                &[
                    "var.nope",
                    "local.sizes",
                    "upper(\"x\")",
                    "terraform_data.each",
                    "each.key",
                    "self.id",
                    "\"${var.secret}\"",
                ],
                &[],
            ),
            Self::Json => (
                &[
                    "\"${var.nope}\"",
                    "\"${local.sizes}\"",
                    "\"${upper(1, 2)}\"",
                    "\"terraform_data.each\"",
                    "\"${each.key}\"",
                    "\"${self.id}\"",
                    "\"${var.secret}\"",
                ],
                &["\"${\"", "\"${1 +}\"", "{\"a\": 1}", "[[]]", "[{}]", "[\"x\"]"],
            ),
        };
        let plain = ["null", "[]", "{}", "\"x\"", "1", "true"].as_slice();
        [plain, references, &["[1]", "x", "1 +", "\"a"], more].concat()
    }

    /// The text between the name of an argument and its value.
    fn separator(self) -> &'static str {
        match self {
            Self::Native => "= ",
            Self::Json => ": ",
        }
    }
}

/// A configuration with one mutation.
pub struct Mutation {
    pub syntax: Syntax,
    /// The kind of slip.
    pub name: String,
    pub text: String,
}

impl Mutation {
    /// The configuration without one.
    pub fn none(syntax: Syntax) -> Self {
        Self { syntax, name: String::from("none"), text: syntax.text().to_owned() }
    }

    pub fn generated(syntax: Syntax, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let text = syntax.text();
        let tokens = tokens(text);
        let (name, range, new) = match random.below(9) {
            0 => token_removed(text, &mut random, &tokens),
            1 => token_doubled(text, &mut random, &tokens),
            2 => tokens_exchanged(text, &mut random, &tokens),
            3 => token_replaced(text, &mut random, &tokens),
            4 => line_removed(text, &mut random),
            5 | 6 => misspelled(text, &mut random, &tokens),
            _ => other_value(syntax, &mut random),
        };
        let (before, after) = (&text[..range.start], &text[range.end..]);
        Self { syntax, name, text: format!("{before}{new}{after}") }
    }
}

/// A slip: its kind, its place and the text there now.
type Change = (String, Range<usize>, String);

fn token_removed(text: &str, random: &mut Random, tokens: &[Range<usize>]) -> Change {
    let token = random.one_of(tokens).unwrap().clone();
    (format!("{:?} is lost", &text[token.clone()]), token, String::new())
}

fn token_doubled(text: &str, random: &mut Random, tokens: &[Range<usize>]) -> Change {
    let token = random.one_of(tokens).unwrap().clone();
    let word = &text[token.clone()];
    (format!("{word:?} twice"), token, format!("{word} {word}"))
}

fn tokens_exchanged(text: &str, random: &mut Random, tokens: &[Range<usize>]) -> Change {
    let at = random.below(tokens.len() - 1);
    let (first, second) = (&tokens[at], &tokens[at + 1]);
    let (one, other) = (&text[first.clone()], &text[second.clone()]);
    let new = format!("{other}{}{one}", &text[first.end..second.start]);
    (format!("{other:?} before {one:?}"), first.start..second.end, new)
}

fn token_replaced(text: &str, random: &mut Random, tokens: &[Range<usize>]) -> Change {
    let (token, other) = (random.one_of(tokens).unwrap().clone(), random.one_of(tokens).unwrap().clone());
    let new = text[other].to_owned();
    (format!("{new:?} for {:?}", &text[token.clone()]), token, new)
}

fn line_removed(text: &str, random: &mut Random) -> Change {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = random.below(lines.len());
    let start: usize = lines[..at].iter().map(|line| line.len()).sum();
    (format!("line {:?} is lost", lines[at].trim()), start..start + lines[at].len(), String::new())
}

/// Two letters of a word, one for the other.
fn misspelled(text: &str, random: &mut Random, tokens: &[Range<usize>]) -> Change {
    let is_word = |token: &&Range<usize>| {
        let word = text[(*token).clone()].trim_matches('"');
        word.len() > 2 && word.starts_with(|first: char| first.is_ascii_alphabetic())
    };
    let words: Vec<Range<usize>> = tokens.iter().filter(is_word).cloned().collect();
    let range = random.one_of(&words).unwrap().clone();
    let word = &text[range.clone()];
    let edge = usize::from(word.starts_with('"'));
    let at = edge + random.below(word.len() - 2 * edge - 1);
    let mut letters = word.as_bytes().to_vec();
    letters.swap(at, at + 1);
    let new = String::from_utf8(letters).unwrap();
    (format!("{word} misspelt: {new}"), range, new)
}

fn other_value(syntax: Syntax, random: &mut Random) -> Change {
    let (text, separator) = (syntax.text(), syntax.separator());
    let mut literals = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = line.trim_end_matches(['\n', ',']).len();
        let at = line.find(separator).map(|at| at + separator.len());
        // Not where a bracket is left open.
        if let Some(at) = at.filter(|at| !line[*at..].contains(['{', '['])) {
            literals.push((start + at..start + end, line[..at].trim()));
        }
        start += line.len();
    }
    let (range, before) = random.one_of(&literals).unwrap().clone();
    let new = random.pick(&syntax.values());
    (format!("value {before} {new}"), range, new.to_owned())
}

/// Words, strings, line ends and single characters.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match first {
            '"' => string_length(rest),
            _ if first.is_alphanumeric() || first == '_' => {
                rest.find(|one: char| !one.is_alphanumeric() && !"_-".contains(one)).unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        if first == '\n' || !first.is_whitespace() {
            tokens.push(at..at + length);
        }
        at += length;
    }
    tokens
}

/// Of the string that the text begins with; all of it where it is not closed.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
