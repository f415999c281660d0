//! JSON and msgpack.

mod common;

use common::{Content, optional_types, typed_values, types};
use groma_value::{Bound, Marks, Number, Refinement, Type, Value, json, msgpack};
use proptest::prelude::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn encoded(value: &Value, ty: &Type) -> String {
    hex(&msgpack::encode(value, ty).expect("it can be encoded"))
}

fn number(text: &str) -> Value {
    Value::number(Number::parse(text).expect("a number"))
}

/// Captured from Terraform.
#[test]
fn numbers_are_encoded_in_shortest_msgpack_form() {
    for (text, bytes) in [
        ("5", "05"),
        ("128", "cc80"),
        ("65536", "ce00010000"),
        ("9223372036854775807", "cf7fffffffffffffff"),
        ("-1", "ff"),
        ("-129", "d1ff7f"),
        ("1.5", "cb3ff8000000000000"),
        ("0.1", "a3302e31"),
        ("1e19", "b43130303030303030303030303030303030303030"),
        ("1e-7", "a9302e30303030303031"),
    ] {
        assert_eq!(encoded(&number(text), &Type::Number), bytes, "{text}");
        let bytes = msgpack::encode(&number(text), &Type::Number).expect("it can be encoded");
        assert_eq!(msgpack::decode(&bytes, &Type::Number).expect("it can be decoded"), number(text));
    }
    assert_eq!(encoded(&Value::number(Number::from(u64::MAX)), &Type::Number).len(), 2 * 21);
    assert_eq!(encoded(&Value::number(Number::infinity()), &Type::Number), "cb7ff0000000000000");
}

/// Captured from Terraform.
#[test]
fn unknown_values_are_encoded_as_extensions() {
    assert_eq!(encoded(&Value::unknown(Type::String), &Type::String), "d40000");
    assert_eq!(encoded(&Value::DYNAMIC, &Type::Dynamic), "d40000");
    let prefixed = Value::refined(Type::String, Refinement::NOT_NULL.full_prefix("pre-"));
    assert_eq!(encoded(&prefixed, &Type::String), "c7090c8201c202a47072652d");
}

/// Every form of a length, at both of its ends.
#[test]
fn lengths_are_encoded_in_shortest_form() {
    let comes_back = |value: &Value, ty: &Type, head: &[u8]| {
        let bytes = msgpack::encode(value, ty).expect("it can be encoded");
        assert_eq!(hex(&bytes[..head.len()]), hex(head));
        assert_eq!(&msgpack::decode(&bytes, ty).expect("it can be decoded"), value);
    };
    for (length, head) in [
        (31, &[0xbf][..]),
        (32, &[0xd9, 32]),
        (255, &[0xd9, 255]),
        (256, &[0xda, 1, 0]),
        (65_535, &[0xda, 255, 255]),
        (65_536, &[0xdb, 0, 1, 0, 0]),
    ] {
        comes_back(&Value::string("x".repeat(length)), &Type::String, head);
    }
    for (length, list, map) in [
        (15, &[0x9f][..], &[0x8f][..]),
        (16, &[0xdc, 0, 16], &[0xde, 0, 16]),
        (65_535, &[0xdc, 255, 255], &[0xde, 255, 255]),
        (65_536, &[0xdd, 0, 1, 0, 0], &[0xdf, 0, 1, 0, 0]),
    ] {
        let elements = vec![Value::bool(true); length];
        comes_back(&Value::list(Type::Bool, elements), &Type::list(Type::Bool), list);
        let entries = (0..length).map(|key| (key.to_string(), Value::bool(true)));
        comes_back(&Value::map(Type::Bool, entries), &Type::map(Type::Bool), map);
    }
    let promising = |length: usize| Value::refined(Type::String, Refinement::NOT_NULL.full_prefix(&"-".repeat(length)));
    // The body holds two keys, a bool and the head of the text besides.
    comes_back(&promising(248), &Type::String, &[0xc7, 254, 0x0c, 0x82]);
    comes_back(&promising(249), &Type::String, &[0xc7, 255, 0x0c, 0x82]);
    comes_back(&promising(250), &Type::String, &[0xc8, 1, 0, 0x0c, 0x82]);
    comes_back(&promising(256), &Type::String, &[0xc8, 1, 7, 0x0c, 0x82]);
}

