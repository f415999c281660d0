//! `destroy = false` in a lifecycle block: the object is forgotten where it would be destroyed, as in OpenTofu 1.12.

use groma_engine::Mode;
use groma_provider::Attribute;
use groma_scripted::{ResourceScript, Scripted};
use groma_value::Type;

use crate::support::{Project, object_with};

fn project(main: &str) -> Project {
    let object = ResourceScript::new(object_with("secret", Attribute::optional(Type::String).sensitive()));
    Project::with_test(main, Scripted::new("test").resource("test_object", object.replace_on("name")))
}

fn kept(arguments: &str) -> String {
    format!("resource \"test_object\" \"a\" {{\n {arguments}\n lifecycle {{\n  destroy = false\n }}\n}}")
}

fn outside(project: &Project) -> usize {
    project.provider().world().ids("test_object").len()
}

#[test]
fn what_is_replaced_stays() {
    for first in ["", "create_before_destroy = true\n"] {
        let block = |name: &str| {
            kept(&format!("name = \"{name}\"")).replace("destroy = false", &format!("{first}  destroy = false"))
        };
        let mut project = project(&block("a"));
        project.apply();
        project.rewrite(&block("b"));
        let planned = project.plan().saved();
        assert_eq!(planned.actions(), ["test_object.a: forget then create (replace_because_cannot_update)"]);
        assert!(!project.apply_plan(planned).has_errors());
        // Both objects exist, but only the new one is in the state.
        assert_eq!((outside(&project), project.recorded().len()), (2, 1));
    }
}

#[test]
fn orphans_with_destroy_false_are_kept_also_in_a_full_destroy() {
    let mut project = project(&kept("name = \"a\"\n count = 2"));
    project.apply();
    project.rewrite(&kept("name = \"a\"\n count = 1"));
    let planned = project.plan().saved();
    assert_eq!(planned.actions(), ["test_object.a[1]: forget (forgot_because_lifecycle_destroy_in_config)"]);
    assert!(!project.apply_plan(planned).has_errors());
    project.options.mode = Mode::Destroy;
    assert_eq!(project.plan().actions(), ["test_object.a[0]: forget (forgot_because_lifecycle_destroy_in_config)"]);
    project.apply();
    // The real objects outlive the destroy, and the state forgets them.
    assert_eq!((outside(&project), project.recorded().len()), (2, 0));
}

#[test]
fn state_remembers_it_without_the_block() {
    let mut project = project(&kept("name = \"a\""));
    project.apply();
    project.rewrite("");
    let planned = project.plan();
    assert_eq!(planned.actions(), ["test_object.a: forget (forgot_because_lifecycle_destroy_in_state)"]);
    project.rewrite("removed {\n from = test_object.a\n lifecycle {\n  destroy = true\n }\n}");
    assert_eq!(
        project.plan().actions(),
        ["test_object.a: delete (delete_because_no_resource_config)"],
        "the current setting overrides the recorded one"
    );
}

#[test]
fn current_destroy_setting_is_recorded_without_a_change() {
    let mut project = project("resource \"test_object\" \"a\" {\n name = \"a\"\n}");
    project.apply();
    project.rewrite(&kept("name = \"a\""));
    assert!(project.apply().is_empty());
    // The stored flag decides, because there is no block any more.
    project.rewrite("");
    assert_eq!(project.plan().actions(), ["test_object.a: forget (forgot_because_lifecycle_destroy_in_state)"]);
    project.rewrite(&kept("name = \"a\"").replace("false", "true"));
    assert!(project.apply().is_empty());
    project.rewrite("");
    assert_eq!(project.plan().actions(), ["test_object.a: delete (delete_because_no_resource_config)"]);
    assert!(project.apply().contains(&"test_object.a: delete (delete_because_no_resource_config)".to_owned()));
    assert_eq!(outside(&project), 0);
}

#[test]
fn prevent_destroy_considers_only_destroyed_objects() {
    let block = |name: &str| {
        kept(&format!("name = \"{name}\"")).replace("destroy = false", "destroy = false\n  prevent_destroy = true")
    };
    let mut project = project(&block("a"));
    project.apply();
    project.rewrite(&block("b"));
    let planned = project.plan();
    assert_eq!(
        (planned.actions(), planned.errors()),
        (vec!["test_object.a: forget then create (replace_because_cannot_update)".to_owned()], Vec::new())
    );
    // Without `destroy = false` the replacement destroys the object, so the protection applies.
    project.rewrite(&block("b").replace("destroy = false", ""));
    assert_eq!(project.plan().errors(), ["Instance cannot be destroyed"]);
}

#[test]
fn an_expression_decides_too() {
    let block = |name: &str| {
        format!(
            "variable \"keep\" {{ default = true }}\n{}",
            kept(&format!("name = \"{name}\"")).replace("false", "!var.keep")
        )
    };
    let mut project = project(&block("a"));
    project.apply();
    project.rewrite(&block("b"));
    assert_eq!(project.plan().actions(), ["test_object.a: forget then create (replace_because_cannot_update)"]);
    // The flag was stored when the expression was evaluated.
    project.rewrite("");
    assert_eq!(project.plan().actions(), ["test_object.a: forget (forgot_because_lifecycle_destroy_in_state)"]);
}
