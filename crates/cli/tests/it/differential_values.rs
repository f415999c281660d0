//! Lifecycles with changing values, repetition and modules: recorded, and compared with Terraform 1.15 if it is
//! available.
//!
//! `INSTA_UPDATE=always` records anew.

use crate::common::scenario::Scenario;

const PLAN: &[&str] = &["plan", "-out=p"];
const APPLY: &[&str] = &["apply", "p"];
const DESTROY: &[&str] = &["destroy", "-auto-approve"];

/// Applies each configuration after the other, with a saved plan.
fn life(name: &'static str, configurations: &[&str]) {
    let (first, rest) = configurations.split_first().unwrap();
    let mut life = Scenario::new(name, first);
    life.run(PLAN);
    life.run(APPLY);
    for configuration in rest {
        life.change(configuration);
        life.run(PLAN);
        life.run(APPLY);
    }
    // A plan after the last apply must find no changes.
    life.run(&["plan", "-detailed-exitcode"]);
    life.run(DESTROY);
    life.end();
}

#[test]
fn nested_values() {
    let with = |value: &str| format!("resource \"terraform_data\" \"it\" {{\n  input = {value}\n}}\n");
    life(
        "nested_values",
        &[
            &with(
                // Values of each kind change in each way: added, removed, changed, and replaced by another kind.
                r#"{ name = "a", tags = tomap({ x = "1", y = "2" }), ports = toset([80, 443]), deep = { list = [{ k = 1, v = "one" }, { k = 2, v = "two" }], none = null } }"#,
            ),
            &with(
                r#"{ name = "a", tags = tomap({ x = "1", y = "3", z = "4" }), ports = toset([443, 8080]), deep = { list = [{ k = 1, v = "uno" }, { k = 2, v = "two" }, { k = 3, v = "three" }], none = true } }"#,
            ),
            &with(r#"{ name = "b", tags = tomap({}), ports = toset([]), deep = { list = [], none = null } }"#),
            &with(r#"["now", "a", "list"]"#),
            &with("null"),
        ],
    );
}

/// A null of some type is no other value in the next run.
#[test]
fn typed_nulls() {
    let with = |value: &str| format!("resource \"terraform_data\" \"it\" {{\n  input = {value}\n}}\n");
    life(
        "typed_nulls",
        &[
            &with("tostring(null)"),
            // The same configuration again: a typed null equals itself.
            &with("tostring(null)"),
            &with("false ? { a = 1 } : null"),
            &with("[tonumber(null)]"),
            &with("true ? null : \"x\""),
        ],
    );
}

#[test]
fn multiline_strings() {
    // A heredoc, a JSON document in a string, and escapes, which are compared in three different ways.
    let with = |body: &str, json: &str| {
        format!(
            "resource \"terraform_data\" \"it\" {{\n  input = {{\n    text = <<-EOT\n{body}\n    EOT\n    json = jsonencode({json})\n    \
             quoted = \"tab\\there \\\"x\\\" $${{y}} %%{{z}}\"\n  }}\n}}\n\noutput \"text\" {{\n  value = terraform_data.it.output.text\n}}\n"
        )
    };
    life(
        "multiline_strings",
        &[
            &with(
                "      first\n      second\n      third",
                r#"{ a = 1, list = ["x", "y"], inner = { deep = true, "odd key" = null } }"#,
            ),
            &with(
                "      first\n      2nd\n        indented\n      third",
                r#"{ a = 2, list = ["x", "z", "y"], inner = { deep = false, "odd key" = "set" } }"#,
            ),
            &with("      one line", r#"["no", "object"]"#),
        ],
    );
}

#[test]
fn secrets_within_values() {
    let with = |secret: &str, extra: &str| {
        format!(
            r#"
variable "secret" {{
  default   = "{secret}"
  sensitive = true
}}

resource "terraform_data" "it" {{
  input = {{
    open   = "seen"
    hidden = var.secret
    list   = ["a", var.secret]
    map    = {{ k = sensitive("s"){extra} }}
    set    = toset([var.secret, "x"])
  }}
}}

output "whole" {{
  value     = terraform_data.it.output
  sensitive = true
}}

output "open" {{
  value = nonsensitive(terraform_data.it.output.open)
}}
"#
        )
    };
    life("secrets_within_values", &[&with("one", ""), &with("two", ""), &with("two", ", more = 1")]);
}

#[test]
fn changing_repetition() {
    let with = |how: &str, input: &str| {
        format!(
            "resource \"terraform_data\" \"it\" {{\n  {how}\n  input = {input}\n}}\n\noutput \"all\" {{\n  value = terraform_data.it[*]\n}}\n"
        )
    };
    let each = |how: &str| format!("resource \"terraform_data\" \"it\" {{\n  {how}\n  input = each.value\n}}\n");
    life(
        "changing_repetition",
        &[
            // From several instances to fewer, to one without a key, and to other keys.
            &with("count = 3", "count.index"),
            &with("count = 1", "count.index"),
            &with("", "\"single\""),
            &with("count = 2", "\"n${count.index}\""),
            &each("for_each = { a = 1, \"b c\" = 2 }"),
            &each("for_each = toset([\"a\", \"d\"])"),
            // No instances at all, while the resource is still declared.
            "resource \"terraform_data\" \"it\" {\n  for_each = toset([])\n}\n",
        ],
    );
}

#[test]
fn changes_of_outputs_only() {
    life(
        "changes_of_outputs_only",
        &[
            "output \"a\" {\n  value = { k = [1, 2], t = \"x\" }\n}\noutput \"b\" {\n  value = \"b\"\n}\n",
            "output \"a\" {\n  value = { k = [1, 3], t = \"x\", n = null }\n}\noutput \"c\" {\n  value     = \"c\"\n  sensitive = true\n}\n",
            "output \"a\" {\n  value = \"now a text\"\n}\noutput \"c\" {\n  value = \"c\"\n}\n",
        ],
    );
}

const CHILD: &str = r#"
variable "name" {}

resource "terraform_data" "in" {
  input = var.name
}

output "id" {
  value = terraform_data.in.id
}

output "name" {
  value = var.name
}
"#;

#[test]
fn modules_with_depends_on() {
    let with = |name: &str| {
        format!(
            r#"
module "first" {{
  source = "./child"
  name   = "{name}"
}}

module "second" {{
  source     = "./child"
  for_each   = toset(["a", "b"])
  name       = each.key
  depends_on = [module.first]
}}

resource "terraform_data" "last" {{
  input      = [for key, one in module.second : one.name]
  depends_on = [module.second]
  lifecycle {{
    replace_triggered_by = [terraform_data.trigger]
  }}
}}

resource "terraform_data" "trigger" {{
  input = "{name}"
}}
"#
        )
    };
    let mut life = Scenario::new("modules_with_depends_on", "");
    life.write("child/main.tf", CHILD);
    life.change(&with("one"));
    life.init();
    life.run(PLAN);
    life.run(APPLY);
    life.change(&with("two"));
    // Only the first module is applied, so the others have pending changes afterwards.
    life.run(&["plan", "-target=module.first", "-out=p"]);
    life.run(APPLY);
    life.run(&["plan", "-target=module.second[\"a\"]", "-out=p"]);
    life.run(PLAN);
    life.run(APPLY);
    life.run(&["plan", "-destroy", "-target=module.first"]);
    life.run(DESTROY);
    life.end();
}

#[test]
fn moved_between_modules() {
    // Resources of the root module move into modules, which are then renamed.
    let plain = "resource \"terraform_data\" \"a\" {\n  input = \"a\"\n}\n\nresource \"terraform_data\" \"many\" {\n  count = 2\n}\n";
    let calls = "module \"child\" {\n  source = \"./child\"\n  name   = \"a\"\n}\n\nmodule \"renamed\" {\n  source   = \"./child\"\n  \
                 for_each = toset([\"x\"])\n  name     = each.key\n}\n";
    let mut life = Scenario::new("moved_between_modules", plain);
    life.write("child/main.tf", CHILD);
    life.run(PLAN);
    life.run(APPLY);
    life.change(&format!(
        "{calls}\nmoved {{\n  from = terraform_data.a\n  to   = module.child.terraform_data.in\n}}\n\nmoved {{\n  from = terraform_data.many[1]\n  \
         to   = module.renamed[\"x\"].terraform_data.in\n}}\n\nmoved {{\n  from = terraform_data.many[0]\n  to   = terraform_data.single\n}}\n\n\
         resource \"terraform_data\" \"single\" {{}}\n"
    ));
    life.init();
    life.run(PLAN);
    life.run(APPLY);
    life.change(&format!(
        "{}\nmoved {{\n  from = module.child\n  to   = module.other\n}}\n\nresource \"terraform_data\" \"single\" {{}}\n",
        calls.replace("module \"child\"", "module \"other\"")
    ));
    life.init();
    life.run(PLAN);
    // A refresh-only apply stores the moves without planning other changes.
    life.run(&["apply", "-refresh-only", "-auto-approve"]);
    life.run(PLAN);
    life.run(DESTROY);
    life.end();
}

#[test]
fn data_read_during_apply() {
    let with = |value: &str| {
        format!(
            r#"
resource "terraform_data" "cause" {{
  input = "{value}"
}}

data "terraform_remote_state" "known" {{
  backend  = "local"
  config   = {{ path = "${{path.module}}/other.tfstate" }}
  defaults = {{ greeting = "hello" }}
}}

data "terraform_remote_state" "later" {{
  backend    = "local"
  config     = {{ path = "${{path.module}}/other.tfstate" }}
  depends_on = [terraform_data.cause]
}}

resource "terraform_data" "user" {{
  input = data.terraform_remote_state.later.outputs
}}
"#
        )
    };
    // A state that another configuration wrote.
    let other = r#"{"version": 4, "terraform_version": "1.15.5", "serial": 1, "lineage": "other", "outputs": {"greeting": {"value": "hi", "type": "string"}}, "resources": []}"#;
    let mut life = Scenario::new("data_read_during_apply", "");
    life.write("other.tfstate", other);
    life.change(&with("one"));
    // The data source without dependencies is read by plan, the other one by apply.
    life.init();
    life.run(PLAN);
    life.run(APPLY);
    life.run(&["plan", "-detailed-exitcode"]);
    life.change(&with("two"));
    life.run(PLAN);
    life.run(APPLY);
    life.run(DESTROY);
    life.end();
}

#[test]
fn replacement_caused_by_a_change() {
    let with = |value: &str, more: &str| {
        format!("resource \"terraform_data\" \"trigger\" {{\n  input = \"{value}\"\n}}\n{more}")
    };
    // The new resource has no object that could be replaced, so it is only created.
    let new = "\nresource \"terraform_data\" \"new\" {\n  lifecycle {\n    replace_triggered_by = [terraform_data.trigger]\n  }\n}\n";
    life("replacement_caused_by_a_change", &[&with("one", ""), &with("two", new)]);
}

#[test]
fn import_with_only_new_outputs() {
    life(
        "import_with_outputs",
        &[
            "output \"value\" {\n  value = 1\n}\n",
            "resource \"terraform_data\" \"found\" {\n}\n\nimport {\n  to = terraform_data.found\n  id = \"somewhere\"\n}\n\noutput \"found\" {\n  value = \
             terraform_data.found.id\n}\n",
        ],
    );
}

#[test]
fn nested_modules_with_instances() {
    let mut life = Scenario::new("modules_in_modules", "");
    life.write("inner/leaf/main.tf", "resource \"terraform_data\" \"leaf\" {\n}\n");
    life.write(
        "inner/main.tf",
        "module \"leaf\" {\n  source = \"./leaf\"\n  count  = 2\n}\n\nresource \"terraform_data\" \"own\" {\n}\n",
    );
    life.change("module \"inner\" {\n  source = \"./inner\"\n  count  = 2\n}\n");
    life.init();
    life.run(PLAN);
    life.run(APPLY);
    life.run(&["plan", "-destroy", "-out=p"]);
    life.end();
}

#[test]
fn empty_strings_in_outputs() {
    let mut life = Scenario::new(
        "empty_strings_in_outputs",
        "output \"empty\" {\n  value = \"\"\n}\n\noutput \"inside\" {\n  value = { object = { text = \"\" }, map = tomap({ text = \"\" }), list = [\"\", \"text\"] }\n}\n",
    );
    life.run(PLAN);
    life.run(APPLY);
    life.run(&["show"]);
    life.run(&["output"]);
    life.end();
}

#[test]
fn wholly_unknown_object_has_no_values() {
    let first = "resource \"terraform_data\" \"first\" {\n}\n";
    let second = "resource \"terraform_data\" \"second\" {\n  input            = terraform_data.first.id\n  triggers_replace = terraform_data.first.id\n}\n";
    life("wholly_unknown", &[&format!("{first}\n{second}")]);
}

#[test]
fn negative_zero_is_kept_only_in_the_state() {
    let mut life = Scenario::new(
        "zeros",
        // Negative zero in each position where Terraform prints or stores a number.
        r#"
resource "terraform_data" "it" {
  input = { zero = -0, zeros = [0 * -1, -0.0], text = jsonencode([-0]), whole = format("%d|%5d|%+d|%x", -0, -0, -0, -0), real = format("%f", -0) }
}

output "zero" {
  value = -0
}

output "zeros" {
  value = { a = -0, b = [0 / -1] }
}
"#,
    );
    life.run(&["plan"]);
    life.run(&["apply", "-auto-approve"]);
    life.run(&["show"]);
    life.run(&["state", "show", "terraform_data.it"]);
    life.run(&["output"]);
    // -raw prints the number as text.
    life.run(&["output", "-raw", "zero"]);
    life.run(&["plan", "-detailed-exitcode"]);
    life.end();
}

#[test]
fn integers_are_shown_with_all_digits() {
    let mut life = Scenario::new(
        "integer_digits",
        // Numbers beyond the precision of a double, which a float would round.
        r#"
output "known" {
  value = { powers = [pow(2, 60), -pow(2, 63), pow(15, 15)], text = "=${pow(2, 60)}" }
}

output "secret" {
  value     = [pow(15, 15)]
  sensitive = true
}
"#,
    );
    life.run(&["plan"]);
    life.run(&["apply", "-auto-approve"]);
    life.run(&["output"]);
    life.run(&["output", "-json"]);
    life.run(&["plan", "-detailed-exitcode"]);
    life.end();
}
