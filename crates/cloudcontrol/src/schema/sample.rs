//! Strings that match a pattern: the reverse of [`Pattern`](super::Pattern), for values that are made up.
//!
//! The sampler reads the regular expressions that schemas contain. It ignores look-around and word boundaries, so callers
//! check the result with the pattern itself.

/// A pattern as a tree.
#[derive(Debug, Clone)]
enum Part {
    /// One of these characters, as ranges.
    Characters(Vec<(char, char)>),
    /// One after the other.
    Sequence(Vec<Part>),
    /// One of these.
    Choice(Vec<Part>),
    /// Between so many and so many times.
    Repeat(Box<Part>, usize, usize),
    Nothing,
}

/// Characters of a class that excludes some, and of `.`.
const COMMON: [(char, char); 3] = [('a', 'z'), ('0', '9'), ('A', 'Z')];
/// Repetitions without an upper bound end here.
const UNBOUNDED: usize = 64;
/// Patterns nested deeper than this are not sampled.
const DEEPEST: usize = 64;
const LONGEST: usize = 4_096;

/// Returns a string that probably matches a pattern, between two lengths if the pattern allows it. `draw` returns a number
/// below its argument.
pub fn sample(pattern: &str, least: usize, most: usize, draw: &mut dyn FnMut(usize) -> usize) -> Option<String> {
    let mut reader = Reader { rest: pattern.chars().collect(), at: 0 };
    let part = reader.choice(0)?;
    if reader.at < reader.rest.len() {
        return None;
    }
    let shortest = length(&part);
    let mut sampler = Sampler { text: String::new(), spare: least.saturating_sub(shortest), draw };
    sampler.write(&part);
    let mut text = sampler.text;
    // A search finds the pattern anywhere, so more may follow where it does not say how it ends.
    while text.chars().count() < least && !pattern.trim_end().ends_with('$') {
        text.push('a');
    }
    (text.chars().count() <= most).then_some(text)
}

/// The length of the shortest match.
fn length(part: &Part) -> usize {
    match part {
        Part::Characters(_) => 1,
        Part::Sequence(parts) => parts.iter().map(length).sum(),
        Part::Choice(parts) => parts.iter().map(length).min().unwrap_or(0),
        Part::Repeat(part, least, _) => length(part).saturating_mul(*least),
        Part::Nothing => 0,
    }
}

struct Sampler<'a> {
    text: String,
    /// Number of characters that are still missing for the wanted length.
    spare: usize,
    draw: &'a mut dyn FnMut(usize) -> usize,
}

impl Sampler<'_> {
    fn write(&mut self, part: &Part) {
        if self.text.len() > LONGEST {
            return;
        }
        match part {
            Part::Characters(ranges) => {
                let character = self.character(ranges);
                self.text.extend(character);
            }
            Part::Sequence(parts) => parts.iter().for_each(|part| self.write(part)),
            Part::Choice(parts) => {
                // Longer branches of an identifier say more than an empty one.
                let index = parts.iter().position(|part| length(part) > 0).unwrap_or(0);
                let index = if self.spare > 0 { (self.draw)(parts.len()) } else { index };
                if let Some(part) = parts.get(index) {
                    self.write(part);
                }
            }
            Part::Repeat(part, least, most) => {
                let each = length(part).max(1);
                let more = self.spare.div_ceil(each).min(most.saturating_sub(*least));
                self.spare = self.spare.saturating_sub(more * each);
                (0..least + more).for_each(|_| self.write(part));
            }
            Part::Nothing => {}
        }
    }

    fn character(&mut self, ranges: &[(char, char)]) -> Option<char> {
        // Letters and digits first: they are no separators of identifiers.
        let readable: Vec<(char, char)> =
            ranges.iter().copied().filter(|(from, _)| from.is_ascii_alphanumeric()).collect();
        let ranges = if readable.is_empty() { ranges } else { &readable };
        let (from, to) = *ranges.get((self.draw)(ranges.len()))?;
        let width = (to as u32).saturating_sub(from as u32).min(25) as usize + 1;
        char::from_u32(from as u32 + u32::try_from((self.draw)(width)).ok()?)
    }
}

