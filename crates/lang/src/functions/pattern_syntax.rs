//! RE2's syntax of patterns, in which Terraform's users write them. It is read here and not by the parser of our library: that
//! has other classes and flags, and gives a meaning to what is text or a mistake in RE2.

use regex_syntax::hir::{Capture, Class, Dot, Hir, Look, Repetition};

use super::pattern_class::{Case, between, brackets, class_escape};
use super::pattern_text::{Problem, Text, escaped};

/// Maximal number of repetitions, nested ones multiplied.
const MOST: u32 = 1000;
/// Maximal nesting depth of a pattern.
const DEEPEST: usize = 1000;

/// A pattern that was read.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) expression: Hir,
    /// The names of the groups that capture, in the order of their opening; nothing for one without a name.
    pub(super) groups: Vec<Option<String>>,
}

/// The flags that `(?i)` and others have set.
#[derive(Clone, Copy)]
struct Flags {
    case: Case,
    /// Whether `^` and `$` are also the beginning and the end of a line.
    lines: bool,
    /// Whether a dot is a line break, too.
    dot_all: bool,
    /// Whether repetitions are lazy, and with a question mark behind them greedy.
    swapped: bool,
}

const NONE: Flags = Flags { case: Case::Matters, lines: false, dot_all: false, swapped: false };

/// A piece that can be repeated.
struct Piece {
    expression: Hir,
    /// The largest number of repetitions in it.
    repeated: u32,
}

/// The parts after an open parenthesis.
struct Group {
    /// Its number, if it captures.
    capture: Option<u32>,
    /// The flags that count again after it.
    outside: Flags,
    alternatives: Vec<Hir>,
    pieces: Vec<Piece>,
    repeated: u32,
}

impl Group {
    fn new(capture: Option<u32>, outside: Flags) -> Self {
        Self { capture, outside, alternatives: Vec::new(), pieces: Vec::new(), repeated: 1 }
    }

    fn end_alternative(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        self.repeated = pieces.iter().map(|piece| piece.repeated).fold(self.repeated, u32::max);
        self.alternatives.push(Hir::concat(pieces.into_iter().map(|piece| piece.expression).collect()));
    }

    fn ended(mut self) -> Piece {
        self.end_alternative();
        let sub = Hir::alternation(self.alternatives);
        let expression = match self.capture {
            Some(index) => Hir::capture(Capture { index, name: None, sub: Box::new(sub) }),
            None => sub,
        };
        Piece { expression, repeated: self.repeated }
    }
}

struct PatternReader<'a> {
    text: Text<'a>,
    flags: Flags,
    /// The groups around the current place; the pattern itself is the first.
    open: Vec<Group>,
    groups: Vec<Option<String>>,
}

/// Parses a regular expression in RE2 syntax.
pub(super) fn parse(pattern: &str) -> Result<Parsed, Problem> {
    let mut reader = PatternReader {
        text: Text { rest: pattern },
        flags: NONE,
        open: vec![Group::new(None, NONE)],
        groups: Vec::new(),
    };
    let mut after_repetition = false;
    while !reader.text.rest.is_empty() {
        let bounds = reader.repetition()?;
        if let Some((least, most)) = bounds {
            // RE2 refuses stacked repetitions such as `a**`.
            if after_repetition {
                return Err("invalid nested repetition operator");
            }
            reader.repeat(least, most)?;
        } else {
            reader.piece()?;
        }
        after_repetition = bounds.is_some();
    }
    match (reader.open.pop(), reader.open.is_empty()) {
        (Some(whole), true) => Ok(Parsed { expression: whole.ended().expression, groups: reader.groups }),
        _ => Err("missing closing )"),
    }
}

