//! Bytes that are not UTF-8.

use groma_diagnostics::{Diagnostics, Sources};
use groma_hcl::{parse_file, parse_json_file, try_format_bytes};

fn problems(bytes: &[u8]) -> Vec<String> {
    described(bytes, |file| parse_file(file).1)
}

fn described(bytes: &[u8], parse: fn(&groma_diagnostics::SourceFile) -> Diagnostics) -> Vec<String> {
    let sources = Sources::new();
    let file = sources.add_bytes("main.tf", bytes.to_vec()).unwrap();
    let describe = |problem: &groma_diagnostics::Diagnostic| {
        let location = sources.locate(problem.subject.unwrap()).unwrap();
        format!("{}:{} {}: {}", location.start.line, location.start.column, problem.summary, problem.detail)
    };
    parse(&file).iter().map(describe).collect()
}

fn message(location: &str, bytes: &str) -> String {
    format!("{location} Invalid character encoding: {bytes} not valid UTF-8. Save the file with UTF-8 encoding.")
}

#[test]
fn comments_may_contain_any_bytes() {
    for text in [
        &b"# caf\xe9\na = 1\n"[..],
        b"a = 1 // \xff\xfe",
        b"/* \xe9\n \xe9 */ a = [1, # \xe9\n 2]\n",
        b"a = \"${1 /* \xe9 */}\"\n",
    ] {
        assert_eq!(problems(text), [""; 0], "{text:?}");
    }
}

#[test]
fn invalid_bytes_outside_comments_are_located_errors() {
    let of_one = |location: &str| message(location, "The byte 0xE9 is");
    assert_eq!(problems(b"a = 1\nb = \"caf\xe9\"\n"), [of_one("2:9")]);
    assert_eq!(problems(b"# \xe9\na = <<E\ncaf\xe9\nE\n"), [of_one("3:4")]);
    assert_eq!(
        problems(b"a = \"x\xe9 ${1} y\xff\xfe\"\n"),
        [of_one("1:7"), message("1:15", "The bytes 0xFF 0xFE are")]
    );
    assert_eq!(
        problems(b"a = \"\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\"\n"),
        [message("1:6", "The bytes 0xE9 0xE9 0xE9 0xE9 0xE9 0xE9 0xE9 0xE9 ... are")]
    );
    for (text, location) in [
        (&b"a = b\xe9\n"[..], "1:6"),
        (b"b\xe9 = 1\n", "1:2"),
        (b"a = 1 \xe9\n", "1:7"),
        (b"a \"b\xe9\" {\n}\n", "1:5"),
    ] {
        assert!(problems(text).contains(&of_one(location)), "{:?}", problems(text));
    }
}

#[test]
fn a_replacement_character_is_a_character() {
    assert_eq!(problems("a = \"\u{fffd}\"\n".as_bytes()), [""; 0]);
    assert_eq!(problems("a = \u{fffd}\n".as_bytes()).len(), 1);
}

#[test]
fn utf16_is_one_error() {
    for text in [&b"\xff\xfea\x00=\x001\x00\n\x00"[..], b"\xfe\xff\x00a\x00=\x001\x00\n"] {
        for parse in [|file: &_| parse_file(file).1, |file: &_| parse_json_file(file).1] {
            let found = described(text, parse);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with("1:1 Invalid character encoding: The file is UTF-16"), "{found:?}");
        }
    }
}

#[test]
fn strings_of_the_json_syntax_get_replacement_characters() {
    assert_eq!(described(b"{\"a\": \"caf\xe9\", \"//\": \"\xe9\"}", |file| parse_json_file(file).1), [""; 0]);
}

#[test]
fn a_layout_keeps_the_bytes_of_comments() {
    let formatted = |bytes: &[u8]| try_format_bytes(bytes);
    assert_eq!(
        formatted(b"# caf\xe9 \xef\xbf\xbd\na=1 /* \xe9 */ + 2\nbb = 2 # \xff\xfe\n"),
        Some(b"# caf\xe9 \xef\xbf\xbd\na  = 1 /* \xe9 */ + 2\nbb = 2 # \xff\xfe\n".to_vec())
    );
    // Comments between labels are dropped, those after it stay what they are.
    assert_eq!(formatted(b"a /* \xe9 */ b {\n} # \xfc\n"), Some(b"a \"b\" {\n} # \xfc\n".to_vec()));
    assert_eq!(formatted(b"a = \"\xe9\"\n"), None);
    let private = "# \u{f00e9} \u{ff0e9}\n";
    let with_byte = [private.as_bytes(), b"a=1 # \xe9\n"].concat();
    assert_eq!(formatted(&with_byte), Some([private.as_bytes(), b"a = 1 # \xe9\n"].concat()));
}