/// Others may write an extension in any form, the longest too.
#[test]
fn all_extension_formats_are_decoded() {
    let promise = [0x81, 1, 0xc2];
    for head in [&[0xc7, 3][..], &[0xc8, 0, 3], &[0xc9, 0, 0, 0, 3]] {
        let bytes = [head, &[0x0c], &promise].concat();
        let value = msgpack::decode(&bytes, &Type::Bool).expect("it can be decoded");
        assert_eq!(value, Value::unknown(Type::Bool).not_null(), "{head:?}");
    }
    for (code, length) in [(0xd4, 1), (0xc7, 0)] {
        let bytes = if code == 0xd4 { vec![code, 0, 0] } else { vec![code, length, 0] };
        assert_eq!(msgpack::decode(&bytes, &Type::Bool).expect("it can be decoded"), Value::unknown(Type::Bool));
    }
    for broken in [&[0xc9, 255, 255, 255, 255, 0x0c][..], &[0xc8, 0], &[0xc7], &[0xd8, 0x0c, 1]] {
        assert!(msgpack::decode(broken, &Type::Bool).is_err(), "{broken:?}");
    }
}

#[test]
fn object_attributes_are_encoded_sorted_and_complete() {
    let ty = Type::object([("b", Type::Number), ("a", Type::String)]);
    let value = Value::object([("a", Value::null(Type::String)), ("b", Value::number(1))]);
    assert_eq!(encoded(&value, &ty), "82a161c0a16201");
}

#[test]
fn dynamic_values_are_encoded_with_their_type() {
    let bytes = msgpack::encode(&Value::string("x"), &Type::Dynamic).expect("it can be encoded");
    assert_eq!(hex(&bytes), format!("92c408{}a178", hex(b"\"string\"")));
    assert_eq!(msgpack::decode(&bytes, &Type::Dynamic).expect("it can be decoded"), Value::string("x"));
    assert_eq!(encoded(&Value::NULL, &Type::Dynamic), "c0");
}

#[test]
fn objects_with_wrong_attributes_are_rejected() {
    let ty = Type::object([("a", Type::String), ("b", Type::String)]);
    for bytes in [&b"\x81\xa1a\xa1x"[..], b"\x82\xa1a\xa1x\xa1c\xa1y", b"\x82\xa1a\xa1x\xa1a\xa1y", b"\x80"] {
        assert!(msgpack::decode(bytes, &ty).is_err(), "{bytes:?}");
    }
    let error = msgpack::decode(b"\x82\xa1a\xa1x\xa1b\xc3", &ty).expect_err("no string");
    assert_eq!((error.path.to_string().as_str(), error.message.as_str()), (".b", "string is required"));
}

#[test]
fn contradictory_refinements_are_rejected() {
    // At least 3 and at most 2 elements.
    assert!(msgpack::decode(&[0xc7, 5, 0x0c, 0x82, 5, 3, 6, 2], &Type::list(Type::Bool)).is_err());
    // A prefix for a number.
    assert!(msgpack::decode(&[0xc7, 4, 0x0c, 0x81, 2, 0xa1, b'a'], &Type::Number).is_err());
    // A promise of the future is ignored.
    let value =
        msgpack::decode(&[0xc7, 6, 0x0c, 0x82, 99, 0x91, 1, 1, 0xc2], &Type::Number).expect("it can be decoded");
    assert_eq!(value, Value::refined(Type::Number, Refinement::NOT_NULL));
}

#[test]
fn unknown_refined_as_null_is_null() {
    let bytes = [0xc7, 3, 0x0c, 0x81, 1, 0xc3];
    assert_eq!(msgpack::decode(&bytes, &Type::String).expect("it can be decoded"), Value::null(Type::String));
}

#[test]
fn deep_nesting_is_rejected() {
    let mut bytes = Vec::new();
    for _ in 0..100_000 {
        bytes.extend_from_slice(b"\x92\xc4\x12[\"list\",\"dynamic\"]\x91");
    }
    assert!(msgpack::decode(&bytes, &Type::Dynamic).is_err());
    let brackets = "[".repeat(1_000_000);
    assert!(json::decode(brackets.as_bytes()).is_err());
    let types = "[\"list\",".repeat(100_000);
    assert!(Type::from_json(types.as_bytes()).is_err());
}

