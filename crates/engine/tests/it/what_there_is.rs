//! What the name of a resource means where a run leaves instances as they are: what there is, not what the block says.

use groma_engine::Mode;
use groma_value::{Kind, Value};

use crate::support::{Project, errors};

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
    let told = |name: &str| said.iter().find(|output| &*output.name == name).map(|output| text(&output.after));
    let told = ["n", "k", "c"].map(|name| told(name).unwrap_or_default()).join("; ");
    assert_eq!(errors(&project.apply_plan(planned)), Vec::<String>::new());
    let kept = |name: &str| project.state.outputs.get(name).map(|output| text(&output.value)).unwrap_or_default();
    (told, ["n", "k", "c"].map(kept).join("; "))
}

fn text(value: &Value) -> String {
    match value.kind() {
        Kind::String(text) => text.to_string(),
        _ => "?".to_owned(),
    }
}

#[test]
fn who_only_looks_sees_what_the_block_has_lost() {
    let mut project = changed(r#""a", "b", "c""#, r#""a""#);
    project.options.mode = Mode::RefreshOnly;
    let all = "a,b,c; a,b,c; c".to_owned();
    assert_eq!(outputs(&mut project), (all.clone(), all));
}

#[test]
fn who_only_looks_does_not_see_what_is_still_to_be_made() {
    let mut project = changed(r#""a", "b""#, r#""a", "b", "c""#);
    project.options.mode = Mode::RefreshOnly;
    let there = "a,b; a,b; none".to_owned();
    assert_eq!(outputs(&mut project), (there.clone(), there));
}

#[test]
fn beside_a_target_there_is_what_the_block_has_lost_until_it_is_named() {
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
fn beside_a_target_there_is_not_yet_what_nobody_named() {
    let mut project = changed(r#""a", "b""#, r#""a", "b", "c", "d""#);
    project.options.targets =
        ["terraform_data.n[2]", "terraform_data.k[\"d\"]"].map(|text| text.parse().unwrap()).to_vec();
    let (_, kept) = outputs(&mut project);
    assert_eq!(kept, "a,b,c; a,b,d; none", "an instance that is not there leaves an output as it is");
}