struct Reader {
    rest: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek();
        self.at += usize::from(found.is_some());
        found
    }

    fn takes(&mut self, text: &str) -> bool {
        let wanted: Vec<char> = text.chars().collect();
        let found = self.rest.get(self.at..self.at + wanted.len()) == Some(&wanted[..]);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    fn choice(&mut self, depth: usize) -> Option<Part> {
        if depth > DEEPEST {
            return None;
        }
        let mut branches = vec![self.sequence(depth)?];
        while self.takes("|") {
            branches.push(self.sequence(depth)?);
        }
        Some(if branches.len() == 1 { branches.remove(0) } else { Part::Choice(branches) })
    }

    fn sequence(&mut self, depth: usize) -> Option<Part> {
        let mut parts = Vec::new();
        while let Some(character) = self.peek().filter(|character| !"|)".contains(*character)) {
            self.at += 1;
            let atom = match character {
                '(' => self.group(depth)?,
                '[' => self.class()?,
                '.' => Part::Characters(COMMON.to_vec()),
                '^' | '$' => Part::Nothing,
                '\\' => self.escape()?,
                other => Part::Characters(vec![(other, other)]),
            };
            let atom = self.repeated(atom)?;
            parts.push(atom);
        }
        Some(Part::Sequence(parts))
    }

    fn group(&mut self, depth: usize) -> Option<Part> {
        let look_around = ["?=", "?!", "?<=", "?<!"].iter().any(|sign| self.takes(sign));
        let _ = !look_around && (self.takes("?:") || self.takes("?i)") || self.takes("?s)"));
        if self.rest.get(self.at.saturating_sub(1)) == Some(&')') && !look_around {
            return Some(Part::Nothing);
        }
        if self.takes("?<") {
            while self.next()? != '>' {}
        }
        let inside = self.choice(depth + 1)?;
        self.takes(")").then_some(if look_around { Part::Nothing } else { inside })
    }

    fn class(&mut self) -> Option<Part> {
        let negated = self.takes("^");
        let mut ranges = Vec::new();
        let mut first = true;
        loop {
            let character = self.next()?;
            match character {
                ']' if !first => break,
                '\\' => match self.escape()? {
                    Part::Characters(more) => ranges.extend(more),
                    _ => return None,
                },
                from if self.peek() == Some('-') && self.rest.get(self.at + 1).is_some_and(|to| *to != ']') => {
                    self.at += 1;
                    let mut to = self.next()?;
                    if to == '\\' {
                        to = self.next()?;
                    }
                    ranges.push((from, to));
                }
                single => ranges.push((single, single)),
            }
            first = false;
        }
        if !negated {
            return Some(Part::Characters(ranges));
        }
        let excluded = |character: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&character));
        let open: Vec<(char, char)> = COMMON
            .iter()
            .flat_map(|(from, to)| *from..=*to)
            .filter(|character| !excluded(*character))
            .map(|character| (character, character))
            .collect();
        Some(Part::Characters(open))
    }

    fn escape(&mut self) -> Option<Part> {
        let character = self.next()?;
        let ranges = match character {
            'd' => vec![('0', '9')],
            'w' => COMMON.to_vec(),
            's' => vec![(' ', ' ')],
            'S' | 'D' | 'W' => vec![('a', 'z')],
            'b' | 'B' | 'A' | 'Z' | 'z' => return Some(Part::Nothing),
            'n' => vec![('\n', '\n')],
            't' => vec![('\t', '\t')],
            'r' => vec![('\r', '\r')],
            'p' | 'P' => {
                if self.takes("{") {
                    while self.next()? != '}' {}
                }
                COMMON.to_vec()
            }
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            digit if digit.is_ascii_digit() => return None,
            other => vec![(other, other)],
        };
        Some(Part::Characters(ranges))
    }

    fn code(&mut self, digits: usize) -> Option<Vec<(char, char)>> {
        let text: String = self.rest.get(self.at..self.at + digits)?.iter().collect();
        self.at += digits;
        let character = char::from_u32(u32::from_str_radix(&text, 16).ok()?)?;
        Some(vec![(character, character)])
    }

    fn repeated(&mut self, atom: Part) -> Option<Part> {
        let (least, most) = match self.peek() {
            Some('*') => (0, UNBOUNDED),
            Some('+') => (1, UNBOUNDED),
            Some('?') => (0, 1),
            Some('{') => match self.bounds() {
                Some(bounds) => {
                    self.at -= 1;
                    bounds
                }
                None => return Some(atom),
            },
            _ => return Some(atom),
        };
        self.at += 1;
        // A lazy or possessive sign does not change what matches.
        let _ = self.takes("?") || self.takes("+");
        self.repeated(Part::Repeat(Box::new(atom), least, most.max(least)))
    }

    /// Reads `{2}`, `{2,}` or `{2,5}`. Anything else in braces is text.
    fn bounds(&mut self) -> Option<(usize, usize)> {
        let end = self.rest.get(self.at..)?.iter().position(|character| *character == '}')?;
        let text: String = self.rest.get(self.at + 1..self.at + end)?.iter().collect();
        let (least, most) = text.split_once(',').map_or((&*text, None), |(least, most)| (least, Some(most)));
        let least: usize = least.trim().parse().ok()?;
        let most = match most.map(str::trim) {
            None => least,
            Some("") => least.max(UNBOUNDED),
            Some(most) => most.parse().ok()?,
        };
        self.at += end + 1;
        Some((least, most))
    }
}

