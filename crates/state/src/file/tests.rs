use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::error::{StateError, StateErrorKind};
use crate::model::State;
use crate::object::ObjectStatus;

const EVERYTHING: &str = include_str!("fixtures/everything.json");
const MODULES: &str = include_str!("fixtures/modules.json");
const DESTROYED: &str = include_str!("fixtures/destroyed.json");

fn error(text: &str) -> StateError {
    read(text.as_bytes()).unwrap_err()
}

/// A state with one resource whose instances are `instances`.
fn with_instances(instances: &str) -> String {
    format!(
        r#"{{"version":4,"resources":[{{"mode":"managed","type":"a","name":"b","provider":"provider[\"a/b\"]",
        "instances":[{instances}]}}]}}"#
    )
}

fn text(state: &State) -> String {
    String::from_utf8(write(state)).unwrap()
}

#[test]
fn terraforms_files_are_written_back_byte_for_byte() {
    for fixture in [EVERYTHING, MODULES, DESTROYED] {
        assert_eq!(text(&read(fixture.as_bytes()).unwrap()), fixture);
    }
}

#[test]
fn white_space_does_not_matter() {
    for fixture in [EVERYTHING, MODULES] {
        let compact = crate::json::compact(fixture);
        assert_eq!(text(&read(compact.as_bytes()).unwrap()), fixture);
        assert_eq!(text(&read(format!("\u{feff}{fixture}\n \n").as_bytes()).unwrap()), fixture);
    }
}

#[test]
fn every_part_of_a_record_is_read() {
    let state = read(EVERYTHING.as_bytes()).unwrap();
    let full = state.get(&"zz_x.y[10]".parse().unwrap()).unwrap().current.clone().unwrap();
    assert_eq!((full.schema_version, full.create_before_destroy, full.status), (3, true, ObjectStatus::Ready));
    assert_eq!(&*full.private, b"hi");
    assert_eq!(full.identity.as_ref().unwrap().schema_version, 2);
    assert_eq!(
        full.dependencies.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["module.a.b.c", "a.b", "data.x.y"]
    );
    assert_eq!(full.sensitive_attributes.iter().map(ToString::to_string).collect::<Vec<_>>(), [".a[\"k\"][0]", ".b<"]);
    let deposed = &state.get(&"zz_x.y[2]".parse().unwrap()).unwrap().deposed;
    assert_eq!(deposed.keys().map(ToString::to_string).collect::<Vec<_>>(), ["00000001", "deadbeef"]);
    assert_eq!(deposed.values().next().unwrap().status, ObjectStatus::Tainted);
    assert!(state.outputs["z<b>"].sensitive);
    assert_eq!(state.outputs["z<b>"].value.as_str(), Some("a<b&c\u{2028} é é / \u{7}"));
    assert_eq!(state.provider(&"zz_x.y[2]".parse().unwrap(), None).unwrap().alias.as_deref(), Some("west"));
    assert_eq!(state.check_results.as_ref().unwrap().len(), 4);
}

