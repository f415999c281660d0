//! The hash of a backend block in the record of the working directory.

use groma_value::{Kind, Value};

use super::argument::{Argument, ArgumentKind, BackendSchema, Product};

/// Returns the hash by which `product` recognizes an unchanged block of type `kind`: the CRC-32 of its type and its
/// arguments, which `config` holds as [`BackendSchema::conform`] returns them.
pub fn record_hash(kind: &str, schema: &BackendSchema, config: &Value, product: Product) -> u32 {
    // Terraform hashes a value of go-cty, whose hash is the CRC-32 of this text form.
    let mut text = String::from("<");
    quote(kind, &mut text);
    text.push(';');
    object(schema.arguments(), config, product, &mut text);
    text.push_str(";>");
    crc32fast::hash(text.as_bytes())
}

fn object(arguments: &[Argument], value: &Value, product: Product, text: &mut String) {
    text.push('<');
    // Each product hashes its own schema: an argument of the other one must not add a null.
    for argument in arguments.iter().filter(|argument| argument.is_in(product)) {
        let value = value.attribute(argument.name).unwrap_or(Value::NULL);
        match &argument.kind {
            ArgumentKind::Value(_) => write(&value, text),
            ArgumentKind::Block(_, attributes) if argument.is_list_in(product) => {
                text.push('[');
                if !value.is_null() {
                    object(attributes, &value, product, text);
                    text.push(';');
                }
                text.push(']');
            }
            ArgumentKind::Object(attributes) | ArgumentKind::Block(_, attributes) => {
                nested(attributes, &value, product, text);
            }
        }
        text.push(';');
    }
    text.push('>');
}

fn nested(attributes: &[Argument], value: &Value, product: Product, text: &mut String) {
    match value.kind() {
        Kind::List(elements) | Kind::Set(elements) => {
            text.push('[');
            for element in elements {
                object(attributes, element, product, text);
                text.push(';');
            }
            text.push(']');
        }
        Kind::Object(_) => object(attributes, value, product, text),
        _ => write(value, text),
    }
}

fn write(value: &Value, text: &mut String) {
    match value.kind() {
        Kind::Null => text.push('~'),
        Kind::Unknown(_) => text.push('?'),
        Kind::Bool(true) => text.push('T'),
        Kind::Bool(false) => text.push('F'),
        Kind::Number(number) => text.push_str(&number.to_string()),
        Kind::String(string) => quote(string, text),
        Kind::List(elements) | Kind::Set(elements) => sequence('[', elements, ']', text),
        Kind::Tuple(elements) => sequence('<', elements, '>', text),
        Kind::Object(object) => sequence('<', object.values(), '>', text),
        Kind::Map(map) => {
            text.push('{');
            for (key, value) in map.iter() {
                quote(key, text);
                text.push(':');
                write(value, text);
                text.push(';');
            }
            text.push('}');
        }
    }
}

fn sequence(open: char, elements: &[Value], close: char, text: &mut String) {
    text.push(open);
    for element in elements {
        write(element, text);
        text.push(';');
    }
    text.push(close);
}

/// Writes a string in Go's quoted form.
fn quote(string: &str, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '\u{7}' => text.push_str("\\a"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{b}' => text.push_str("\\v"),
            control if (control as u32) < 0x20 || control as u32 == 0x7f => {
                text.push_str(&format!("\\x{:02x}", control as u32));
            }
            other if is_printable(other) => text.push(other),
            other if (other as u32) < 0x1_0000 => text.push_str(&format!("\\u{:04x}", other as u32)),
            other => text.push_str(&format!("\\U{:08x}", other as u32)),
        }
    }
    text.push('"');
}

/// Whether Go prints a character as it is. Format characters and spaces other than U+0020 are escaped.
fn is_printable(character: char) -> bool {
    // Rust's debug form escapes the same classes, besides the quotes and combining marks.
    character == '\'' || character.escape_debug().count() == 1 || is_combining(character)
}

fn is_combining(character: char) -> bool {
    matches!(character as u32, 0x300..=0x36f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f)
}

#[cfg(test)]
mod tests {
    use groma_value::Type;

    use super::super::argument::Nesting;
    use super::*;

    fn local() -> BackendSchema {
        BackendSchema::new([
            Argument::optional("path", Type::String),
            Argument::optional("workspace_dir", Type::String),
        ])
    }

    #[test]
    fn hashes_equal_those_that_terraform_records() {
        let hash = |path: Option<&str>| {
            let config = Value::object(path.map(|path| ("path", Value::string(path))));
            let config = local().conform(&config).unwrap();
            record_hash("local", &local(), &config, Product::Terraform)
        };
        assert_eq!(hash(Some("x.tfstate")), 2_326_359_980);
        assert_eq!(hash(Some("a.tfstate")), 2_985_648_108);
        assert_eq!(hash(None), 666_019_178);
    }

    #[test]
    fn block_that_only_opentofu_has_as_a_list_is_one_in_its_record_and_hash() {
        let name = || Argument::optional("name", Type::String);
        let schema = BackendSchema::new([Argument::block("exec", Nesting::SingleInTerraform, [name()])]);
        let given = Value::object([("exec", Value::object([("name", Value::string("x"))]))]);
        let texts = |config: &Value| {
            [Product::Terraform, Product::OpenTofu].map(|product| {
                let mut text = String::new();
                object(schema.arguments(), config, product, &mut text);
                (text, schema.to_record(config, product).map(|record| record.to_string()).unwrap_or_default())
            })
        };
        let owned = |text: &str, record: &str| (text.to_owned(), record.to_owned());
        let set = texts(&schema.conform(&given).unwrap());
        let expected =
            [owned(r#"<<"x";>;>"#, r#"{"exec":{"name":"x"}}"#), owned(r#"<[<"x";>;];>"#, r#"{"exec":[{"name":"x"}]}"#)];
        assert_eq!(set, expected);
        let unset = texts(&schema.conform(&Value::NULL).unwrap());
        assert_eq!(unset, [owned("<~;>", r#"{"exec":null}"#), owned("<[];>", r#"{"exec":[]}"#)]);
        let listed = serde_json::json!({ "exec": [{ "name": "x" }] });
        assert_eq!(schema.from_record(&listed).unwrap(), schema.conform(&given).unwrap());
        assert_eq!(
            schema.from_record(&serde_json::json!({ "exec": [] })).unwrap(),
            schema.conform(&Value::NULL).unwrap()
        );
    }

    #[test]
    fn texts_have_the_form_of_the_peers() {
        let mut text = String::new();
        let map = Value::map(Type::Bool, [("k\n\u{1}é\u{a0}", Value::bool(true))]);
        let values = [map, Value::list(Type::String, vec![Value::string("'\"")]), Value::number(2), Value::NULL];
        values.iter().for_each(|value| write(value, &mut text));
        assert_eq!(text, r#"{"k\n\x01é\u00a0":T;}["'\"";]2~"#);
    }
}
