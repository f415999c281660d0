//! Layouts before and after: `formatting.txt`.

use groma_hcl::format;

fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("formatting.txt").split("=====\n").filter_map(|case| case.split_once("-----\n"))
}

/// The texts before.
pub fn texts() -> Vec<&'static str> {
    pairs().map(|(before, _)| before).collect()
}

#[test]
fn formatting_matches_expected_layouts() {
    for (before, after) in pairs() {
        assert_eq!(format(before), after, "{before}");
    }
}

#[test]
fn formatted_text_is_unchanged() {
    for (_, after) in pairs() {
        assert_eq!(format(after), after);
    }
}

#[test]
fn line_endings_and_end_of_file_are_kept() {
    assert_eq!(format("a=1"), "a = 1");
    assert_eq!(format("a=1\r\nbb=2 # x\r\n"), "a  = 1\r\nbb = 2 # x\r\n");
    assert_eq!(format("a {\r\n b=<<E\r\n x\r\nE\r\n}\r\n"), "a {\r\n  b = <<E\r\n x\r\nE\r\n}\r\n");
    assert_eq!(format("\u{feff}a=1\n"), "a = 1\n");
    assert_eq!(format(""), "");
    assert_eq!(format("a = 1   "), "a = 1   ");
}

#[test]
fn text_with_syntax_errors_is_unchanged() {
    assert_eq!(format("a=[1 2]\n"), "a=[1 2]\n");
    assert_eq!(format("a {"), "a {");
}

#[test]
fn labels_keep_their_characters() {
    assert_eq!(format("a b$c  \"d$${e}\" {}\n"), "a b$c  \"d$${e}\" {}\n", "a dollar sign is in no name");
    assert_eq!(format("a  \"b$c\" d {}\n"), "a \"b$c\" \"d\" {}\n");
    assert_eq!(format("a  \"$${e}\\t\" {}\n"), "a \"$${e}\\t\" {}\n");
}

/// The texts of `formatting.txt` a few times, each in a block, as they are and laid out one by one.
fn all_texts(times: usize, separator: &str) -> (String, String) {
    let (mut before, mut after) = (String::new(), String::new());
    let blocks: Vec<String> = texts().iter().map(|text| format!("b {{\n{}\n}}\n", text.trim_end())).collect();
    for block in (0..times).flat_map(|_| &blocks).filter(|block| format(block) != **block) {
        before.push_str(block);
        before.push_str(separator);
        after.push_str(&format(block));
        after.push_str(separator);
    }
    (before, after)
}

#[test]
fn large_file_is_formatted_like_its_parts() {
    for separator in ["\n", "", "\n\n", "# \"x\n"] {
        let (before, after) = all_texts(12, separator);
        assert!(groma_hcl::tokenize(&before).len() > 1 << 15);
        let found = format(&before);
        let at = found.bytes().zip(after.bytes()).position(|(one, other)| one != other);
        assert_eq!((found.len(), at), (after.len(), None), "after {separator:?}");
    }
    let text: String = (0..20_000).map(|number| format!("a{number}=1 # x\n")).collect();
    let laid_out: String = (0..20_000).map(|number| format!("{:<6} = 1 # x\n", format!("a{number}"))).collect();
    assert!(format(&text) == laid_out, "without an empty line all is one part");
    let text = format!("a=1\n\n{}\nb=2\n", "c {}\n\n".repeat(10_000));
    assert!(format(&text).ends_with("b = 2\n"));
    let twice = format!("{text}\na=1\n");
    assert!(format(&twice) == twice, "an argument that is there twice is a mistake");
}
