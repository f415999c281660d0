//! JSON text as Terraform lays it out, without building a tree.
//!
//! Attributes stay the text they are from file to file; what changes is white space and the escapes of `<`, `>`, `&`
//! and the two Unicode line separators, which Terraform always writes as `\u....`.

/// Appends `text`, a JSON string's content, in quotes and with the escapes that Terraform uses.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut done = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= b' ' && !SPECIAL[usize::from(byte)] {
            continue;
        }
        let length = match byte {
            0xe2 if is_line_separator(bytes, at) => 3,
            0xe2 => continue,
            _ => 1,
        };
        out.extend_from_slice(bytes.get(done..at).unwrap_or_default());
        write_escape(bytes, at, out);
        done = at + length;
    }
    out.extend_from_slice(bytes.get(done..).unwrap_or_default());
    out.push(b'"');
}

fn write_escape(bytes: &[u8], at: usize, out: &mut Vec<u8>) {
    match bytes[at] {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x0c => out.extend_from_slice(b"\\f"),
        _ => write_unicode_escape(bytes, at, out),
    }
}

/// The `\u....` form of the character at `at`: a control character, `<`, `>`, `&`, or a line separator.
fn write_unicode_escape(bytes: &[u8], at: usize, out: &mut Vec<u8>) {
    let code = match bytes[at] {
        0xe2 => 0x2000 + u32::from(bytes[at + 2] & 0x3f),
        byte => u32::from(byte),
    };
    out.extend_from_slice(format!("\\u{code:04x}").as_bytes());
}

fn is_line_separator(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at..at + 3), Some([0xe2, 0x80, 0xa8 | 0xa9]))
}

/// Removes the white space between the tokens of a JSON text.
pub(crate) fn compact(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut kept = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'"' => {
                let end = string_end(bytes, at);
                kept.extend_from_slice(&bytes[at..end]);
                at = end;
            }
            _ => {
                kept.push(byte);
                at += 1;
            }
        }
    }
    // Only ASCII outside of strings was removed, so the result is valid; a copy of the input is correct in any case.
    String::from_utf8(kept).unwrap_or_else(|_| text.to_owned())
}

/// Returns the end of the string that opens at `start`, after its closing quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Appends the JSON `text`, whatever its white space, indented by two spaces a level, the first level being `depth`.
pub(crate) fn write_indented(text: &str, depth: usize, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut depth = depth;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'"' => at = write_raw_string(bytes, at, out),
            b'{' | b'[' => {
                out.push(byte);
                at = skip_space(bytes, at + 1);
                if let Some(&close @ (b'}' | b']')) = bytes.get(at) {
                    out.push(close);
                    at += 1;
                } else {
                    depth += 1;
                    new_line(depth, out);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(depth, out);
                out.push(byte);
                at += 1;
            }
            b',' => {
                out.push(byte);
                new_line(depth, out);
                at += 1;
            }
            b':' => {
                out.extend_from_slice(b": ");
                at += 1;
            }
            _ => {
                let rest = &bytes[at..];
                let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count().max(1);
                out.extend_from_slice(&rest[..length]);
                at += length;
            }
        }
    }
}

/// Appends a line break and the indentation of `depth`.
pub(crate) fn new_line(depth: usize, out: &mut Vec<u8>) {
    const LINE: [u8; 65] = {
        let mut line = [b' '; 65];
        line[0] = b'\n';
        line
    };
    if let Some(line) = LINE.get(..1 + 2 * depth) {
        return out.extend_from_slice(line);
    }
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    let space =
        bytes.get(at..).unwrap_or_default().iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    at + space.count()
}

/// The bytes of a JSON string that need escaping or depend on the next byte.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut at = 0;
    let bytes = *b"\"\\<>&\xe2";
    while at < bytes.len() {
        special[bytes[at] as usize] = true;
        at += 1;
    }
    special
};

/// Appends the string that opens at `start` as it is written, quotes and escapes included, but for the characters always
/// escaped; returns where it ends, after its closing quote.
fn write_raw_string(bytes: &[u8], start: usize, out: &mut Vec<u8>) -> usize {
    let mut done = start;
    let mut at = start + 1;
    let end = loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(plain) = rest.iter().position(|byte| SPECIAL[usize::from(*byte)]) else { break bytes.len() };
        at += plain;
        let length = match bytes[at] {
            b'"' => break at + 1,
            b'\\' => {
                at += 2;
                continue;
            }
            0xe2 if is_line_separator(bytes, at) => 3,
            0xe2 => {
                at += 1;
                continue;
            }
            _ => 1,
        };
        out.extend_from_slice(&bytes[done..at]);
        write_unicode_escape(bytes, at, out);
        at += length;
        done = at;
    };
    out.extend_from_slice(bytes.get(done..end).unwrap_or_default());
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn indented(text: &str) -> String {
        let mut out = Vec::new();
        write_indented(text, 0, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_is_indented_as_terraform_does() {
        assert_eq!(
            indented(r#" {"a":[1.0, {"b":{} ,"c":[ ]}],"d":"x<\u00e9\"}\\"}"#),
            "{\n  \"a\": [\n    1.0,\n    {\n      \"b\": {},\n      \"c\": []\n    }\n  ],\n  \"d\": \
             \"x\\u003c\\u00e9\\\"}\\\\\"\n}"
        );
        assert_eq!(indented("\"\u{2028}\u{2029}\u{2030}&>\""), "\"\\u2028\\u2029\u{2030}\\u0026\\u003e\"");
    }

    #[test]
    fn strings_are_escaped_as_terraform_does() {
        let mut out = Vec::new();
        write_string("a\"\\\n\r\t\u{8}\u{c}\u{1}\u{7f}<>&\u{2028}é€\u{2030}", &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0001\u{7f}\\u003c\\u003e\\u0026\\u2028é€\u{2030}\""
        );
    }

    #[test]
    fn white_space_goes_and_strings_stay() {
        assert_eq!(compact("{ \"a b\" :\n[ 1 ,\t\" \\\" \" ] }"), "{\"a b\":[1,\" \\\" \"]}");
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(serde_json::Value::from),
            any::<i64>().prop_map(serde_json::Value::from),
            any::<String>().prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn indenting_and_compacting_keep_the_meaning(value in json()) {
            let text = serde_json::to_string(&value).unwrap();
            let pretty = indented(&text);
            prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(&pretty).unwrap(), &value);
            prop_assert_eq!(indented(&compact(&pretty)), pretty.clone());
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&compact(&pretty)).unwrap(), value);
        }

        #[test]
        fn no_text_panics(text in any::<String>(), other in r#"["\\{}\[\],: a<]{0,12}"#) {
            for text in [&text, &other] {
                indented(text);
                compact(text);
                let mut out = Vec::new();
                write_string(text, &mut out);
                prop_assert_eq!(&serde_json::from_slice::<String>(&out).unwrap(), text);
            }
        }
    }
}