impl PatternReader<'_> {
    fn push(&mut self, expression: Hir) {
        self.push_piece(Piece { expression, repeated: 1 });
    }

    fn push_piece(&mut self, piece: Piece) {
        if let Some(group) = self.open.last_mut() {
            group.pieces.push(piece);
        }
    }

    fn literal(&mut self, character: u32) {
        let class = between(character, character, self.flags.case);
        self.push(Hir::class(Class::Unicode(class)));
    }

    /// The bounds of a repetition, if one is what follows. Braces without numbers are text.
    fn repetition(&mut self) -> Result<Option<(u32, Option<u32>)>, Problem> {
        let before = self.text.rest;
        let bounds = match self.text.take() {
            Some('*') => Some((0, None)),
            Some('+') => Some((1, None)),
            Some('?') => Some((0, Some(1))),
            Some('{') => self.bounds(),
            _ => None,
        };
        match bounds {
            None => self.text.rest = before,
            Some((least, most)) if least > MOST || most.is_some_and(|most| most > MOST || most < least) => {
                return Err("invalid repeat count");
            }
            Some(_) => {}
        }
        Ok(bounds)
    }

    fn bounds(&mut self) -> Option<(u32, Option<u32>)> {
        let least = self.text.number()?;
        let most = match self.text.eat(",") {
            false => Some(least),
            true if self.text.rest.starts_with('}') => None,
            true => Some(self.text.number()?),
        };
        self.text.eat("}").then_some((least, most))
    }

    fn repeat(&mut self, least: u32, most: Option<u32>) -> Result<(), Problem> {
        let greedy = self.text.eat("?") == self.flags.swapped;
        let piece = self.open.last_mut().and_then(|group| group.pieces.pop());
        let Some(piece) = piece else { return Err("missing argument to repetition operator") };
        // Nothing is left of what is repeated never, not even its limits.
        let repeated = if most == Some(0) { 1 } else { most.unwrap_or(least).max(1).saturating_mul(piece.repeated) };
        if repeated > MOST && most.unwrap_or(least).max(least) >= 2 {
            return Err("invalid repeat count");
        }
        let repetition = Repetition { min: least, max: most, greedy, sub: Box::new(piece.expression) };
        self.push_piece(Piece { expression: Hir::repetition(repetition), repeated });
        Ok(())
    }

    /// Parses an element without its repetition.
    fn piece(&mut self) -> Result<(), Problem> {
        let Flags { case, lines, dot_all, .. } = self.flags;
        match self.text.take() {
            Some('(') if self.text.eat("?") => return self.special_group(),
            Some('(') => return self.capture(None),
            Some(')') => return self.close(),
            Some('|') => {
                if let Some(group) = self.open.last_mut() {
                    group.end_alternative();
                }
            }
            Some('^') => self.push(Hir::look(if lines { Look::StartLF } else { Look::Start })),
            Some('$') => self.push(Hir::look(if lines { Look::EndLF } else { Look::End })),
            Some('.') => self.push(Hir::dot(if dot_all { Dot::AnyChar } else { Dot::AnyCharExceptLF })),
            Some('[') => {
                let class = brackets(&mut self.text, case)?;
                self.push(Hir::class(Class::Unicode(class)));
            }
            Some('\\') => return self.escape(),
            Some(character) => self.literal(character.into()),
            None => {}
        }
        Ok(())
    }

    /// Parses an escape after its backslash.
    fn escape(&mut self) -> Result<(), Problem> {
        let look = match self.text.rest.chars().next() {
            Some('A') => Look::Start,
            Some('z') => Look::End,
            Some('b') => Look::WordAscii,
            Some('B') => Look::WordAsciiNegate,
            Some('Q') => {
                self.text.skip(1);
                // Without `\E`, the rest of the pattern is literal.
                let (literal, rest) = self.text.rest.split_once("\\E").unwrap_or((self.text.rest, ""));
                self.text.rest = rest;
                literal.chars().for_each(|character| self.literal(character.into()));
                return Ok(());
            }
            _ => return self.character(),
        };
        self.text.skip(1);
        self.push(Hir::look(look));
        Ok(())
    }

    /// A class or a character that is written as an escape.
    fn character(&mut self) -> Result<(), Problem> {
        if let Some(class) = class_escape(&mut self.text, self.flags.case)? {
            self.push(Hir::class(Class::Unicode(class)));
            return Ok(());
        }
        let character = escaped(&mut self.text)?;
        self.literal(character);
        Ok(())
    }

    fn begin(&mut self, capture: Option<u32>) -> Result<(), Problem> {
        if self.open.len() >= DEEPEST {
            return Err("the pattern is nested too deep");
        }
        self.open.push(Group::new(capture, self.flags));
        Ok(())
    }

    fn capture(&mut self, name: Option<&str>) -> Result<(), Problem> {
        self.groups.push(name.map(str::to_owned));
        self.begin(u32::try_from(self.groups.len()).ok())
    }

    fn close(&mut self) -> Result<(), Problem> {
        // The outermost group is the pattern itself, which no parenthesis opened.
        if self.open.len() < 2 {
            return Err("unexpected )");
        }
        if let Some(group) = self.open.pop() {
            self.flags = group.outside;
            self.push_piece(group.ended());
        }
        Ok(())
    }

    /// Parses a construct that starts with `(?`: a named group, a group with flags, or flags for the rest of the enclosing group.
    fn special_group(&mut self) -> Result<(), Problem> {
        if self.text.eat("P<") || self.text.eat("<") {
            let (name, rest) = self.text.rest.split_once('>').unwrap_or_default();
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err("invalid named capture");
            }
            self.text.rest = rest;
            return self.capture(Some(name));
        }
        let mut flags = self.flags;
        let mut on = true;
        let mut any = false;
        loop {
            match self.text.take() {
                Some('i') => flags.case = if on { Case::Folded } else { Case::Matters },
                Some('m') => flags.lines = on,
                Some('s') => flags.dot_all = on,
                Some('U') => flags.swapped = on,
                Some('-') if on => {
                    on = false;
                    any = false;
                    continue;
                }
                Some(':') if on || any => {
                    self.begin(None)?;
                    self.flags = flags;
                    return Ok(());
                }
                Some(')') if on || any => {
                    self.flags = flags;
                    return Ok(());
                }
                _ => return Err("invalid or unsupported Perl syntax after (?"),
            }
            any = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_patterns_are_refused_and_deep_ones_too() {
        let deep = |depth: usize| "(".repeat(depth) + &")".repeat(depth);
        assert!(parse(&deep(DEEPEST - 1)).is_ok());
        assert!(parse(&deep(DEEPEST)).is_err());
        for wrong in [
            "(",
            ")",
            "(?",
            "(?P<",
            "(?P<>)",
            "[",
            "[\\",
            "\\",
            "\\x",
            "\\x{",
            "\\p",
            "\\p{",
            "a{2",
            "{1}",
            "\\p{gc=L}",
        ] {
            // A brace without a complete count is literal text.
            let fine = wrong == "a{2";
            assert_eq!(parse(wrong).is_ok(), fine, "{wrong}");
        }
    }

    #[test]
    fn numbers_of_surrogates_stand_for_nothing() {
        for (pattern, text, wanted) in [
            (r"\x{d800}", "x", false),
            (r"[\x{d800}-\x{dfff}]", "x", false),
            (r"[\x{d7ff}-\x{e000}]", "\u{e000}", true),
            (r"[x\x{d900}-\x{e001}]", "\u{e000}", true),
        ] {
            let expression = parse(pattern).unwrap().expression;
            let regex = regex_automata::meta::Regex::builder().build_from_hir(&expression).unwrap();
            assert_eq!(regex.is_match(text), wanted, "{pattern}");
        }
    }
}
