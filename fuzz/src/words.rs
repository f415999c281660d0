//! Texts inside texts: addresses, and what functions read.

use std::borrow::Cow;
use std::fmt::{Debug, Display};
use std::io::Write;
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use groma_address::{
    AbsResource, ConfigResource, ModuleInstance, ModulePath, ProviderAddress, ProviderConfig, ResourceInstance, Target,
};
use groma_cli::terminal::{Palette, SafeWriter, printable, printable_line, word_wrap};
use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_hcl::{Expression, Traversal};
use groma_lang::{FunctionContext, Resolved, Scope, evaluate};
use groma_value::{Type, Value};

use super::text;

/// An address that is read says what is read as the same again.
pub fn address(bytes: &[u8]) {
    let text = text(bytes);
    let _ = ProviderAddress::parse(text, "registry.example.com");
    said_again::<ModulePath>(text);
    said_again::<ModuleInstance>(text);
    said_again::<ConfigResource>(text);
    said_again::<AbsResource>(text);
    said_again::<ResourceInstance>(text);
    said_again::<ProviderConfig>(text);
    said_again::<Target>(text);
}

fn said_again<T: FromStr + Display + PartialEq + Debug>(text: &str) {
    if let Ok(address) = text.parse::<T>() {
        assert_eq!(address.to_string().parse::<T>().ok().as_ref(), Some(&address), "{text:?}");
    }
}

/// Calls of the functions that read a text of their own: `t` is the text, `u` its two halves as a list.
const CALLS: &[&str] = &[
    "jsondecode(t)",
    "yamldecode(t)",
    "yamlencode(yamldecode(t))",
    "csvdecode(t)",
    "base64decode(t)",
    "base64gunzip(t)",
    "textdecodebase64(t, \"UTF-16LE\")",
    "textencodebase64(t, \"windows-1252\")",
    "urldecode(t)",
    "regexall(u[0], u[1])",
    "replace(u[0], \"/${u[1]}/\", \"$1\")",
    "format(u[0], u[1], 1.5, [t])",
    "formatlist(t, u)",
    "formatdate(t, \"2026-01-02T03:04:05Z\")",
    "formatdate(\"DD MMM YYYY hh:mm:ss ZZZ\", t)",
    "timeadd(\"2026-01-02T03:04:05Z\", t)",
    "timecmp(t, t)",
    "cidrsubnet(t, 4, 2)",
    "cidrhost(t, -2)",
    "cidrsubnets(t, 4, 8)",
    "cidrnetmask(t)",
    "cidrcontains(u[0], u[1])",
    "parseint(t, 36)",
    "tonumber(t) / 3",
    "strrev(t) == t",
    "substr(t, 1, 3)",
    "title(lower(upper(t)))",
    "indent(2, t)",
    "trimspace(trim(t, u[0]))",
    "split(u[0], u[1])",
    "templatestring(t, { a = u })",
    "uuidv5(\"dns\", t)",
    "rsadecrypt(t, t)",
];

/// Whatever a text is, the functions that read it give a value or a mistake.
pub fn functions(bytes: &[u8]) {
    static PARSED: OnceLock<Vec<Expression>> = OnceLock::new();
    let parsed = PARSED.get_or_init(|| {
        let sources = Sources::new();
        let expression = |call: &&str| Some(groma_hcl::parse_expression(&*sources.add("call", *call)?).0);
        CALLS.iter().filter_map(expression).collect()
    });
    // Beyond that they only take longer.
    let text = text(&bytes[..bytes.len().min(1_000)]);
    let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let (first, second) = text.split_at(half);
    let halves = Value::list(Type::String, vec![Value::string(first), Value::string(second)]);
    let scope = Text {
        text: Value::string(text),
        halves,
        functions: FunctionContext::new("/nonexistent", Arc::new(Sources::new())),
    };
    for expression in parsed {
        evaluate(expression, &scope, &mut Diagnostics::new());
    }
}

struct Text {
    text: Value,
    halves: Value,
    functions: FunctionContext,
}

impl Scope for Text {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostic> {
        let value = if &*traversal.root.name == "u" { &self.halves } else { &self.text };
        Ok(Resolved { value: value.clone(), consumed: 0 })
    }

    fn functions(&self) -> &FunctionContext {
        &self.functions
    }
}

/// Nothing that a terminal acts on passes, safe text stays as it is, and it does not matter in how many writes a text comes.
pub fn terminal_text(bytes: &[u8]) {
    let whole = written(&[bytes]);
    assert!(is_safe(&whole), "{whole:?}");
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let parts = written(&[first, second]);
    assert!(is_safe(&parts), "{parts:?}");
    // A carriage return stays only before a line end of the same write.
    if !bytes.contains(&b'\r') {
        assert_eq!(parts, whole);
    }
    let text = String::from_utf8_lossy(bytes);
    let safe = printable(&text);
    assert!(is_safe(&safe) && matches!(printable(&safe), Cow::Borrowed(_)), "{safe:?}");
    let line = printable_line(&text);
    assert!(!line.contains(char::is_control) && printable_line(&line) == line, "{line:?}");
    assert!(is_safe(&word_wrap(&safe, 20)), "{safe:?}");
}

fn written(writes: &[&[u8]]) -> String {
    let screen = Screen::default();
    let mut writer = SafeWriter::new(screen.clone(), Palette::Plain);
    for bytes in writes {
        assert!(writer.write_all(bytes).is_ok());
    }
    let bytes = screen.0.lock().unwrap_or_else(PoisonError::into_inner);
    // The output is valid text for any input.
    assert!(std::str::from_utf8(&bytes).is_ok());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether a terminal prints all of the text and acts on none of it but line ends and tabs.
fn is_safe(text: &str) -> bool {
    !text.replace("\r\n", "\n").contains(|character: char| {
        let turns = matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        );
        turns || (character.is_control() && !matches!(character, '\n' | '\t'))
    })
}
