//! What searches find, for people, for programs, and as configuration.

use std::fmt::Write as _;

use groma_address::ResourceInstance;
use groma_engine::{FoundObject, Searched};
use groma_value::{Kind, Value};
use serde_json::{Map, Value as Json};

use super::json::{Message, value_json};

/// A line for each object, and an empty one after them; nothing where nothing was found.
pub fn lines(searched: &Searched) -> String {
    let identities: Vec<String> = searched.found.iter().map(|found| identity(&found.identity)).collect();
    let width = identities.iter().map(|identity| identity.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (found, identity) in searched.found.iter().zip(identities) {
        let _ = writeln!(text, "{}   {identity:width$}   {}", searched.address, found.display_name);
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

/// The file of the blocks that were written; empty where there are none.
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