#[test]
fn json_matches_state_file_format() {
    let ty = Type::object([
        ("any", Type::Dynamic),
        ("map", Type::map(Type::Bool)),
        ("number", Type::Number),
        ("set", Type::set(Type::String)),
        ("text", Type::String),
    ]);
    let value = Value::object([
        ("any", Value::tuple(vec![Value::number(1)])),
        ("map", Value::map(Type::Bool, [("k", Value::TRUE)])),
        ("number", number("0.10")),
        ("set", Value::set(Type::String, vec![Value::string("b"), Value::string("a")])),
        ("text", Value::string("<é\u{2028}\"\n\u{1}>")),
    ]);
    let text = String::from_utf8(json::to_json(&value, &ty).expect("it can be written")).expect("UTF-8");
    assert_eq!(
        text,
        r#"{"any":{"value":[1],"type":["tuple",["number"]]},"map":{"k":true},"number":0.1,"set":["a","b"],"text":"\u003cé\u2028\"\n\u0001\u003e"}"#
    );
    assert_eq!(json::from_json(text.as_bytes(), &ty).expect("it can be read"), value);
}

#[test]
fn json_decoder_accepts_what_terraform_accepts() {
    let ty = Type::object([("a", Type::String), ("b", Type::Number), ("c", Type::Bool)]);
    let read = json::from_json(br#" {"b": "1.5", "a": 12, "c": "true"} "#, &ty).expect("it can be read");
    assert_eq!(read, Value::object([("a", Value::string("12")), ("b", number("1.5")), ("c", Value::TRUE)]));
    let missing = json::from_json(b"{}", &ty).expect("it can be read");
    assert_eq!(missing.attribute("a"), Some(Value::null(Type::String)));
    let error = json::from_json(br#"{"d":1}"#, &ty).expect_err("too much");
    assert_eq!(error.message, "unsupported attribute \"d\"");
    let error = json::from_json(br#"{"a":[]}"#, &ty).expect_err("no string");
    assert_eq!((error.path.to_string().as_str(), error.message.as_str()), (".a", "string is required"));
}

#[test]
fn invalid_json_is_rejected_with_byte_offset() {
    for text in
        ["", "{", "[1,]", "{\"a\" 1}", "01", "1.", "-", "tru", "\"a", "\"\u{1}\"", "\"\\x\"", "1 2", "[1 2]", "{,}"]
    {
        let error = json::decode(text.as_bytes()).expect_err(text);
        assert!(error.offset.is_some_and(|offset| offset <= text.len()), "{text:?}: {error}");
    }
}

#[test]
fn json_escapes_are_decoded() {
    let read = json::decode(br#""\u00e9\ud83d\ude00\ud800x\/\b\f\n\r\t\"\\""#).expect("it can be read");
    assert_eq!(read.as_str(), Some("é😀\u{fffd}x/\u{8}\u{c}\n\r\t\"\\"));
}

#[test]
fn marked_and_unknown_values_are_never_encoded_as_json() {
    let secret = Value::object([("a", Value::string("s3cret").with_marks(&Marks::SENSITIVE))]);
    let error = json::encode(&secret).expect_err("marked");
    assert_eq!(error.path.to_string(), ".a");
    assert!(!error.to_string().contains("s3cret"));
    assert!(msgpack::encode(&secret, &secret.ty()).is_err());
    assert!(json::encode(&Value::unknown(Type::Bool)).is_err());
}

#[test]
fn values_are_converted_when_encoded() {
    assert_eq!(json::to_json(&Value::number(5), &Type::String).expect("it can be written"), b"\"5\"");
    assert_eq!(encoded(&Value::string("5"), &Type::Number), "05");
}

#[test]
fn huge_declared_lengths_do_not_allocate() {
    assert!(msgpack::decode(&[0xdd, 0xff, 0xff, 0xff, 0xff], &Type::list(Type::Bool)).is_err());
    assert!(msgpack::decode(&[0xdf, 0xff, 0xff, 0xff, 0xff], &Type::map(Type::Bool)).is_err());
    assert!(msgpack::decode(&[0xc6, 0xff, 0xff, 0xff, 0xff], &Type::String).is_err());
    let long = Refinement::NOT_NULL.minimum_length(1 << 40).maximum_length(1 << 40);
    assert!(!Value::refined(Type::list(Type::Bool), long).is_known());
}

proptest! {
    #[test]
    fn msgpack_round_trip((ty, value) in typed_values(Content::Unknown)) {
        let bytes = msgpack::encode(&value, &ty).expect("it can be encoded");
        prop_assert_eq!(msgpack::decode(&bytes, &ty).expect("it can be decoded"), value.clone());
        let bytes = msgpack::encode(&value, &Type::Dynamic).expect("it can be encoded");
        prop_assert_eq!(msgpack::decode(&bytes, &Type::Dynamic).expect("it can be decoded"), value);
    }

    #[test]
    fn json_round_trip((ty, value) in typed_values(Content::Known)) {
        for ty in [ty, Type::Dynamic] {
            let text = json::to_json(&value, &ty).expect("it can be written");
            prop_assert_eq!(json::from_json(&text, &ty).expect("it can be read"), value.clone());
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&text).is_ok());
        }
    }

    #[test]
    fn types_round_trip(ty in prop_oneof![types(), optional_types()]) {
        prop_assert_eq!(Type::from_json(ty.to_json().as_bytes()).expect("a type"), ty);
    }

    #[test]
    fn decoding_garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64), ty in types()) {
        let _ = msgpack::decode(&bytes, &ty);
        let _ = msgpack::decode(&bytes, &Type::Dynamic);
        let _ = json::from_json(&bytes, &ty);
        let _ = json::decode(&bytes);
        let _ = Type::from_json(&bytes);
    }

    #[test]
    fn decoding_damaged_bytes_never_panics(
        (ty, value) in typed_values(Content::Unknown), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = msgpack::encode(&value, &ty).expect("it can be encoded");
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(decoded) = msgpack::decode(&bytes, &ty) {
            prop_assert!(decoded.has_type(&ty));
        }
    }

    #[test]
    fn bounds_round_trip(low in 0i64..5, span in 0i64..3, inclusive in any::<bool>()) {
        let refinement = Refinement::NOT_NULL
            .lower_bound(Bound { value: Number::from(low), inclusive })
            .upper_bound(Bound { value: Number::from(low + span), inclusive: true });
        let value = Value::refined(Type::Number, refinement);
        let bytes = msgpack::encode(&value, &Type::Number).expect("it can be encoded");
        prop_assert_eq!(msgpack::decode(&bytes, &Type::Number).expect("it can be decoded"), value);
    }
}

