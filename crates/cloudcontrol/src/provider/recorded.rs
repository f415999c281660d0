//! Attributes against a recorded table of the existing provider. `GROMA_AWSCC_ATTRIBUTES` may name a larger table of the
//! same form, zstd-compressed or not. Schemas have moved on since, so attributes that only one side has are not compared.

use std::collections::HashMap;

use groma_provider::Use;

use super::attributes::of_type;
use super::fields::{Change, Field, Fields, Order, Shape};
use crate::schema::Catalogue;

fn table() -> String {
    let Ok(path) = std::env::var("GROMA_AWSCC_ATTRIBUTES") else {
        return include_str!("../../tests/data/attributes.tsv").to_owned();
    };
    let bytes = std::fs::read(path).unwrap();
    String::from_utf8(zstd::decode_all(&bytes[..]).unwrap_or(bytes)).unwrap()
}

fn inner(shape: &Shape) -> Option<&Fields> {
    match shape {
        Shape::Object(fields) => Some(fields),
        Shape::List(element, _) | Shape::Set(element) | Shape::Map(element) => inner(element),
        _ => None,
    }
}

fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Bool => "Bool",
        Shape::Integer => "Int64",
        Shape::Number => "Float64",
        Shape::Text | Shape::Time | Shape::Json => "String",
        Shape::List(element, _) if matches!(**element, Shape::Object(_)) => "ListNested",
        Shape::List(..) => "List",
        Shape::Set(element) if matches!(**element, Shape::Object(_)) => "SetNested",
        Shape::Set(_) => "Set",
        Shape::Map(element) if matches!(**element, Shape::Object(_)) => "MapNested",
        Shape::Map(_) => "Map",
        Shape::Object(_) => "SingleNested",
    }
}

fn describe(field: &Field) -> [&'static str; 6] {
    let flags = match field.usage {
        Use::Required => "R",
        Use::Optional => "O",
        Use::OptionalComputed => "OC",
        Use::Computed => "C",
    };
    let change = match field.change {
        Change::InPlace => "-",
        Change::ReplaceIfConfigured => "if_configured",
        Change::Replace => "always",
    };
    let ordering = match &field.shape {
        Shape::List(_, Order::Ignored) => "unordered",
        _ => "-",
    };
    let custom = if matches!(field.shape, Shape::Time) { "rfc3339" } else { "-" };
    [kind(&field.shape), flags, if field.needed { "notnull" } else { "-" }, change, ordering, custom]
}

#[test]
fn cc_03_attributes_are_those_of_the_recorded_table() {
    let catalogue = Catalogue::shipped();
    let mut types: HashMap<&str, Fields> = HashMap::new();
    let (mut compared, mut gone) = (0, 0);
    let mut wrong = Vec::new();
    let text = table();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [cfn, _, path, kind, _, flags, needed, _, change, ordering, custom] = columns[..] else { panic!("{line}") };
        let Some(schema) = catalogue.get(cfn).unwrap() else { continue };
        if !types.contains_key(cfn) {
            // A type that has become unsupportable since is no matter of this table.
            let Ok(fields) = of_type(&schema, |_, _| Vec::new()) else { continue };
            types.insert(cfn, fields);
        }
        let Some(field) = find(&types[cfn], path) else {
            gone += 1;
            continue;
        };
        compared += 1;
        // The table says json for what the raw schema calls an object; the shipped schemas do not tell these apart.
        let expected = [kind, flags, needed, change, ordering, if custom == "json" { "-" } else { custom }];
        let found = describe(field);
        if found != expected {
            wrong.push(format!("{cfn} {path}: {found:?} instead of {expected:?}"));
        }
    }
    assert!(compared > 300, "{compared}");
    let share = (wrong.len() + gone) as f64 / (compared + gone) as f64;
    assert!(share < 0.03, "{} of {compared} differ, {gone} are gone:\n{}", wrong.len(), wrong.join("\n"));
}

fn find<'a>(fields: &'a Fields, path: &str) -> Option<&'a Field> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let field = fields.list.iter().find(|field| &*field.attribute == first)?;
    match rest {
        None => Some(field),
        Some(rest) => find(inner(&field.shape)?, rest),
    }
}
