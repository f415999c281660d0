//! Templates of computed values: text with `$(...)` places.
//!
//! | place | becomes |
//! | --- | --- |
//! | `$(region)`, `$(account)` | where the object is |
//! | `$(hex:17)`, `$(lower:12)`, `$(upper:17)`, `$(alnum:12)` | drawn characters |
//! | `$(number:1:9)`, `$(uuid)` | a drawn number, a drawn UUID |
//! | `$(now)` | the time |
//! | `$(Name)` | the property `Name` of the object, or nothing |
//! | `$(Url:host)`, `$(Name:noslash)`, `$(Cluster:last)`, `$(Name:slug)`, `$(LoadBalancerArn:listener)`, `$(TargetFunctionArn:function)` | part of a property |

use serde_json::Value as Json;

use super::random::{Source, timestamp};

/// The emulator's beginning of time: 2026-01-01.
const EPOCH: u64 = 1_767_225_600;

const LOWER: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALPHANUMERIC: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The values that a template can refer to.
#[derive(Debug)]
pub struct Context<'a> {
    /// The region of the object.
    pub region: &'a str,
    /// The account of the object.
    pub account: &'a str,
    /// The source of random values.
    pub source: &'a Source,
}

impl Context<'_> {
    /// The emulator's time as RFC 3339 text.
    pub fn now(&self) -> String {
        timestamp(EPOCH + self.source.seconds())
    }

    /// Fills in a template. `label` makes the values drawn for one property differ from another's.
    pub fn fill(&self, template: &str, label: &str, object: &Json) -> String {
        let mut filled = String::with_capacity(template.len() + 32);
        let mut rest = template;
        while let Some(start) = rest.find("$(") {
            let (before, after) = rest.split_at(start);
            filled.push_str(before);
            let Some(end) = after.find(')') else { break };
            let placeholder = after.get(2..end).unwrap_or_default();
            filled.push_str(&self.placeholder(placeholder, &format!("{label}/{}", filled.len()), object));
            rest = after.get(end + 1..).unwrap_or_default();
        }
        filled.push_str(rest);
        filled
    }

    fn placeholder(&self, placeholder: &str, label: &str, object: &Json) -> String {
        let mut words = placeholder.split(':');
        let name = words.next().unwrap_or_default();
        let argument = words.next().unwrap_or_default();
        let length = argument.parse().unwrap_or(0);
        match name {
            "region" => self.region.to_owned(),
            "account" => self.account.to_owned(),
            "hex" => self.source.hex(label, length),
            "lower" => self.source.text(label, LOWER, length),
            "upper" => self.source.text(label, UPPER, length),
            "alnum" => self.source.text(label, ALPHANUMERIC, length),
            "uuid" => self.source.uuid(label),
            "now" => self.now(),
            "number" => {
                let most = words.next().and_then(|word| word.parse().ok()).unwrap_or(u64::MAX);
                self.source.number(label, argument.parse().unwrap_or(0), most).to_string()
            }
            property => part(property_text(object, property), argument),
        }
    }
}

fn property_text(object: &Json, property: &str) -> String {
    match object.get(property) {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Null | Json::Array(_) | Json::Object(_)) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

fn part(text: String, which: &str) -> String {
    match which {
        "host" => text.split_once("://").map_or(&*text, |(_, rest)| rest).trim_end_matches('/').to_owned(),
        "noslash" => text.trim_start_matches('/').to_owned(),
        "last" => text.rsplit('/').next().unwrap_or_default().to_owned(),
        "function" => text.rsplit(":function:").next().unwrap_or_default().to_owned(),
        "slug" => text.to_lowercase().replace([' ', '_'], "-"),
        "listener" => text.replacen(":loadbalancer/", ":listener/", 1),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn placeholders_are_filled_in() {
        let source = Source::new(1, 5);
        let context = Context { region: "eu-central-1", account: "123456789012", source: &source };
        let object = json!({"Name": "/a/b", "Size": 3});
        let fill = |template| context.fill(template, "x", &object);
        assert_eq!(
            fill("arn:aws:ssm:$(region):$(account):parameter/$(Name:noslash)"),
            "arn:aws:ssm:eu-central-1:123456789012:parameter/a/b"
        );
        assert_eq!(fill("$(Name:last)-$(Size)-$(None)."), "b-3-.");
        assert_eq!(context.fill("$(Name:slug)", "x", &json!({"Name": "Web Tier_1"})), "web-tier-1");
        assert_eq!(fill("vpc-$(hex:17)").len(), 21);
        assert_eq!(fill("$(now)"), "2026-01-01T00:00:05Z");
        assert_eq!(fill("$(open"), "$(open");
    }
}
