//! Searching with list blocks.

use groma_engine::{FoundObjects, Searched};
use groma_provider::{
    Attribute, Block, GenerateConfigResponse, IdentityAttribute, IdentityImport, IdentitySchema, ListControl,
    ListDetail, ListRequest, Listed, NestedBlock, ProviderDiagnostic, ProviderDiagnostics, Schema,
};
use groma_scripted::{ListScript, ResourceScript, Scripted};
use groma_value::{Type, Value};

use crate::support::{Project, errors};

const HEAD: &str = "terraform {\n  required_providers {\n    test = { source = \"test/test\" }\n  }\n}\n";

fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Schema {
    Schema::new(Block::new(attributes, Vec::<(&str, NestedBlock)>::new()))
}

fn object() -> Schema {
    let name = IdentityAttribute { ty: Type::String, import: IdentityImport::Required, description: String::new() };
    block([
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::optional(Type::String)),
        ("token", Attribute::optional(Type::String).sensitive()),
    ])
    .identified_by(IdentitySchema { version: 3, attributes: [("name".into(), name)].into() })
}

fn found(name: &str, detail: ListDetail) -> Listed {
    let object = Value::object([
        ("id", Value::string(format!("id-{name}"))),
        ("name", Value::string(name)),
        ("token", Value::string("hush")),
    ]);
    Listed {
        identity: Some(Value::object([("name", Value::string(name))])),
        display_name: format!("The {name}"),
        object: (detail == ListDetail::Objects).then_some(object),
        diagnostics: ProviderDiagnostics::new(),
    }
}

/// Finds as many objects as are wanted, at most ten, that are named after what is searched for.
fn plenty(request: &ListRequest) -> ProviderDiagnostics {
    let prefix = request.config.attribute("prefix").unwrap().as_str().unwrap_or("any").to_owned();
    for at in 0..10 {
        if (request.found)(found(&format!("{prefix}-{at}"), request.detail)) == ListControl::Stop {
            break;
        }
    }
    ProviderDiagnostics::new()
}

fn searching(search: impl Fn(&ListRequest) -> ProviderDiagnostics + Send + Sync + 'static) -> Scripted {
    let by = block([("prefix", Attribute::optional(Type::String))]);
    Scripted::new("test")
        .resource("test_object", ResourceScript::new(object()))
        .list("test_object", ListScript::new(by).on_list(search))
}

fn project(main: &str, queries: &str, provider: Scripted) -> Project {
    Project::new(&format!("{HEAD}{main}")).with("queries.tfquery.hcl", queries).scripted(provider)
}

fn reported(searched: &[Searched]) -> Vec<String> {
    let names =
        |one: &Searched| one.found.iter().map(|found| found.display_name.clone()).collect::<Vec<_>>().join(", ");
    searched.iter().map(|one| format!("{}: {}", one.address, names(one))).collect()
}

#[test]
fn searches_respect_their_limit() {
    let queries = r#"
        variable "most" { default = 2 }
        locals { what = "web" }
        list "test_object" "some" {
          provider = test
          limit    = var.most
          config { prefix = local.what }
        }
        list "test_object" "each" {
          provider = test
          for_each = toset(["b", "a"])
          limit    = 1
          config { prefix = each.key }
        }
        list "test_object" "all" { provider = test }
        list "test_object" "none" {
          provider = test
          limit    = 0
        }
    "#;
    let (searched, problems) = project("", queries, searching(plenty)).query();
    assert_eq!(errors(&problems), Vec::<String>::new());
    let reported = reported(&searched);
    assert_eq!(reported[0].matches("The any").count(), 10, "{reported:?}");
    assert_eq!(
        reported[1..],
        [
            "list.test_object.each[\"a\"]: The a-0",
            "list.test_object.each[\"b\"]: The b-0",
            "list.test_object.none: ",
            "list.test_object.some: The web-0, The web-1"
        ]
    );
    assert!(searched.iter().all(|one| one.identity_version == 3));
    assert!(searched.iter().flat_map(|one| &one.found).all(|found| found.object.is_none() && found.written.is_none()));
}