/// Providers hand on what programs print, and not all of that is UTF-8.
#[test]
fn invalid_utf8_from_plugins_becomes_replacement_characters() {
    let read = |bytes: &[u8], ty: &Type| msgpack::decode(bytes, ty).expect("it can be decoded");
    assert_eq!(read(b"\xa4a\xff\xfeb", &Type::String), Value::string("a\u{fffd}\u{fffd}b"));
    assert_eq!(
        read(b"\x91\xc4\x02\xc3\x28", &Type::list(Type::String)),
        Value::list(Type::String, vec![Value::string("\u{fffd}(")])
    );
}

/// A collection whose elements could be anything has those of one type, whatever form it comes in.
#[test]
fn collection_of_dynamic_is_decoded_with_common_element_type() {
    let open = Type::object([("a", Type::Dynamic)]);
    let object = |value: Value| Value::object([("a", value)]);
    let written = |value: &Value, ty: &Type| {
        let bytes = msgpack::encode(value, ty).expect("it can be encoded");
        let json = json::to_json(value, ty).expect("it can be written");
        (msgpack::decode(&bytes, ty), json::from_json(&json, ty))
    };
    let closed = Type::object([("a", Type::String)]);
    let texts = || vec![object(Value::string("x")), object(Value::string("y"))];
    for (ty, value) in [
        (Type::list(open.clone()), Value::list(closed.clone(), texts())),
        (Type::set(open.clone()), Value::set(closed.clone(), texts())),
        (Type::map(open.clone()), Value::map(closed.clone(), ["k", "l"].into_iter().zip(texts()))),
        (Type::map(Type::Dynamic), Value::map(Type::Bool, [("k", Value::TRUE)])),
    ] {
        let (wire, text) = written(&value, &ty);
        assert_eq!(wire.expect("it can be decoded"), value);
        assert_eq!(text.expect("it can be read"), value);
    }
    // Elements of several types are nobody's collection.
    let mixed = Value::tuple(vec![object(Value::string("x")), object(Value::TRUE)]);
    let (wire, text) = (
        msgpack::encode(&mixed, &Type::tuple([open.clone(), open.clone()])).expect("it can be encoded"),
        json::to_json(&mixed, &Type::tuple([open.clone(), open.clone()])).expect("it can be written"),
    );
    for ty in [Type::list(open.clone()), Type::set(open)] {
        assert!(msgpack::decode(&wire, &ty).is_err());
        assert!(json::from_json(&text, &ty).is_err());
    }
}
