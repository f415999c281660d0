//! Outputs, variables and parts of resources that should no longer be used: a warning where they are.

use std::collections::BTreeSet;

use groma_provider::{Attribute, Block, Deprecation, NestedBlock, Nesting, Schema};
use groma_scripted::{ResourceScript, Scripted};
use groma_value::Type;

use crate::support::{Project, errors, input};

const MODULE: &str =
    "output \"old\" {\n  value      = \"v\"\n  deprecated = \"use new\"\n}\noutput \"new\" {\n  value = \"n\"\n}\n";

fn project(main: &str) -> Project {
    Project::new(&format!("module \"m\" {{\n  source = \"./m\"\n}}\n{main}")).with("m/main.tf", MODULE)
}

#[test]
fn use_of_a_deprecated_output_is_reported_and_the_mark_removed() {
    let mut project = project(
        "locals {\n  whole = module.m.old\n  part = { x = module.m.old }\n  taken = local.part.x\n  again = local.whole\n}\nresource \
         \"terraform_data\" \"r\" {\n  count = 2\n  input = [\n    module.m.new,\n    local.part,\n  ]\n}\noutput \"o\" {\n  value = \
         local.part\n}\n",
    );
    let planned = project.plan();
    let uses = [
        "main.tf:5 module.m.old",
        "main.tf:7 module.m.old",
        "main.tf:14 terraform_data.r[0] module.m.old",
        "main.tf:14 terraform_data.r[1] module.m.old",
        "main.tf:18 module.m.old",
    ];
    let mut reported = planned.uses();
    reported.sort_by_key(|line| uses.iter().position(|other| other == line));
    assert_eq!(reported, uses);
    // Applying says nothing that planning has said, and nothing is left of it in the state.
    assert_eq!(project.apply_plan(planned).len(), 0);
    assert_eq!(project.apply(), Vec::<String>::new());
}

#[test]
fn deprecated_output_may_refer_to_a_deprecated_output() {
    let mut project = project("module \"n\" {\n  source = \"./n\"\n}\noutput \"o\" {\n  value = module.n.leak\n}\noutput \"p\" {\n  value = module.n.old\n}\n").with(
        "n/main.tf",
        "module \"m\" {\n  source = \"../m\"\n}\noutput \"old\" {\n  value = { a = module.m.old }\n  deprecated = \"gone soon\"\n}\noutput \
         \"leak\" {\n  value = [module.m.old]\n}\n",
    );
    let mut uses = project.plan().uses();
    uses.sort();
    assert_eq!(uses, ["main.tf:11 module.n.old", "n/main.tf:9 module.n.module.m.old"]);
}

#[test]
fn deprecated_argument_is_reported_at_the_call_and_in_the_module() {
    let main = "module \"n\" {\n  source = \"./n\"\n  in = module.m.old\n}\nmodule \"p\" {\n  source = \"./n\"\n  in = [module.m.old]\n}\n";
    let mut project = project(main).with(
        "n/main.tf",
        "variable \"in\" {\n  validation {\n    condition = var.in != \"bad\"\n    error_message = \"no ${jsonencode(var.in)}\"\n  }\n}\nresource \
         \"terraform_data\" \"r\" {\n  input = var.in\n}\n",
    );
    let planned = project.plan();
    assert_eq!(errors(&planned.diagnostics), Vec::<String>::new());
    let mut uses = planned.uses();
    uses.sort();
    let expected = [
        "main.tf:6 module.m.old",
        "n/main.tf:8 module.n.terraform_data.r module.m.old",
        "n/main.tf:8 module.p.terraform_data.r module.m.old",
    ];
    assert_eq!(uses, expected);
}

#[test]
fn a_call_can_ask_for_silence_about_everything_inside() {
    let inner = "variable \"in\" {}\nmodule \"q\" {\n  source = \"../q\"\n}\nmodule \"m\" {\n  source = \"../m\"\n}\noutput \"x\" {\n  value = \
                 [module.m.old, var.in]\n}\noutput \"old\" {\n  value = 1\n  deprecated = \"no\"\n}\n";
    let main = "module \"n\" {\n  source = \"./n\"\n  in = module.m.old\n  ignore_nested_deprecations = true\n}\noutput \"x\" {\n  value = \
                module.n.x\n}\noutput \"y\" {\n  value = module.n.old\n}\n";
    let mut project = project(main)
        .with("n/main.tf", inner)
        .with("q/main.tf", "module \"m\" {\n  source = \"../m\"\n}\noutput \"x\" {\n  value = module.m.old\n}\n");
    assert_eq!(project.plan().uses(), ["main.tf:13 module.n.old"]);
}

