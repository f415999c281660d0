//! What waits for itself is refused before anything is done; what only seems to is done in order.

use groma_scripted::{DataScript, ResourceScript, Scripted};
use groma_value::{Type, Value};

use crate::support::{Project, errors, found, object_with};

fn provisioned(mentions: &str) -> Project {
    let main = format!(
        r#"
        variable "size" {{
          default = 3
        }}

        resource "terraform_data" "one" {{
          count = var.size

          provisioner "local-exec" {{
            command = "test -n '{mentions}'"
          }}
        }}
        "#
    );
    Project::new(&main)
}

#[test]
fn provisioners_that_refer_to_all_own_instances_are_refused_before_creation() {
    for mentions in [
        "${terraform_data.one[*].id[0]}",
        "${length(terraform_data.one)}",
        "${terraform_data.one[(count.index + 1) % 3].id}",
        "${terraform_data.one[0].id}${terraform_data.one.1.id}${terraform_data.one.2.id}",
    ] {
        let planned = provisioned(mentions).plan();
        let expected = "Cycle: terraform_data.one[0], terraform_data.one[1], terraform_data.one[2]";
        assert_eq!(planned.errors(), [expected], "{mentions}");
    }
}

#[test]
fn provisioners_wait_for_the_instance_they_refer_to() {
    let mut project = provisioned("${terraform_data.one[2].id}");
    assert_eq!(project.apply().len(), 3);
    assert_eq!(project.recorded(), ["terraform_data.one[0]", "terraform_data.one[1]", "terraform_data.one[2]"]);
}

#[test]
fn new_instance_may_depend_on_existing_ones() {
    let mut project = Project::new("resource \"terraform_data\" \"one\" {\n count = 2\n}");
    project.apply();
    project.rewrite(
        r#"
        resource "terraform_data" "one" {
          count = 3
          provisioner "local-exec" {
            command = "test ${length(terraform_data.one)} = 3"
          }
        }
        "#,
    );
    assert_eq!(project.apply(), ["terraform_data.one[2]: create"]);
    assert_eq!(project.recorded().len(), 3);
}

#[test]
fn dependents_of_a_module_do_not_wait_for_its_checks() {
    let data = DataScript::new(found()).returning(|_| vec![("found", Value::string("yes"))]);
    let object = object_with("secret", groma_provider::Attribute::optional(Type::String));
    let script = Scripted::new("test").resource("test_object", ResourceScript::new(object)).data("test_found", data);
    let main = r#"
        module "base" {
          source = "./base"
        }

        resource "test_object" "other" {
          name       = "other"
          depends_on = [module.base]
        }
        "#;
    let base = r#"
        resource "test_object" "own" {
          name = "own"
        }

        check "healthy" {
          data "test_found" "it" {
            name = "it"
          }
          assert {
            condition     = data.test_found.it.found == "yes"
            error_message = "Not healthy."
          }
        }
        "#;
    let mut project = Project::with_test(main, script).with("base/main.tf", base);
    let planned = project.plan();
    assert_eq!(planned.errors(), [""; 0]);
    assert_eq!(errors(&project.apply_plan(planned)), [""; 0]);
    let made: Vec<_> = project.recorded().into_iter().filter(|one| !one.contains("data.")).collect();
    assert_eq!(made, ["test_object.other", "module.base.test_object.own"]);
}
