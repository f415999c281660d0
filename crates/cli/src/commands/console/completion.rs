//! Completion at the console prompt: functions, names of the root module, and attributes of their objects.

use std::cell::Cell;

use groma_config::check_references;
use groma_diagnostics::Sources;
use groma_hcl::{is_identifier, parse_expression};
use groma_lang::{evaluate, functions};
use groma_value::{Kind, Type};
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};

use super::ConsoleScope;
use super::input::goes_on;

/// The completer: all candidate words, sorted, and the module that expressions are evaluated in.
pub(super) struct ConsoleCompleter<'a> {
    words: Vec<String>,
    console: &'a ConsoleScope<'a>,
    /// Whether the current line has text: an interrupt then discards the line instead of leaving the console.
    begun: Cell<bool>,
}

impl<'a> ConsoleCompleter<'a> {
    /// Collects the words that expressions may use.
    pub(super) fn of(console: &'a ConsoleScope<'a>) -> Self {
        let module = console.module;
        let mut words: Vec<String> =
            ["path.module", "path.root", "path.cwd", "terraform.workspace", "type(", "exit", "help"]
                .map(str::to_owned)
                .into();
        words.extend(functions::names().into_iter().map(|name| format!("{name}(")));
        words.extend(module.variables.keys().map(|name| format!("var.{name}")));
        words.extend(module.locals.keys().map(|name| format!("local.{name}")));
        words.extend(module.calls.keys().map(|name| format!("module.{name}")));
        words.extend(module.resources.keys().map(ToString::to_string));
        words.sort_unstable();
        words.dedup();
        Self { words, console, begun: Cell::new(false) }
    }

    /// Whether the line had text when the prompt last returned.
    pub(super) fn had_begun(&self) -> bool {
        self.begun.take()
    }

    /// Returns the start of the word before the cursor and its completions: words, else attributes of the object before its last dot.
    fn candidates(&self, line: &str, cursor: usize) -> (usize, Vec<String>) {
        let before = line.get(..cursor).unwrap_or(line);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        let start = before.trim_end_matches(is_part).len();
        let begun = before.get(start..).unwrap_or_default();
        // An empty word would complete to everything, and Tab at the start of an expression should not flood the
        // screen.
        if begun.is_empty() {
            return (start, Vec::new());
        }
        // The words are sorted, so all completions are adjacent.
        let from = self.words.partition_point(|word| word.as_str() < begun);
        let matching: Vec<String> =
            self.words.iter().skip(from).take_while(|word| word.starts_with(begun)).cloned().collect();
        if !matching.is_empty() {
            return (start, matching);
        }
        // Attributes are only known by evaluating the object, so they are the last resort.
        let Some((_, name)) = begun.rsplit_once('.') else { return (start, Vec::new()) };
        let start = before.len() - name.len();
        let object = path_at_end(before.get(..start - 1).unwrap_or_default());
        let members = self.members(object).into_iter().filter(|member| member.starts_with(name));
        (start, members.collect())
    }

    /// Returns the attribute names of an object that are valid identifiers.
    fn members(&self, object: &str) -> Vec<String> {
        let sources = Sources::default();
        let Some(file) = sources.add("<console-input>", object) else { return Vec::new() };
        let (expression, mut problems) = parse_expression(&file);
        problems.append(check_references(self.console.module, &expression));
        // An invalid prefix has no attributes; its errors are reported when the line is entered.
        if problems.has_errors() {
            return Vec::new();
        }
        let value = evaluate(&expression, self.console.scope, &mut problems);
        let names: Vec<String> = match (value.unmark().0.kind(), value.ty()) {
            // The value decides for maps, whose keys are not part of their type.
            (Kind::Map(map), _) => map.keys().iter().map(ToString::to_string).collect(),
            (_, Type::Object(object)) => object.iter().map(|(name, _)| name.to_string()).collect(),
            _ => Vec::new(),
        };
        names.into_iter().filter(|name| is_identifier(name)).collect()
    }
}