/// Numbers that look random and are the same in each run, for tests.
#[cfg(test)]
pub struct Draw(pub u64);

#[cfg(test)]
impl Draw {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }

    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Catalogue, Pattern};

    fn draws() -> impl FnMut(usize) -> usize {
        let mut draw = Draw(7);
        move |limit| draw.index(limit)
    }

    #[test]
    fn samples_match_their_patterns() {
        for pattern in [
            "^DRAFT$",
            "^arn:aws[a-z-]*:s3tables:[a-z0-9-]+:[0-9]{12}:bucket/[a-z0-9_-]{3,63}/table/[0-9a-f]{8}$",
            r"^(?:farm-[0-9a-f]{32}|x)$",
            r"^[\w\-.]+@\d{2,}$",
            "^[^/]{4}(a|b|)?$",
            "^a{2}b{2,3}c{1,}$",
        ] {
            let text = sample(pattern, 0, 200, &mut draws()).unwrap_or_else(|| panic!("{pattern}"));
            assert!(Pattern::new(pattern).matches(&text), "{pattern}: {text}");
        }
        assert_eq!(sample("^[a-z]*$", 10, 20, &mut draws()).map(|text| text.len()), Some(10));
        assert!(sample("^a{30}$", 0, 20, &mut draws()).is_none());
        assert!(sample("(", 0, 20, &mut draws()).is_none());
    }

    #[test]
    fn nearly_all_patterns_of_schemas_can_be_sampled() {
        let mut patterns = std::collections::BTreeSet::new();
        for type_name in Catalogue::shipped().type_names() {
            let schema = Catalogue::shipped().get(type_name).unwrap().unwrap();
            for node in &schema.nodes {
                patterns.extend(node.pattern.iter().map(|pattern| pattern.text().to_owned()));
            }
        }
        let failed: Vec<&String> = patterns
            .iter()
            .filter(|pattern| {
                let text = sample(pattern, 0, usize::MAX, &mut draws());
                !text.is_some_and(|text| Pattern::new(pattern).matches(&text))
            })
            .collect();
        assert!(failed.len() * 50 < patterns.len(), "{} of {}: {failed:#?}", failed.len(), patterns.len());
    }
}
