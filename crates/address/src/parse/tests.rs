use std::fmt;

use proptest::prelude::*;

use super::scanner::RESERVED;
use super::*;
use crate::{Mode, ModuleStep, Resource};

fn error(result: Result<impl fmt::Debug, ParseError>) -> String {
    let error = result.unwrap_err();
    format!("{}: {}", error.offset, error.message)
}

#[test]
fn addresses_round_trip() {
    for text in [
        "aws_x.y",
        "data.aws_x.y[3]",
        "ephemeral.x.y",
        r#"module.a["x"].module.b[0].aws_x.y["k.[\"]$${x}\n"]"#,
        "module.a-b.données.été",
    ] {
        assert_eq!(parse_resource_instance(text).unwrap().to_string(), text);
        assert_eq!(parse_target(text).unwrap().to_string(), text);
    }
    for text in ["", "module.a", "module.a.module.b"] {
        assert_eq!(parse_module_path(text).unwrap().to_string(), text);
        assert_eq!(parse_module_instance(text).unwrap().to_string(), text);
    }
    for text in [
        r#"provider["registry.terraform.io/hashicorp/aws"]"#,
        r#"module.a.module.b.provider["example.com/a/b"].west"#,
        r#"provider["example.com/a/b"].by["a \"b\""]"#,
        r#"provider["example.com/a/b"]["a"]"#,
    ] {
        assert_eq!(parse_provider_config(text).unwrap().to_string(), text);
    }
    assert_eq!(parse_resource_instance(r#"x.y[ "\u00e9" ]"#).unwrap().to_string(), r#"x.y["é"]"#);
}

#[test]
fn target_kinds() {
    assert!(matches!(parse_target("module.a[0]").unwrap(), Target::Module(_)));
    assert!(matches!(parse_target("module.a[0].x.y").unwrap(), Target::Resource(_)));
    assert!(matches!(parse_target("x.y[\"z\"]").unwrap(), Target::Instance(_)));
}

#[test]
fn invalid_addresses_report_message_and_offset() {
    assert_eq!(error(parse_target("aws_instance")), "12: Expected a resource type and name, such as aws_instance.web.");
    assert_eq!(error(parse_target("")), "0: Expected a resource type and name, such as aws_instance.web.");
    assert_eq!(error(parse_target("x.y[a]")), "4: An instance key must be a whole number or a quoted string.");
    assert_eq!(error(parse_target("x.y[1")), "5: Missing the closing bracket of the instance key.");
    assert_eq!(error(parse_target("x.y[1].z")), "6: Unexpected text after the end of the address.");
    assert_eq!(
        error(parse_target("x.y[\"${z}\"]")),
        "5: An instance key in an address cannot contain template sequences."
    );
    assert_eq!(error(parse_target("x.y[99999999999999999999]")), "4: This number is too large for an instance key.");
    assert!(error(parse_target("x.y[\"z]")).contains("single quotes"));
    assert!(error(parse_target("x.y[\"\\q\"]")).starts_with("5: Invalid escape sequence"));
    assert!(error(parse_target("x.y[\"\\ud800\"]")).starts_with("5: Invalid escape sequence"));
    assert!(error(parse_target("module")).contains("a dot and the name"));
    assert!(error(parse_target("module.")).contains("the name of a module call"));
    assert!(error(parse_target("module.a.")).starts_with("9: Expected a module or a resource"));
    assert!(error(parse_config_resource("module.a[0].x.y")).starts_with("8: "));
    assert!(error(parse_config_resource("x.y[0]")).starts_with("3: "));
    assert!(error(parse_module_instance("x.y")).contains("Expected a module address"));
    assert!(error(parse_provider_config("provider.aws")).contains("Expected a provider configuration address"));
    assert!(error(parse_provider_config(r#"module.a[0].provider["a/b"]"#)).contains("not to one of its instances"));
}

#[test]
fn reserved_name_as_resource_type_needs_the_resource_prefix() {
    for word in RESERVED {
        assert!(error(parse_target(&format!("{word}.x"))).contains("is a reserved name"), "{word}");
        let message = error(parse_resource_instance(&format!("module.m.{word}.x[0]")));
        assert!(message.starts_with(&format!("9: {word} is a reserved name")), "{message}");
        let meant = parse_resource_instance(&format!("resource.{word}.x[0]")).unwrap();
        assert_eq!(meant.resource, Resource::managed(word, "x"));
    }
    assert_eq!(parse_target("module.m.resource.a.b").unwrap(), parse_target("module.m.a.b").unwrap());
    assert!(error(parse_target("resource.a")).contains("after \"resource\""));
    assert!(parse_target("data.var.x").is_ok());
}

#[test]
fn list_resources_have_addresses() {
    let list = Resource { mode: Mode::List, type_name: "a".into(), name: "b".into() };
    let instance = parse_resource_instance("module.m.list.a.b[0]").unwrap();
    assert_eq!((&instance.resource, instance.to_string().as_str()), (&list, "module.m.list.a.b[0]"));
    assert!(error(parse_target("list.a")).contains("after \"list\""));
    assert!(error(parse_target("list")).contains("after \"list\""));
}

#[test]
fn identifiers_follow_the_language() {
    assert!(["a", "_", "a-b", "é1", "a_1"].iter().all(|text| is_identifier(text)));
    assert!(!["", "1", "-a", "a b", "a.b"].iter().any(|text| is_identifier(text)));
}

fn key() -> impl Strategy<Value = InstanceKey> {
    prop_oneof![
        Just(InstanceKey::None),
        any::<u64>().prop_map(InstanceKey::Int),
        any::<String>().prop_map(|key| InstanceKey::String(key.into())),
    ]
}

proptest! {
    #[test]
    fn random_addresses_round_trip(
        steps in prop::collection::vec(("[a-z_][a-z0-9_-]{0,4}", key()), 0..4),
        type_name in "[a-z][a-z0-9_]{0,6}_x",
        name in "[a-z_][a-z0-9_-]{0,6}",
        key in key(),
    ) {
        let module = ModuleInstance::from_steps(
            steps.into_iter().map(|(name, key)| ModuleStep { name: name.into(), key }),
        );
        let address = ResourceInstance { module, resource: Resource::managed(type_name, name), key };
        prop_assert_eq!(&parse_resource_instance(&address.to_string()).unwrap(), &address);
        prop_assert_eq!(parse_module_instance(&address.module.to_string()).unwrap(), address.module);
    }

    #[test]
    fn parsing_never_panics(text in r#"(module|data|provider|x|\.|\[|\]|"|\\|u00|\$|\{|1|é| ){0,12}"#, other in any::<String>()) {
        for text in [&text, &other] {
            let _ = parse_target(text);
            let _ = parse_provider_config(text);
            let _ = parse_module_path(text);
            if let Err(error) = parse_resource_instance(text) {
                prop_assert!(text.is_char_boundary(error.offset), "{error:?}");
            }
        }
    }
}
