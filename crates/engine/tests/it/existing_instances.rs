//! References to resources whose instances a run leaves unchanged: they mean the existing instances, not the declared ones.

use groma_engine::Mode;
use groma_provider::Attribute;
use groma_scripted::{DataScript, ResourceScript, Scripted};
use groma_value::{Kind, Type, Value};

use crate::support::{Project, errors, found, object_with};

/// A project in which what `before` says has been made, and that now says `after`.
fn changed(before: &str, after: &str) -> Project {
    let main = |instances: &str| {
        format!(
            r#"
            resource "terraform_data" "n" {{
              count = length([{instances}])
              input = [{instances}][count.index]
            }}
            resource "terraform_data" "k" {{
              for_each = toset([{instances}])
              input = each.key
            }}
            output "n" {{ value = join(",", terraform_data.n[*].output) }}
            output "k" {{ value = join(",", [for one in terraform_data.k : one.output]) }}
            output "c" {{ value = try(terraform_data.k["c"].output, "none") }}
            "#
        )
    };
    let mut project = Project::new(&main(before));
    project.apply();
    project.rewrite(&main(after));
    project
}

/// The outputs that a run has, as `n; k; c`: as planned, and once applied.
fn outputs(project: &mut Project) -> (String, String) {
    let planned = project.plan();
    assert_eq!(errors(&planned.diagnostics), Vec::<String>::new());
    let said = &planned.plan.as_ref().unwrap().outputs;
    let shown = |name: &str| said.iter().find(|output| &*output.name == name).map(|output| text(&output.after));
    let shown = ["n", "k", "c"].map(|name| shown(name).unwrap_or_default()).join("; ");
    assert_eq!(errors(&project.apply_plan(planned)), Vec::<String>::new());
    let kept = |name: &str| project.state.outputs.get(name).map(|output| text(&output.value)).unwrap_or_default();
    (shown, ["n", "k", "c"].map(kept).join("; "))
}

fn text(value: &Value) -> String {
    match value.kind() {
        Kind::String(text) => text.to_string(),
        _ => "?".to_owned(),
    }
}

#[test]
fn inspection_shows_orphaned_instances() {
    let mut project = changed(r#""a", "b", "c""#, r#""a""#);
    project.options.mode = Mode::RefreshOnly;
    let all = "a,b,c; a,b,c; c".to_owned();
    assert_eq!(outputs(&mut project), (all.clone(), all));
}

#[test]
fn inspection_does_not_show_planned_instances() {
    let mut project = changed(r#""a", "b""#, r#""a", "b", "c""#);
    project.options.mode = Mode::RefreshOnly;
    let there = "a,b; a,b; none".to_owned();
    assert_eq!(outputs(&mut project), (there.clone(), there));
}

#[test]
fn untargeted_orphans_exist_until_they_are_targeted() {
    let mut project = changed(r#""a", "b", "c""#, r#""a""#);
    project.options.targets =
        ["terraform_data.n[0]", "terraform_data.k[\"a\"]"].map(|text| text.parse().unwrap()).to_vec();
    let all = "a,b,c; a,b,c; c".to_owned();
    assert_eq!(outputs(&mut project), (all.clone(), all));
    project.options.targets =
        ["terraform_data.n[2]", "terraform_data.k[\"c\"]"].map(|text| text.parse().unwrap()).to_vec();
    let rest = "a,b; a,b; none".to_owned();
    assert_eq!(outputs(&mut project), (rest.clone(), rest));
}

#[test]
fn untargeted_new_instances_do_not_exist_yet() {
    let mut project = changed(r#""a", "b""#, r#""a", "b", "c", "d""#);
    project.options.targets =
        ["terraform_data.n[2]", "terraform_data.k[\"d\"]"].map(|text| text.parse().unwrap()).to_vec();
    let (_, kept) = outputs(&mut project);
    assert_eq!(kept, "a,b,c; a,b,d; none", "an instance that is not there leaves an output as it is");
}

/// They are looked at before whatever names them, and once.
#[test]
fn orphaned_instances_are_refreshed() {
    let main = |names: &str| {
        format!(
            "resource \"test_object\" \"k\" {{\n  for_each = toset([{names}])\n  name = each.key\n}}\noutput \"k\" {{\n  value = join(\",\", [for one in \
             test_object.k : one.name])\n}}\n"
        )
    };
    let scripted = Scripted::new("test")
        .resource("test_object", ResourceScript::new(object_with("note", Attribute::optional(Type::String))));
    let mut project = Project::with_test(&main(r#""a", "b", "c""#), scripted);
    project.apply();
    let world = project.provider().world().clone();
    let ids = world.ids("test_object");
    let is_of = |id: &&String, name: &str| {
        let named = world.get("test_object", id).and_then(|object| object.attribute("name"));
        named.is_some_and(|known| text(&known) == name)
    };
    let id_of = |name: &str| ids.iter().find(|id| is_of(id, name)).unwrap();
    world.change("test_object", id_of("b"), "name", Value::string("changed"));
    world.remove("test_object", id_of("c"));
    project.rewrite(&main(r#""a""#));
    project.options.mode = Mode::RefreshOnly;
    project.provider().forget_calls();
    let planned = project.plan();
    assert_eq!(errors(&planned.diagnostics), Vec::<String>::new());
    let plan = planned.plan.as_ref().unwrap();
    assert_eq!(text(&plan.outputs[0].after), "a,changed");
    assert_eq!(plan.drift.len(), 2);
    let reads = project.provider().call_texts().iter().filter(|call| call.starts_with("read")).count();
    assert_eq!(reads, 3);
    assert_eq!(errors(&project.apply_plan(planned)), Vec::<String>::new());
    assert_eq!(text(&project.state.outputs["k"].value), "a,changed");
}

#[test]
fn data_that_nobody_named_is_as_the_state_has_it() {
    let main = |count: u32| {
        format!(
            "data \"test_found\" \"d\" {{\n  count = {count}\n  name = \"a\"\n}}\noutput \"d\" {{\n  value = join(\",\", data.test_found.d[*].found)\n}}\n"
        )
    };
    let data = DataScript::new(found()).returning(|_| vec![("found", Value::string("yes"))]);
    let mut project = Project::with_test(&main(3), Scripted::new("test").data("test_found", data));
    project.apply();
    for count in [2, 4] {
        project.rewrite(&main(count));
        project.options.targets = vec!["data.test_found.d[1]".parse().unwrap()];
        let planned = project.plan();
        assert_eq!(text(&planned.plan.as_ref().unwrap().outputs[0].after), "yes,yes,yes", "with {count}");
        assert_eq!(errors(&project.apply_plan(planned)), Vec::<String>::new());
        assert_eq!(text(&project.state.outputs["d"].value), "yes,yes,yes", "with {count}");
    }
}
