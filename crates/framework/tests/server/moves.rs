//! Objects of other types, and plans that a struct cannot hold (FW-12, FW-19).

use groma_framework::model::Field as _;
use groma_framework::{
    Bundle, Call, Maybe, Model, ModelResource, ModifyPlanRequest, ModifyPlanResponse, MoveRequest, ProviderDiagnostic,
};
use groma_provider::{MoveResponse, PlanRequest, Provider, proposed_new_state};
use groma_value::{Path, Type, Value};

use crate::support::{get, s};

#[derive(Model)]
struct Tree {
    name: String,
    #[attribute(computed)]
    label: Maybe<String>,
    height: Option<u32>,
}

/// Trees that used to be bushes elsewhere.
struct Forest;

impl ModelResource for Forest {
    type Model = Tree;

    async fn create(&self, plan: Tree, _: &mut Call) -> Result<Tree, ProviderDiagnostic> {
        Ok(plan)
    }

    async fn read(&self, state: Tree, _: &mut Call) -> Result<Option<Tree>, ProviderDiagnostic> {
        Ok(Some(state))
    }

    async fn delete(&self, _: Tree, _: &mut Call) -> Result<(), ProviderDiagnostic> {
        Ok(())
    }

    async fn modify_plan(&self, request: ModifyPlanRequest) -> Result<ModifyPlanResponse, ProviderDiagnostic> {
        let name = request.planned::<String>("name")?;
        let heights = (request.current::<u32>("height")?, request.planned::<u32>("height")?);
        // A value of another type is an error and not null.
        let wrong = request.planned::<u32>("name").is_err();
        let mut response = request.unchanged();
        match name {
            Maybe::Known(name) if name == "yew" => {
                return Err(ProviderDiagnostic::error("Poisonous", "Nobody may plant it."));
            }
            Maybe::Known(name) => {
                assert!(wrong, "a name is no number");
                response.set("label", &format!("the tree {name}"));
            }
            Maybe::Unknown => response.warn("Nameless", "The label is known after apply."),
            Maybe::Null => response.set("label", &"gone".to_owned()),
        }
        if let (Maybe::Known(now), Maybe::Known(planned)) = heights
            && planned < now
        {
            response.replace_for("height");
        }
        Ok(response)
    }

    fn move_from(&self, request: MoveRequest, call: &mut Call) -> Option<Result<Tree, ProviderDiagnostic>> {
        #[derive(Model)]
        struct Bush {
            title: String,
        }
        if &*request.source_type != "other_bush" {
            return None;
        }
        call.private.set("version", request.version.to_string());
        call.private.set("age", request.private.get("age").unwrap_or("unknown"));
        call.identity = Some(Value::object([("from", s(&request.source_provider))]));
        call.warn("Trimmed", "It was a bush.");
        let bush = request.stored::<Bush>();
        Some(bush.map(|bush| Tree { name: bush.title, label: Maybe::Null, height: Some(1) }))
    }
}

fn moved(source_type: &str, stored: &str) -> MoveResponse {
    let server = Bundle::new().resource("test_tree", Forest).build().unwrap();
    let mut private = groma_framework::PrivateData::new();
    private.set("age", "7");
    let request = groma_provider::MoveRequest {
        source_provider_address: "registry.terraform.io/example/other".to_owned(),
        source_type_name: source_type.into(),
        source_schema_version: 3,
        source_state: stored.into(),
        source_private: private.encode(),
        source_identity: None,
        target_type_name: "test_tree".into(),
    };
    server.move_resource(request).wait()
}

fn summaries(response: &MoveResponse) -> Vec<&str> {
    response.diagnostics.iter().map(|problem| &*problem.summary).collect()
}

#[test]
fn fw_19_moved_object_is_read_as_a_struct_and_keeps_private_data_and_identity() {
    let response = moved("other_bush", r#"{"title": "Holly", "thorns": true}"#);
    assert_eq!(get(&response.target_state, "name"), s("Holly"));
    assert_eq!(summaries(&response), ["Trimmed"]);
    assert_eq!(response.target_identity, Some(Value::object([("from", s("registry.terraform.io/example/other"))])));
    let private = groma_framework::PrivateData::decode(&response.target_private);
    assert_eq!((private.get("version"), private.get("age")), (Some("3"), Some("7")));

    // `move_from` returned `None` for this type.
    assert_eq!(summaries(&moved("other_stone", "{}")), ["Unsupported move"]);
    let wrong = moved("other_bush", r#"{"title": []}"#);
    assert!(wrong.target_state.is_null());
    assert_eq!(summaries(&wrong), ["Trimmed", "Unable to Read Previously Saved State"]);
}

#[test]
fn fw_12_partly_unknown_plan_is_adjusted_by_attribute() {
    let server = Bundle::new().resource("test_tree", Forest).build().unwrap();
    let block = server.resource_schema("test_tree").unwrap().unwrap().block.clone();
    let plan = |prior_state: Value, config: Value| {
        let proposed = match config.is_null() {
            true => config.clone(),
            false => proposed_new_state(&block, &prior_state, &config),
        };
        let request = PlanRequest {
            type_name: "test_tree".into(),
            prior_state,
            proposed_new_state: proposed,
            config,
            ..PlanRequest::default()
        };
        server.plan_resource(request).wait()
    };
    let tree = |name: Value, height: u32| {
        Value::object([("name", name), ("label", Value::null(Type::String)), ("height", height.to_value())])
    };
    let known = plan(block.null_value(), tree(s("oak"), 2));
    assert_eq!(get(&known.planned_state, "label"), s("the tree oak"));
    let unknown = plan(block.null_value(), tree(Value::unknown(Type::String), 2));
    assert!(!get(&unknown.planned_state, "label").is_known());
    assert_eq!(unknown.diagnostics.iter().map(|problem| &*problem.summary).collect::<Vec<_>>(), ["Nameless"]);
    let refused = plan(block.null_value(), tree(s("yew"), 2));
    assert_eq!(refused.diagnostics.iter().map(|problem| &*problem.summary).collect::<Vec<_>>(), ["Poisonous"]);

    // Growing is an update; a shrunk tree must be planted again.
    let there = Tree { name: "oak".to_owned(), label: Maybe::Known("the tree oak".to_owned()), height: Some(5) };
    let shrunk = plan(there.to_value(), tree(s("oak"), 4));
    assert_eq!(shrunk.requires_replace, [Path::root().attribute("height")]);
    assert!(plan(there.to_value(), tree(s("oak"), 6)).requires_replace.is_empty());
    let gone = plan(there.to_value(), block.null_value());
    assert!(gone.planned_state.is_null() && gone.diagnostics.is_empty(), "nothing is set in what goes");
}