#[test]
fn search_may_depend_on_another_search_and_on_the_state() {
    let mut project = project(
        "resource \"test_object\" \"kept\" {\n  name = \"kept\"\n}\nresource \"test_object\" \"other\" {}\n",
        r#"
            list "test_object" "first" {
              provider = test
              limit    = 1
              config { prefix = test_object.kept.id }
            }
            list "test_object" "second" {
              provider = test
              limit    = 1
              config { prefix = list.test_object.first.data[0].identity.name }
            }
        "#,
        searching(plenty),
    );
    project.apply();
    project.provider().forget_calls();
    let (searched, problems) = project.query();
    assert_eq!(errors(&problems), Vec::<String>::new());
    assert_eq!(
        reported(&searched),
        ["list.test_object.first: The test_object-1-0", "list.test_object.second: The test_object-1-0-0"]
    );
    let calls = project.provider().call_texts();
    assert!(!calls.iter().any(|call| call.starts_with("read") || call == "plan test_object other"), "{calls:?}");
}

#[test]
fn search_with_unknown_arguments_is_refused() {
    let main = "resource \"test_object\" \"new\" {}\n";
    let list = |arguments: &str| format!("list \"test_object\" \"a\" {{\n  provider = test\n  {arguments}\n}}\n");
    for (arguments, summary) in [
        ("config {\n    prefix = test_object.new.id\n  }", "config is not known"),
        ("limit = length(test_object.new.id)", "Invalid \"limit\" argument"),
        ("include_resource = test_object.new.id == \"\"", "Invalid \"include_resource\" argument"),
        ("limit = null", "Invalid \"limit\" argument"),
        ("limit = -1", "Invalid limit argument"),
        ("limit = \"x\"", "Incorrect value type"),
        ("config {\n    nosuch = 1\n  }", "Unsupported argument"),
        ("depends_on = []", "Unsupported argument"),
    ] {
        let project = project(main, &list(arguments), searching(plenty));
        let (searched, problems) = project.query();
        assert!(searched.is_empty());
        assert_eq!(errors(&problems), [summary], "{arguments}");
        assert!(!project.provider().call_texts().iter().any(|call| call.starts_with("list")), "nothing was searched");
    }
}

#[test]
fn query_files_are_ignored_in_plans() {
    let mut project = project("", "list \"test_object\" \"a\" {\n  nonsense = true\n}\n", searching(plenty));
    assert_eq!(project.apply(), Vec::<String>::new());
    let (_, problems) = project.query();
    assert_eq!(errors(&problems), ["Unsupported argument", "Missing \"provider\" attribute"]);
}

#[test]
fn failed_search_does_not_stop_other_searches() {
    let queries = r#"
        list "test_object" "bad" {
          provider = test
          config { prefix = "bad" }
        }
        list "test_object" "good" {
          provider = test
          limit    = 1
        }
    "#;
    let search = |request: &ListRequest| {
        if request.config.attribute("prefix").unwrap().as_str() == Some("bad") {
            (request.found)(found("seen", request.detail));
            return ProviderDiagnostic::error("Out of reach", "The network is down.").into();
        }
        plenty(request)
    };
    let (searched, problems) = project("", queries, searching(search)).query();
    assert_eq!(errors(&problems), ["Out of reach"]);
    assert_eq!(reported(&searched), ["list.test_object.good: The any-0"]);
}

const WRITTEN: &str = r#"
    list "test_object" "a" {
      provider = test
      count    = 2
      limit    = 1
    }
"#;

#[test]
fn configuration_is_generated_for_search_results() {
    let mut project = project("", WRITTEN, searching(plenty));
    project.options.found = FoundObjects::Generated;
    let (searched, problems) = project.query();
    assert_eq!(errors(&problems), Vec::<String>::new());
    let written = searched[1].found[0].written.clone().unwrap();
    assert_eq!(
        written.resource,
        "resource \"test_object\" \"a_1_0\" {\n  provider = test\n  name     = \"any-0\"\n  token    = null # sensitive\n}"
    );
    assert_eq!(
        written.import,
        "import {\n  to       = test_object.a_1_0\n  provider = test\n  identity = {\n    name = \"any-0\"\n  }\n}"
    );
}