#[test]
fn dependencies_are_strings_however_they_are_written() {
    let dependencies = |list: &str| {
        let state = read(with_instances(&format!(r#"{{"dependencies":{list}}}"#)).as_bytes())?;
        let object = state.get(&"a.b".parse().unwrap()).unwrap().current.clone().unwrap();
        Ok::<_, StateError>(object.dependencies.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let expected = ["a.b".to_owned(), "module.m.c.d".to_owned()];
    assert_eq!(dependencies(r#"["a.b","module.m.c.d"]"#).unwrap(), expected);
    assert_eq!(dependencies("[\n \"a.b\" ,\t\"module.m.c.d\" ]").unwrap(), expected);
    assert_eq!(dependencies(r#"["a\u002eb", "module.m.c.d"]"#).unwrap(), expected);
    assert!(dependencies("[ ]").unwrap().is_empty());
    for wrong in [r#"[["a.b"]]"#, r#"["a.b", 1]"#, r#"[{"a.b":"c.d"}]"#, r#""a.b""#, "[null]"] {
        assert!(dependencies(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn instances_with_the_same_dependencies_share_one_list() {
    let state = read(MODULES.as_bytes()).unwrap();
    let list = |text: &str| {
        let address = text.parse().unwrap();
        state.get(&address).unwrap().current.clone().unwrap().dependencies.clone()
    };
    let (one, other) = (list("module.m[1].terraform_data.x"), list("module.m[10].terraform_data.x"));
    assert_eq!(one.len(), 2);
    assert!(one.is_same_list(&other));
    let many = list("terraform_data.many[0]");
    assert!(
        std::ptr::eq(one.iter().last().unwrap(), many.iter().next().unwrap()),
        "resources are shared between lists"
    );
}

#[test]
fn long_and_short_addresses_stand_in_one_list() {
    let name = |length: usize| format!("type.{}", "n".repeat(length));
    let list = |lengths: &[usize]| lengths.iter().map(|length| name(*length)).collect::<Vec<_>>();
    let instance = |dependencies: Vec<String>| format!(r#"{{"attributes":{{}},"dependencies":{dependencies:?}}}"#);
    let lists = [list(&[1, 2, 200, 201]), list(&[40, 41, 42, 43, 44, 45]), list(&[200]), list(&[1, 43, 200, 300])];
    let instances: Vec<String> = lists
        .iter()
        .enumerate()
        .map(|(at, names)| instance(names.clone()).replacen('{', &format!(r#"{{"index_key":{at},"#), 1))
        .collect();
    let written = text(&read(with_instances(&instances.join(",")).as_bytes()).unwrap());
    for names in lists {
        let lines: Vec<String> = names.iter().map(|name| format!("            {name:?}")).collect();
        assert!(written.contains(&format!("\"dependencies\": [\n{}\n          ]", lines.join(",\n"))), "{written}");
    }
}

#[test]
fn opentofus_fields_of_an_instance_are_kept() {
    let source = with_instances(
        r#"{"index_key":"k","provider":"provider[\"registry.opentofu.org/a/b\"].x[\"e.u\"]","schema_version":0,
        "attributes":{},"depends_on":["a.c"],"skip_destroy":true}"#,
    )
    .replacen(r#""provider":"provider[\"a/b\"]","#, "", 1);
    let state = read(source.as_bytes()).unwrap();
    let written = text(&state);
    let provider = state.provider(&"a.b[\"k\"]".parse().unwrap(), None).unwrap();
    assert_eq!(provider.to_string(), r#"provider["registry.opentofu.org/a/b"].x["e.u"]"#);
    assert!(written.contains(r#""provider": "provider[\"registry.opentofu.org/a/b\"].x[\"e.u\"]""#), "{written}");
    assert!(written.contains("\"depends_on\": [\n            \"a.c\"\n          ]"), "{written}");
    assert!(written.contains("\"skip_destroy\": true"), "{written}");
    assert_eq!(text(&read(written.as_bytes()).unwrap()), written);
}

/// A resource may be on its way from one provider configuration to another.
#[test]
fn each_object_is_managed_by_its_own_provider_instance() {
    let object = |key: &str, provider: &str| {
        format!(
            r#"{{"index_key":"{key}","provider":"provider[\"example.com/a/b\"]{provider}","schema_version":0,"attributes":{{}}}}"#
        )
    };
    let instances = [object("a", r#".by[\"x\"]"#), object("b", ""), object("c", r#".by[\"y\"]"#)];
    let source = with_instances(&instances.join(",")).replacen(r#""provider":"provider[\"a/b\"]","#, "", 1);
    let managers = |state: &State| -> Vec<String> {
        let current = |view: crate::InstanceView<'_>| view.manager(view.record.current.as_ref().unwrap()).to_string();
        state.iter().map(current).collect()
    };
    let mut state = read(source.as_bytes()).unwrap();
    let of = |end: &str| format!(r#"provider["example.com/a/b"]{end}"#);
    assert_eq!(managers(&state), [of(r#".by["x"]"#), of(""), of(r#".by["y"]"#)]);
    assert_eq!(managers(&read(text(&state).as_bytes()).unwrap()), managers(&state));

    // What is recorded goes by who has made it, and what was moved keeps who manages it.
    let b: groma_address::ResourceInstance = "a.b[\"b\"]".parse().unwrap();
    let record = state.object(&b, None).unwrap().clone();
    state.insert(&b, None, &of(r#".by["x"]"#).parse().unwrap(), record);
    assert!(state.rename(&"a.b[\"c\"]".parse().unwrap(), &"a.z".parse().unwrap()));
    assert_eq!(managers(&state), [of(r#".by["x"]"#), of(r#".by["x"]"#), of(r#".by["y"]"#)]);
    assert_eq!(managers(&read(text(&state).as_bytes()).unwrap()), managers(&state));
    assert!(state.manage_by(&"a.b".parse().unwrap(), &groma_address::ProviderAddress::default_for("q")));
    assert_eq!(managers(&state)[0], r#"provider["registry.terraform.io/hashicorp/q"].by["x"]"#);

    // Without keys the file is as Terraform writes it.
    for key in ["a", "b"] {
        let address = format!("a.b[{key:?}]").parse().unwrap();
        let record = state.object(&address, None).unwrap().clone();
        state.insert(&address, None, &of(".by").parse().unwrap(), record);
    }
    let written = text(&state);
    assert!(
        written.contains("\"name\": \"b\",\n      \"provider\": \"provider[\\\"example.com/a/b\\\"].by\""),
        "{written}"
    );
}

#[test]
fn truncated_file_and_invalid_json_have_different_errors() {
    let half = error(&EVERYTHING[..EVERYTHING.len() / 2]);
    assert_eq!((half.kind, &*half.summary), (StateErrorKind::Malformed, "Unsupported state file format"));
    assert!(half.detail.contains("is truncated: its JSON ends") && half.detail.contains(".backup"), "{half}");
    assert!(error("{\"version\":4,]").detail.contains("syntax error at line 1 column 14"));
    assert!(error("garbage").detail.contains("syntax error at line 1 column 1"));
    assert!(error("[]").detail.contains("no object"));
    assert!(error("{}").detail.contains("no \"version\""));
    assert!(error("{\"version\":\"4\"}").detail.contains("not a whole number"));
    assert!(error(" \n").detail.contains("is empty"));
    assert!(is_blank(b"") && is_blank(b" \n\t\r") && !is_blank(b"{}"));
    assert!(
        read(b"{\"version\":4,\"lineage\":\"\xff\"}").unwrap_err().detail.contains("not valid UTF-8 from byte 24 on")
    );
    assert!(error("{\"encrypted_data\":\"x\",\"meta\":{}}").detail.contains("encrypted"));
}

#[test]
fn newer_format_is_refused_with_advice() {
    let newer = error(r#"{"version":5,"terraform_version":"9.1.0","resources":{"other":"shape"}}"#);
    assert_eq!(newer.kind, StateErrorKind::Unsupported);
    assert!(newer.detail.contains("format version 5, which is newer than version 4"), "{newer}");
    assert!(newer.detail.contains("written by version 9.1.0"), "{newer}");
    assert!(error(r#"{"version":0,"modules":[]}"#).detail.contains("format version 0, which there never was"));
}

#[test]
fn invalid_content_is_reported_with_its_position() {
    let detail = |text: &str| error(text).detail;
    assert!(detail(r#"{"version":4,"serial":"x"}"#).contains("a string, expected u64 at line 1 column 25"));
    assert!(!detail(r#"{"version":4,"outputs":{"o":{"sensitive":"s3cret \", expected"}}}"#).contains("s3cret"));
    assert!(detail(r#"{"version":4,"resources":[{"mode":"x"}]}"#).contains("mode \"x\""));
    assert!(
        detail(r#"{"version":4,"resources":[{"mode":"managed","type":"a b","name":"c"}]}"#).contains("not valid names")
    );
    assert!(detail(&with_instances("").replace("provider[", "p[")).contains("provider \"p["));
    let no_provider = with_instances("").replace(r#""provider":"provider[\"a/b\"]","#, "");
    assert!(detail(&no_provider).contains("a.b in the state file names no provider"));
    assert!(detail(&with_instances(r#"{"index_key":true}"#)).contains("neither a whole number nor a string"));
    assert!(detail(&with_instances(r#"{"index_key":-1}"#)).contains("neither a whole number nor a string"));
    assert!(detail(&with_instances(r#"{"index_key":1.5}"#)).contains("neither a whole number nor a string"));
    assert!(
        detail(&with_instances(r#"{"status":"odd"}"#)).contains("a.b in the state file: it has the status \"odd\"")
    );
    assert!(detail(&with_instances(r#"{"deposed":"x"}"#)).contains("eight characters"));
    assert!(detail(&with_instances(r#"{"private":"?"}"#)).contains("not valid base64"));
    assert!(detail(&with_instances(r#"{"dependencies":["x"]}"#)).contains("not a valid resource address"));
    assert!(
        detail(&with_instances(r#"{"sensitive_attributes":[[{"type":"q","value":1}]]}"#))
            .contains("unknown type \"q\"")
    );
    assert!(detail(&with_instances("{},{}")).contains("a.b appears more than once"));
    let bad_output = r#"{"version":4,"outputs":{"o":{"value":"s3cret","type":"number"}}}"#;
    assert!(detail(bad_output).contains("output \"o\"") && !detail(bad_output).contains("s3cret"));
}

#[test]
fn missing_parts_have_terraforms_defaults() {
    let state = read(with_instances(r#"{"index_key":2.0,"attributes":null},{"index_key":3}"#).as_bytes()).unwrap();
    assert_eq!((state.serial, &*state.lineage), (0, ""));
    let attributes = |text: &str| state.get(&text.parse().unwrap()).unwrap().current.clone().unwrap();
    assert_eq!(attributes("a.b[2]").attributes.as_str(), "null");
    assert_eq!(attributes("a.b[3]").attributes.as_str(), "{}");
    let nulls = r#"{"version":4,"outputs":null,"resources":null,"check_results":null,"unknown":{"a":[1]}}"#;
    assert!(read(nulls.as_bytes()).unwrap().is_empty());
}

proptest! {
    #[test]
    fn damaged_files_never_panic(at in any::<prop::sample::Index>(), to in any::<u8>(), cut in any::<prop::sample::Index>()) {
        for fixture in [EVERYTHING, MODULES] {
            let mut bytes = fixture.as_bytes().to_vec();
            let at = at.index(bytes.len());
            bytes[at] = to;
            if let Ok(state) = read(&bytes) {
                // What is still a state is one after writing, too.
                let again = write(&state);
                prop_assert_eq!(write(&read(&again).unwrap()), again);
            }
            // Without the white space at its end a state is one still.
            bytes.truncate(cut.index(fixture.trim_end().len()));
            prop_assert!(read(&bytes).is_err());
        }
    }
}

#[test]
fn the_pieces_of_a_large_file_are_the_file() {
    let mut state = State::new("1.15.5");
    let provider = groma_address::ProviderConfig::default_in_root(groma_address::ProviderAddress::default_for("aws"));
    for number in 0..3000 {
        let object = crate::ObjectRecord::new(0, crate::AttributesJson::new(format!("{{\"id\":\"{number}\"}}")));
        let address = format!("module.m[{}].x.y[{number}]", number % 3).parse().unwrap();
        state.insert(&address, None, &provider, Arc::new(object));
    }
    let (mut joined, mut count) = (Vec::new(), 0);
    write_pieces(&state, &mut |piece| {
        joined.extend_from_slice(piece);
        count += 1;
        Ok(())
    })
    .unwrap();
    assert!(count > 1);
    assert_eq!(joined, write(&state));
    let full = write_pieces(&state, &mut |_| Err(std::io::ErrorKind::StorageFull.into()));
    assert_eq!(full.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
}

#[test]
fn a_state_whose_writer_names_no_version_is_refused() {
    let state = |version: &str| {
        format!(
            r#"{{"version":4,"terraform_version":"{version}","serial":1,"lineage":"l","outputs":{{}},"resources":[]}}"#
        )
    };
    let error = read(state("bogus").as_bytes()).unwrap_err();
    assert_eq!(error.summary, "Invalid Terraform version string");
    assert!(error.detail.contains("claims to have been written by Terraform version \"bogus\""), "{error}");
    assert!(read(state("").as_bytes()).is_ok() && read(state("9.9.9").as_bytes()).is_ok());
}
