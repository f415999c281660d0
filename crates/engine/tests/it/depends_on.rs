//! What things wait for: what they refer to, and the entries of `depends_on`, which may be values and single outputs of modules.

use groma_engine::Mode;
use groma_provider::Attribute;
use groma_scripted::{DataScript, Operation, ResourceScript, Scripted};
use groma_value::Type;

use crate::support::{Project, found, object_with};

pub const TEST: &str = "terraform {\n required_providers { test = { source = \"test/test\" } }\n}\n";

fn script() -> ResourceScript {
    ResourceScript::new(object_with("list", Attribute::optional(Type::list(Type::String))))
}

pub fn project(main: &str) -> Project {
    project_of(main, script())
}

fn project_of(main: &str, script: ResourceScript) -> Project {
    let provider = Scripted::new("test").resource("test_object", script).data("test_found", DataScript::new(found()));
    Project::with_test(main, provider)
}

#[test]
fn output_in_depends_on_means_the_output_not_its_module() {
    let first = format!(
        r#"{TEST}
        variable "from_second" {{}}
        resource "test_object" "early" {{ name = "early" }}
        resource "test_object" "late" {{ name = var.from_second }}
        output "early" {{ value = test_object.early.id }}
        "#
    );
    let second = format!(
        "{TEST}resource \"test_object\" \"in\" {{ name = \"in\" }}\noutput \"id\" {{ value = test_object.in.id }}\n"
    );
    let mut project = project(
        r#"
        module "first" {
          source      = "./first"
          from_second = module.second.id
        }
        module "second" {
          source     = "./second"
          depends_on = [module.first.early]
        }
        "#,
    )
    .with("first/main.tf", &first)
    .with("second/main.tf", &second);
    // If depending on one output meant the whole module, the two modules would wait for each other.
    assert_eq!(
        project.apply(),
        [
            "module.first.test_object.early: create",
            "module.first.test_object.late: create",
            "module.second.test_object.in: create"
        ]
    );
    assert!(project.plan().actions().is_empty());
}

#[test]
fn pl_28_references_and_depends_on_order_everything_across_modules() {
    let child = "terraform {\n required_providers { test = { source = \"test/test\" } }\n}\nvariable \"name\" {}\n\
                 resource \"test_object\" \"in\" { name = var.name }\n\
                 output \"id\" { value = test_object.in.id }\noutput \"fixed\" { value = \"fixed\" }\n";
    let mut project = project_of(
        r#"
        resource "test_object" "last" {
          name       = "last"
          depends_on = [module.second]
        }
        module "second" {
          source     = "./child"
          name       = "second"
          depends_on = [module.first]
        }
        module "first" {
          source = "./child"
          name   = "first ${test_object.start.id}"
        }
        resource "test_object" "start" { name = "start" }
        "#,
        // The delay makes a missing edge visible: steps without an order would overlap.
        script().delay(Operation::Apply, std::time::Duration::from_millis(20)),
    )
    .with("child/main.tf", child);
    let applied = |project: &Project| -> Vec<String> {
        let calls = project.provider().calls().into_iter().filter(|call| call.operation == Operation::Apply);
        calls.map(|call| call.object).collect()
    };
    project.apply();
    assert_eq!(applied(&project), ["start", "first test_object-1", "second", "last"]);
    project.provider().forget_calls();
    project.options.mode = Mode::Destroy;
    project.apply();
    assert_eq!(applied(&project), ["last", "second", "first test_object-1", "start"], "deletions go the other way");
}
