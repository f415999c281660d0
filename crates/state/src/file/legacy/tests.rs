use crate::error::StateErrorKind;
use crate::file::{read, write};
use crate::model::State;

/// Each with what Terraform 1.15 makes of it.
const FILES: [(&str, &str); 3] = [
    (include_str!("../fixtures/format_1.json"), include_str!("../fixtures/format_1.upgraded.json")),
    (include_str!("../fixtures/format_2.json"), include_str!("../fixtures/format_2.upgraded.json")),
    (include_str!("../fixtures/format_3.json"), include_str!("../fixtures/format_3.upgraded.json")),
];

fn text(mut state: State) -> String {
    state.terraform_version = "1.15.5".to_owned();
    String::from_utf8(write(&state)).unwrap()
}

/// A file of format 3 whose root module has one resource.
fn with_resource(key: &str, resource: &str) -> String {
    format!(r#"{{"version":3,"serial":1,"modules":[{{"path":["root"],"resources":{{"{key}":{resource}}}}}]}}"#)
}

fn refused(file: &str) -> String {
    let error = read(file.as_bytes()).unwrap_err();
    assert_eq!((error.kind, &*error.summary), (StateErrorKind::Malformed, "State format upgrade failed"), "{error}");
    assert!(error.detail.contains("Nothing was changed"), "{error}");
    error.detail
}

#[test]
fn files_of_the_formats_1_to_3_are_read_as_terraform_reads_them() {
    for (old, upgraded) in FILES {
        assert_eq!(text(read(old.as_bytes()).unwrap()), upgraded.trim_end().to_owned() + "\n");
    }
}

#[test]
fn upgraded_state_is_written_back_unchanged() {
    for (_, upgraded) in FILES {
        assert_eq!(text(read(upgraded.as_bytes()).unwrap()), upgraded.trim_end().to_owned() + "\n");
    }
}

#[test]
fn flat_attributes_become_values_once_the_type_is_known() {
    use groma_value::{Type, Value};
    let state = read(FILES[1].0.as_bytes()).unwrap();
    let lion = state.object(&"zoo_animal.lion".parse().unwrap(), None).unwrap();
    let ty =
        Type::object([("id", Type::String), ("labels", Type::map(Type::String)), ("food", Type::list(Type::String))]);
    let labels = Value::map(Type::String, [("name", Value::string("leo")), ("12", Value::string("x"))]);
    let food = Value::list(Type::String, vec![Value::string("meat"), Value::string("fish")]);
    let expected = Value::object([("id", Value::string("lion-1")), ("labels", labels), ("food", food)]);
    assert_eq!(lion.decode(&ty).unwrap(), expected);
    assert_eq!(lion.id_json().as_deref(), Some("\"lion-1\""));
    let other = state.get(&"zoo_animal.lion".parse().unwrap()).unwrap().deposed.values().next().unwrap().clone();
    assert!(!lion.is_same_object(&other) && lion.fingerprint() != other.fingerprint());
}

#[test]
fn tainted_and_deposed_objects_of_format_1_are_kept() {
    let file = r#"{"version":1,"modules":[{"resources":{"zoo_animal.lion":{"tainted":[{"id":"a"}],"deposed":[{"id":"b"}]}}}]}"#;
    let state = read(file.as_bytes()).unwrap();
    let lion = state.get(&"zoo_animal.lion".parse().unwrap()).unwrap();
    let kept: Vec<_> = lion.deposed.values().map(|object| (object.id_json().unwrap(), object.status)).collect();
    assert_eq!(
        kept,
        [("\"b\"".to_owned(), crate::ObjectStatus::Ready), ("\"a\"".to_owned(), crate::ObjectStatus::Tainted)]
    );
}

#[test]
fn instances_of_one_resource_have_one_provider_configuration() {
    let file = r#"{"version":3,"modules":[{"path":["root"],"resources":{
        "zoo_animal.lion.0":{"primary":{"id":"a"},"provider":"provider.zoo.west"},
        "zoo_animal.lion.1":{"primary":{"id":"b"},"provider":"provider.zoo.east"}}}]}"#;
    let state = read(file.as_bytes()).unwrap();
    let (_, entry) = state.resources().next().unwrap();
    assert_eq!(entry.provider.to_string(), r#"provider["registry.terraform.io/-/zoo"].west"#);
    assert_eq!(entry.len(), 2);
}

#[test]
fn terraform_0_12_named_providers_by_their_last_name() {
    let file = |provider: &str| {
        format!(
            r#"{{"version":4,"resources":[{{"mode":"managed","type":"zoo_animal","name":"lion","provider":"{provider}",
            "instances":[{{"attributes":{{}}}}]}}]}}"#
        )
    };
    for (old, today) in [
        ("provider.zoo", r#"provider["registry.terraform.io/-/zoo"]"#),
        ("module.a.module.b.provider.zoo.west", r#"module.a.module.b.provider["registry.terraform.io/-/zoo"].west"#),
        ("provider.terraform", r#"provider["terraform.io/builtin/terraform"]"#),
    ] {
        let state = read(file(old).as_bytes()).unwrap();
        assert_eq!(state.resources().next().unwrap().1.provider.to_string(), today);
    }
    for wrong in ["zoo", "provider.", "provider.a.b.c", "module.a[0].provider.zoo"] {
        let error = read(file(wrong).as_bytes()).unwrap_err();
        assert_eq!(&*error.summary, "Invalid provider configuration address", "{wrong}");
    }
}

#[test]
fn object_that_cannot_be_upgraded_is_named() {
    let one = r#"{"primary":{"id":"a"}}"#;
    for key in ["zoo_animal", "zoo_animal.lion.x", "zoo_animal.lion.-1", "zoo_animal.lion.0.1", "data.a.b.0.1", "a.1b"]
    {
        assert!(refused(&with_resource(key, one)).contains(&format!("its resource \"{key}\"")), "{key}");
    }
    let interpolated = r#"{"primary":{"id":"a"},"provider":"provider.zoo.${var.x}"}"#;
    assert!(refused(&with_resource("zoo_animal.lion", interpolated)).contains("give it a plain name"));
    assert!(refused(r#"{"version":3,"serial":-2}"#).contains("serial is -2"));
    assert!(refused(r#"{"version":3,"modules":[{"path":["x"]}]}"#).contains("does not begin with \"root\""));
    assert!(refused(r#"{"version":3,"modules":[{"path":["root","1a"]}]}"#).contains("a module \"1a\""));
    assert!(refused(r#"{"version":2,"modules":[{"path":["root"],"outputs":{"o":null}}]}"#).contains("output \"o\""));
    let twice = r#"{"path":["root"],"resources":{"a.b":{"primary":{"id":"x"}}}}"#;
    assert!(refused(&format!(r#"{{"version":3,"modules":[{twice},{twice}]}}"#)).contains("a.b more than once"));
}

#[test]
fn invalid_legacy_file_is_reported_without_its_values() {
    let wrong = with_resource("a.b", r#"{"primary":{"id":"x","attributes":"s3cret"}}"#);
    let error = read(wrong.as_bytes()).unwrap_err();
    assert_eq!(&*error.summary, "Invalid state file format");
    assert!(!error.detail.contains("s3cret"), "{error}");
    for nothing in ["null", "[null]"] {
        let file = format!(r#"{{"version":3,"modules":[{{"path":["root"],"resources":{nothing}}}]}}"#);
        assert_eq!(read(file.as_bytes()).is_ok(), nothing == "null");
    }
}
