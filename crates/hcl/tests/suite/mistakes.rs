//! Texts with mistakes, and the messages they get: `mistakes.txt`.

use groma_hcl::parse_file;

use crate::show::{source, summaries};

/// A text with its messages.
pub struct Case {
    pub text: String,
    /// `line: summary`.
    pub ours: Vec<String>,
    /// What Terraform says, where that differs.
    pub terraform: Option<Vec<String>>,
}

pub fn cases() -> Vec<Case> {
    include_str!("mistakes.txt").split("=====\n").map(case).collect()
}

fn case(block: &str) -> Case {
    let mut case = Case { text: String::new(), ours: Vec::new(), terraform: None };
    for line in block.split_inclusive('\n') {
        if let Some(message) = line.strip_prefix("#! ") {
            case.ours.push(message.trim_end().to_owned());
        } else if let Some(message) = line.strip_prefix("#terraform ") {
            case.terraform.get_or_insert_default().push(message.trim_end().to_owned());
        } else {
            case.text.push_str(line);
        }
    }
    case
}

#[test]
fn each_mistake_has_its_message() {
    let mut wrong = Vec::new();
    for case in cases() {
        let file = source(&case.text);
        let (_, diagnostics) = parse_file(&file);
        let found = summaries(&file, &diagnostics);
        if found != case.ours {
            wrong.push(format!("{}found {found:?}\nexpected {:?}\n", case.text, case.ours));
        }
        for diagnostic in &diagnostics {
            assert!(diagnostic.detail.len() > 20, "{diagnostic:?}");
            let subject = diagnostic.subject.expect("a diagnostic about a source text has a span in it");
            assert!(
                subject.start() >= file.base() && subject.end() as usize <= file.base() as usize + case.text.len() + 1
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn misplaced_brace_is_one_error() {
    for (text, expected) in [
        // The one that closes.
        ("a {\n  b = 1\n:\nc {\n  d = 1\n}\n", "3: Argument or block definition required"),
        // One for a name.
        ("a {\n  b = 1\n  } = 2\n  c = 3\n}\n", "3: Missing newline after block definition"),
        // One that opens behind the one that closes.
        ("a {\n  b {\n    c = 1\n  } {\n}\n", "4: Missing newline after block definition"),
        // One in the next line, with an argument behind it.
        ("a \"x\"\n{ b = 1\n  c = 2\n}\nd {\n}\n", "1: Invalid block definition"),
        ("a \"x\"\n{ b = { c = 1 } }\nd {\n}\n", "1: Invalid block definition"),
    ] {
        let file = source(text);
        assert_eq!(summaries(&file, &parse_file(&file).1), [expected], "{text}");
    }
}

#[test]
fn valid_parts_are_parsed_despite_errors() {
    let file = source("a = 1\nb = [1 2]\nc {\n  d = \"x\n  e = 2\n}\nf = 3\n");
    let (parsed, diagnostics) = parse_file(&file);
    assert_eq!(diagnostics.len(), 2);
    let schema = groma_hcl::BodySchema::new().required("a").required("b").required("f").block("c", &[]);
    let (content, missing) = parsed.body.content(&schema);
    assert!(missing.is_empty(), "{missing:?}");
    let (inner, _) = content.blocks[0].body.attributes();
    assert_eq!(inner.iter().map(|attribute| &*attribute.name.name).collect::<Vec<_>>(), ["d", "e"]);
}

#[test]
fn duplicate_argument_names_line_of_first() {
    let file = source("a = 1\nb = 2\na = 3\n");
    let (_, diagnostics) = parse_file(&file);
    assert!(diagnostics.iter().next().unwrap().detail.contains("on line 1"));
}
