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
fn layouts() {
    for (before, after) in pairs() {
        assert_eq!(format(before), after, "{before}");
    }
}

#[test]
fn a_layout_stays_as_it_is() {
    for (_, after) in pairs() {
        assert_eq!(format(after), after);
    }
}

#[test]
fn line_ends_and_the_end_of_the_file_stay_as_they_are() {
    assert_eq!(format("a=1"), "a = 1");
    assert_eq!(format("a=1\r\nbb=2 # x\r\n"), "a  = 1\r\nbb = 2 # x\r\n");
    assert_eq!(format("a {\r\n b=<<E\r\n x\r\nE\r\n}\r\n"), "a {\r\n  b = <<E\r\n x\r\nE\r\n}\r\n");
    assert_eq!(format("\u{feff}a=1\n"), "a = 1\n");
    assert_eq!(format(""), "");
    assert_eq!(format("a = 1   "), "a = 1   ");
}

#[test]
fn a_text_with_mistakes_stays_as_it_is() {
    assert_eq!(format("a=[1 2]\n"), "a=[1 2]\n");
    assert_eq!(format("a {"), "a {");
}

#[test]
fn labels_keep_their_characters() {
    assert_eq!(format("a b$c  \"d$${e}\" {}\n"), "a b$c  \"d$${e}\" {}\n", "a dollar sign is in no name");
    assert_eq!(format("a  \"b$c\" d {}\n"), "a \"b$c\" \"d\" {}\n");
    assert_eq!(format("a  \"$${e}\\t\" {}\n"), "a \"$${e}\\t\" {}\n");
}
