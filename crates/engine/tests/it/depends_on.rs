//! What an entry of `depends_on` waits for: values and single outputs of modules, and all that these stand on.

use groma_provider::Attribute;
use groma_scripted::{DataScript, ResourceScript, Scripted};
use groma_value::Type;

use crate::support::{Project, found, object_with};

fn project(main: &str) -> Project {
    let script = ResourceScript::new(object_with("list", Attribute::optional(Type::list(Type::String))));
    let provider = Scripted::new("test").resource("test_object", script).data("test_found", DataScript::new(found()));
    Project::with_test(main, provider)
}

const TEST: &str = "terraform {\n required_providers { test = { source = \"test/test\" } }\n}\n";

#[test]
fn pl_07_data_waits_for_all_that_values_in_its_depends_on_stand_on() {
    let text = |size: u32| {
        format!(
            r#"
            resource "test_object" "a" {{
              name = "a"
              size = {size}
            }}
            locals {{
              near = test_object.a.id
              far  = local.near
            }}
            module "passing" {{
              source = "./passing"
              value  = local.far
            }}
            module "reading" {{
              source = "./reading"
              value  = test_object.a.id
            }}
            module "around" {{
              source     = "./reading"
              value      = "fixed"
              depends_on = [local.far]
            }}
            data "test_found" "local" {{
              name       = "fixed"
              depends_on = [local.far]
            }}
            data "test_found" "module" {{
              name       = "fixed"
              depends_on = [module.passing]
            }}
            data "test_found" "output" {{
              name       = "fixed"
              depends_on = [module.passing.value]
            }}
            data "test_found" "fixed" {{
              name       = "fixed"
              depends_on = [module.passing.fixed]
            }}
            "#
        )
    };
    let passing = "variable \"value\" {}\noutput \"value\" { value = var.value }\noutput \"fixed\" { value = 1 }\n";
    let reading = format!(
        "{TEST}variable \"value\" {{}}\ndata \"test_found\" \"in\" {{\n name = \"fixed\"\n depends_on = [var.value]\n}}\n"
    );
    let mut project = project(&text(1)).with("passing/main.tf", passing).with("reading/main.tf", &reading);
    project.apply();
    assert!(project.plan().actions().is_empty(), "with nothing pending all is read while planning");
    project.rewrite(&text(2));
    assert_eq!(
        project.plan().actions(),
        [
            "data.test_found.local: read (read_because_dependency_pending)",
            "data.test_found.module: read (read_because_dependency_pending)",
            "data.test_found.output: read (read_because_dependency_pending)",
            "test_object.a: update",
            "module.around.data.test_found.in: read (read_because_dependency_pending)",
            "module.reading.data.test_found.in: read (read_because_dependency_pending)",
        ]
    );
}

#[test]
fn pl_07_what_other_instances_of_a_module_do_makes_no_data_wait() {
    let text = |size: u32| {
        format!(
            r#"
            module "each" {{
              source   = "./each"
              for_each = {{ changing = {size}, still = 1 }}
              size     = each.value
            }}
            data "test_found" "all" {{
              name       = "fixed"
              depends_on = [module.each]
            }}
            "#
        )
    };
    let each = format!(
        r#"{TEST}
        variable "size" {{}}
        resource "test_object" "a" {{
          name = "a"
          size = var.size
        }}
        locals {{ id = test_object.a.id }}
        data "test_found" "in" {{
          name       = "fixed"
          depends_on = [local.id]
        }}
        "#
    );
    let mut project = project(&text(1)).with("each/main.tf", &each);
    project.apply();
    project.rewrite(&text(2));
    assert_eq!(
        project.plan().actions(),
        [
            "data.test_found.all: read (read_because_dependency_pending)",
            "module.each[\"changing\"].data.test_found.in: read (read_because_dependency_pending)",
            "module.each[\"changing\"].test_object.a: update",
        ]
    );
}

#[test]
fn an_output_in_depends_on_stands_for_itself_not_for_its_module() {
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