/// Returns the traversal at the end of `text`: names with dots, and indexes in brackets.
fn path_at_end(text: &str) -> &str {
    let mut depth = 0_usize;
    let mut start = text.len();
    // Scans backwards, so a closing bracket opens a level.
    for (at, c) in text.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' if depth > 0 => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || matches!(c, '_' | '-' | '.') => {}
            _ => break,
        }
        start = at;
    }
    text.get(start..).unwrap_or_default()
}

impl Completer for ConsoleCompleter<'_> {
    type Candidate = String;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.candidates(line, cursor))
    }
}

impl Validator for ConsoleCompleter<'_> {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        // An expression inside brackets continues on the next line, so Enter must not submit it.
        let is_open = goes_on(&format!("{}\n", context.input()));
        Ok(if is_open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for ConsoleCompleter<'_> {
    type Hint = String;

    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<String> {
        // The hinter is the only part of the editor that sees every change of the line.
        self.begun.set(!line.is_empty());
        None
    }
}

impl Highlighter for ConsoleCompleter<'_> {}

impl Helper for ConsoleCompleter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use groma_config::{LoadOptions, MemoryFiles, load};
    use groma_lang::{ConstantScope, Resolved, Scope};

    /// Local values that are written as constants.
    struct Locals(Vec<(&'static str, groma_value::Value)>);

    impl Scope for Locals {
        fn resolve(&self, traversal: &groma_hcl::Traversal) -> Result<Resolved, groma_diagnostics::Diagnostic> {
            let named = |name: &str| {
                traversal.steps().first().is_some_and(
                    |step| matches!(step, groma_hcl::Step::Attribute { name: found, .. } if **found == *name),
                )
            };
            match self.0.iter().find(|(name, _)| named(name)) {
                Some((_, value)) => Ok(Resolved { value: value.clone(), consumed: 1 }),
                None => ConstantScope.resolve(traversal),
            }
        }

        fn functions(&self) -> &groma_lang::FunctionContext {
            ConstantScope.functions()
        }
    }

    #[test]
    fn completes_word_before_cursor() {
        let text = "variable \"name\" {}\nvariable \"number\" {}\nlocals {\n  a = {}\n  list = []\n}\n";
        let files = MemoryFiles::new().with("main.tf", text);
        let (configuration, problems) = load(&LoadOptions::default(), &Sources::default(), &files);
        let root = &configuration.unwrap_or_else(|| panic!("{problems:?}")).root;
        let value = |text: &str| groma_value::json::decode(text.as_bytes()).unwrap();
        let object = value(r#"{"inner": {"deep": 1}, "input": 2, "not a name": 3}"#);
        let scope = Locals(vec![("a", object.clone()), ("list", groma_value::Value::tuple(vec![object]))]);
        let console = ConsoleScope { module: root, scope: &scope };
        let words = ConsoleCompleter::of(&console);
        let candidates = |line: &str| {
            let (start, found) = words.candidates(line, line.len());
            (start, found.join(" "))
        };
        // Words complete from the start of the name, not from the start of the line.
        assert_eq!(candidates("upper(var.n"), (6, "var.name var.number".into()));
        // The word before the cursor counts, although text follows.
        assert_eq!(words.candidates("upp + 1", 3), (0, vec!["upper(".to_owned()]));
        assert_eq!(candidates("1 + "), (4, String::new()));
        // The member "not a name" is omitted, because it is no valid attribute syntax.
        assert_eq!(candidates("1 + local.a."), (12, "inner input".into()));
        assert_eq!(candidates("[local.a.inn"), (9, "inner".into()));
        assert_eq!(candidates("local.a.inner."), (14, "deep".into()));
        assert_eq!(candidates("f(local.list[0].inp"), (16, "input".into()));
        assert_eq!(candidates("local.a.nope."), (13, String::new()));
        assert_eq!(candidates("]."), (2, String::new()));
    }
}