#[test]
fn provider_generates_the_configuration_itself_if_it_can() {
    let provider = searching(plenty).on_generate_config(|request| {
        let id = request.state.attribute("id").unwrap().as_str().unwrap().to_owned();
        let config = Value::object([
            ("id", Value::null(Type::String)),
            ("name", Value::string(format!("made from {id}"))),
            ("token", Value::null(Type::String)),
        ]);
        GenerateConfigResponse { config, diagnostics: ProviderDiagnostics::new() }
    });
    let mut project = project("", WRITTEN, provider);
    project.options.found = FoundObjects::Generated;
    let (searched, problems) = project.query();
    assert_eq!(errors(&problems), Vec::<String>::new());
    let written = searched[0].found[0].written.clone().unwrap();
    assert!(written.resource.contains("name     = \"made from id-any-0\""), "{}", written.resource);
    assert!(project.provider().call_texts().iter().any(|call| call == "generate-config test_object any-0"));
}

#[test]
fn provider_without_generated_configuration_leaves_an_empty_block() {
    let provider = searching(plenty).on_generate_config(|_| GenerateConfigResponse {
        config: Value::NULL,
        diagnostics: ProviderDiagnostics::new(),
    });
    let mut project = project("", WRITTEN, provider);
    project.options.found = FoundObjects::Generated;
    let (searched, problems) = project.query();
    assert_eq!(errors(&problems), Vec::<String>::new());
    let written = searched[0].found[0].written.clone().unwrap();
    assert!(written.resource.contains("name     = null"), "{}", written.resource);
}

#[test]
fn invalid_search_arguments_are_reported() {
    for (argument, summary) in [
        ("include_resource = null", "Invalid \"include_resource\" argument"),
        ("limit = null", "Invalid \"limit\" argument"),
        ("limit = 1.5", "Invalid \"limit\" argument"),
        ("limit = -1", "Invalid limit argument"),
    ] {
        let queries = format!("list \"test_object\" \"a\" {{\n  provider = test\n  {argument}\n}}\n");
        let (_, problems) = project("", &queries, searching(plenty)).query();
        assert_eq!(errors(&problems), [summary], "{argument}");
    }
}

#[test]
fn unreadable_search_result_is_still_listed() {
    let provider = searching(|request| {
        let unread = ProviderDiagnostic::warning("Locked", "There is no key.");
        (request.found)(Listed { object: None, diagnostics: unread.into(), ..found("locked", request.detail) });
        (request.found)(found("open", request.detail));
        ProviderDiagnostics::new()
    });
    let queries = "list \"test_object\" \"a\" {\n  provider = test\n  include_resource = true\n}\n";
    let mut project = project("", queries, provider);
    project.options.found = FoundObjects::Generated;
    let (searched, problems) = project.query();
    assert_eq!(errors(&problems), Vec::<String>::new());
    let found = &searched[0].found;
    assert_eq!(found.len(), 2);
    assert!(found[0].object.is_none() && found[1].object.is_some());
    let written = found[0].written.clone().unwrap();
    assert!(written.resource.contains("name     = null"), "{}", written.resource);
    assert!(written.import.contains("name = \"locked\""), "{}", written.import);
    assert!(found[1].written.is_some());
}

#[test]
fn provider_with_invalid_search_results_is_named() {
    type Change = fn(Listed) -> Listed;
    let nameless: Change = |listed| Listed { identity: None, ..listed };
    let other: Change = |listed| Listed { identity: Some(Value::object([("nr", Value::string("1"))])), ..listed };
    let open: Change =
        |listed| Listed { identity: Some(Value::object([("name", Value::unknown(Type::String))])), ..listed };
    let bare: Change = |listed| Listed { object: None, ..listed };
    for (change, summary) in [
        (nameless, "Provider produced invalid identity"),
        (other, "Provider produced an identity that doesn't match the schema"),
        (open, "Provider produced invalid identity"),
        (bare, "Provider produced null object"),
    ] {
        let queries = "list \"test_object\" \"a\" {\n  provider = test\n  include_resource = true\n}\n";
        let provider = searching(move |request| {
            (request.found)(change(found("x", request.detail)));
            ProviderDiagnostics::new()
        });
        let (searched, problems) = project("", queries, provider).query();
        assert!(searched.is_empty());
        assert!(errors(&problems).iter().any(|found| found == summary), "{problems:#?}");
    }
}
