//! Search results as text, as messages, and as configuration.

use std::fmt::Write as _;

use groma_address::ResourceInstance;
use groma_engine::{FoundObject, Searched};
use groma_value::{Kind, Value};
use serde_json::{Map, Value as Json};

use super::json::{Message, value_json};
use crate::terminal::printable_line;

/// A line for each object, and an empty one after them; nothing where nothing was found.
pub fn lines(searched: &Searched) -> String {
    let identities: Vec<String> =
        searched.found.iter().map(|found| printable_line(&identity(&found.identity)).into_owned()).collect();
    let width = identities.iter().map(|identity| identity.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (found, identity) in searched.found.iter().zip(identities) {
        let name = printable_line(&found.display_name);
        let _ = writeln!(text, "{}   {identity:width$}   {name}", searched.address);
    }
    if !searched.found.is_empty() {
        text.push('\n');
    }
    text
}

/// `name=one,region=eu`.
fn identity(value: &Value) -> String {
    let (value, _) = value.unmark_deep();
    let Some(object) = value.as_object() else { return String::new() };
    let parts = object.iter().map(|(name, value)| match value.kind() {
        Kind::String(text) => format!("{name}={text}"),
        Kind::Null => format!("{name}=<null>"),
        _ => format!("{name}={}", value_json(value)),
    });
    parts.collect::<Vec<_>>().join(",")
}

/// That a search begins.
pub fn start(address: &ResourceInstance, config: Option<&Value>) -> Message {
    let mut fields = named(address);
    if let Some(config) = config {
        let (plain, marks) = config.unmark_deep();
        fields.insert("input_config".into(), value_json(&plain));
        let secrets: Vec<String> =
            marks.iter().filter(|(_, marks)| marks.is_sensitive()).map(|(path, _)| path.to_string()).collect();
        if !secrets.is_empty() {
            fields.insert("sensitive_attribute_paths".into(), secrets.into());
        }
    }
    Message::new("list_start", format!("{address}: Starting query...")).with("list_start", Json::Object(fields))
}

/// The messages when a search has ended: one for each object, and the number of them.
pub fn end(searched: &Searched) -> Vec<Message> {
    let address = &searched.address;
    let mut messages: Vec<Message> = searched.found.iter().map(|found| result(searched, found)).collect();
    let mut fields = named(address);
    fields.insert("total".into(), searched.found.len().into());
    let complete = Message::new("list_complete", format!("{address}: List complete"));
    messages.push(complete.with("list_complete", Json::Object(fields)));
    messages
}

fn result(searched: &Searched, found: &FoundObject) -> Message {
    let address = &searched.address;
    let mut fields = Map::new();
    fields.insert("address".into(), address.to_string().into());
    fields.insert("display_name".into(), found.display_name.clone().into());
    fields.insert("identity".into(), value_json(&found.identity));
    fields.insert("identity_version".into(), searched.identity_version.into());
    fields.insert("resource_type".into(), address.resource.type_name.to_string().into());
    if let Some(object) = &found.object {
        fields.insert("resource_object".into(), value_json(object));
    }
    if let Some(written) = &found.written {
        fields.insert("config".into(), written.resource.clone().into());
        fields.insert("import_config".into(), written.import.clone().into());
    }
    Message::new("list_resource_found", format!("{address}: Result found"))
        .with("list_resource_found", Json::Object(fields))
}

fn named(address: &ResourceInstance) -> Map<String, Json> {
    let mut fields = Map::new();
    fields.insert("address".into(), address.to_string().into());
    fields.insert("resource_type".into(), address.resource.type_name.to_string().into());
    fields
}

/// Returns the file of generated blocks; empty without results.
pub fn blocks(product: &str, searched: &[Searched]) -> String {
    let mut text = String::new();
    for one in searched {
        let written: Vec<_> = one.found.iter().filter_map(|found| found.written.as_ref()).collect();
        if written.is_empty() {
            continue;
        }
        if text.is_empty() {
            let _ = writeln!(text, "# __generated__ by {product}");
            text.push_str("# Please review these resources and move them into your main configuration files.\n");
        }
        let _ = write!(text, "\n# __generated__ by {product}\n");
        for blocks in written {
            let _ = write!(text, "{}\n\n{}\n\n", blocks.resource, blocks.import);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use groma_engine::WrittenBlocks;
    use groma_value::{Marks, Type};

    use super::*;

    fn found(name: &str, region: Value) -> FoundObject {
        FoundObject {
            display_name: format!("The {name}"),
            identity: Value::object([("name", Value::string(name)), ("region", region)]),
            object: None,
            written: Some(WrittenBlocks {
                resource: format!("resource \"t\" \"{name}\" {{\n}}"),
                import: format!("import {{\n  to = t.{name}\n}}"),
            }),
        }
    }

    fn searched() -> Searched {
        let found = vec![found("a", Value::null(Type::String)), found("longer", Value::string("eu"))];
        let mut address: ResourceInstance = "t.all".parse().unwrap();
        address.resource.mode = groma_address::Mode::List;
        Searched { address, identity_version: 1, found }
    }

    #[test]
    fn people_see_a_table_for_each_search() {
        assert_eq!(
            lines(&searched()),
            "list.t.all   name=a,region=<null>    The a\nlist.t.all   name=longer,region=eu   The longer\n\n"
        );
        assert_eq!(lines(&Searched { found: Vec::new(), ..searched() }), "");
    }

    #[test]
    fn files_have_a_section_for_each_search_that_found_something() {
        let nothing = Searched { found: Vec::new(), ..searched() };
        let one = Searched { found: searched().found[..1].to_vec(), ..searched() };
        assert_eq!(blocks("Groma", std::slice::from_ref(&nothing)), "");
        assert_eq!(
            blocks("Groma", &[one.clone(), nothing, one]),
            "# __generated__ by Groma\n# Please review these resources and move them into your main configuration files.\n\
             \n# __generated__ by Groma\nresource \"t\" \"a\" {\n}\n\nimport {\n  to = t.a\n}\n\n\n\
             \n# __generated__ by Groma\nresource \"t\" \"a\" {\n}\n\nimport {\n  to = t.a\n}\n\n\n"
        );
    }

    #[test]
    fn messages_say_where_secrets_are() {
        let config = Value::object([("prefix", Value::string("x").with_marks(&Marks::SENSITIVE))]);
        let message = format!("{:?}", start(&searched().address, Some(&config)));
        assert!(message.contains("sensitive_attribute_paths") && message.contains(".prefix"), "{message}");
        let bare = format!("{:?}", start(&searched().address, None));
        assert!(!bare.contains("input_config"), "{bare}");
        assert_eq!(end(&searched()).len(), 3);
    }
}