#[test]
fn conditions_counts_and_provisioners_use_values_too() {
    let main = "resource \"terraform_data\" \"r\" {\n  for_each = toset([module.m.old])\n  lifecycle {\n    precondition {\n      condition = \
                module.m.old == \"v\"\n      error_message = \"no ${module.m.old}\"\n    }\n  }\n  provisioner \"local-exec\" {\n    command = \
                \"echo ${module.m.old}\"\n  }\n}\n";
    let mut uses = project(main).plan().uses();
    uses.sort();
    assert_eq!(
        uses,
        [
            "main.tf:13 terraform_data.r module.m.old",
            "main.tf:5 module.m.old",
            "main.tf:8 module.m.old",
            "main.tf:9 module.m.old"
        ]
    );
}

#[test]
fn value_for_a_deprecated_root_variable_is_reported() {
    let mut project = Project::new("variable \"old\" {\n  default = 1\n  deprecated = \"use new\"\n}\n");
    assert_eq!(project.plan().diagnostics.len(), 0);
    project.options.inputs.insert("old".into(), input("x"));
    let planned = project.plan();
    let reported: Vec<&str> = planned.diagnostics.iter().map(|problem| problem.summary.as_str()).collect();
    assert_eq!(reported, ["Deprecated variable got a value"]);
}

fn objects(message: &str) -> Scripted {
    let old = Attribute::optional_computed(Type::String).deprecated(Deprecation { message: message.to_owned() });
    let part = Block::new([("x", Attribute::optional(Type::String))], Vec::<(&str, NestedBlock)>::new());
    let schema = Schema::new(Block::new(
        [("name", Attribute::required(Type::String)), ("old", old)],
        [("part", NestedBlock::new(Nesting::List, part.deprecated(Deprecation::default())))],
    ));
    Scripted::new("test").resource("test_object", ResourceScript::new(schema))
}

#[test]
fn use_of_a_deprecated_resource_attribute_is_reported() {
    let main = "resource \"test_object\" \"a\" {\n  name = \"a\"\n  old = \"x\"\n  part { x = 1 }\n  lifecycle {\n    postcondition {\n      condition = \
                self.old == \"x\"\n      error_message = \"no\"\n    }\n  }\n}\nresource \"test_object\" \"many\" {\n  count = 2\n  name = \
                test_object.a.name\n  old = test_object.a.old\n}\noutput \"all\" {\n  value = test_object.many[*].name\n}\noutput \"one\" {\n  value = \
                test_object.many[1]\n}\noutput \"part\" {\n  value = test_object.a.part[0].x\n}\n";
    let mut project = Project::with_test(main, objects("use name"));
    let expected = [
        "main.tf:11 test_object.a.old",
        "main.tf:19 test_object.many[0] test_object.a.old",
        "main.tf:19 test_object.many[1] test_object.a.old",
        "main.tf:25 test_object.many[1].old",
        "main.tf:25 test_object.many[1].part",
        "main.tf:28 test_object.a.part",
    ];
    let planned = project.plan();
    assert_eq!(errors(&planned.diagnostics), Vec::<String>::new());
    let mut uses = planned.uses();
    uses.sort();
    assert_eq!(uses, expected);
    let details: BTreeSet<&str> = planned.diagnostics.iter().map(|problem| problem.detail.as_str()).collect();
    let documented = "The block \"part\" is deprecated. See the provider's documentation for a replacement.";
    assert_eq!(details, BTreeSet::from(["use name", documented]));
    assert!(!project.apply_plan(planned).has_errors());
    assert_eq!(project.apply(), Vec::<String>::new());
}

#[test]
fn validation_reports_deprecated_attributes_of_planned_objects() {
    let main = "resource \"test_object\" \"a\" {\n  name = \"a\"\n}\noutput \"old\" {\n  value = test_object.a.old\n}\noutput \"name\" {\n  value = \
                test_object.a.name\n}\n";
    let reported = Project::with_test(main, objects("")).validate();
    let reported: Vec<_> = reported.iter().map(|problem| problem.origin.as_ref().map(ToString::to_string)).collect();
    assert_eq!(reported, [Some("test_object.a.old".to_owned())]);
}
