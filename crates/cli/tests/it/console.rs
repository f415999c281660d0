//! `console` with piped input.

use crate::common::Folder;

const CONFIGURATION: &str = "variable \"v\" {\n  default = \"given\"\n}\nresource \"terraform_data\" \"a\" {\n  input = var.v\n}\nresource \"terraform_data\" \"n\" {\n  count = 2\n  input = count.index\n}\nmodule \"m\" {\n  source = \"./m\"\n  in     = terraform_data.a.output\n}\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", CONFIGURATION);
    folder.write(
        "m/main.tf",
        "variable \"in\" {}\noutput \"out\" {\n  value = var.in\n}\noutput \"fixed\" {\n  value = 7\n}\n",
    );
    folder.ok(&["init"]);
    folder
}

#[test]
fn typed_module_outputs_unify_instances() {
    let folder = Folder::new();
    let call = |name: &str, source: &str, repeats: &str| {
        format!("module \"{name}\" {{\n  source = \"./{source}\"\n  {repeats}\n}}\n")
    };
    let calls = [
        call("none", "typed", "count = 0"),
        call("two", "typed", "count = 2"),
        call("each", "typed", "for_each = toset([\"a\"])"),
        call("silent", "silent", "count = 1"),
        call("loose", "loose", "count = 1"),
    ];
    folder.write("main.tf", &calls.concat());
    folder.write("typed/main.tf", "output \"x\" {\n  type  = number\n  value = \"1\"\n}\n");
    folder.write("silent/main.tf", "locals {}\n");
    folder.write("loose/main.tf", "output \"x\" {\n  value = 1\n}\n");
    folder.ok(&["init"]);
    // Declared types make a list or map of instances; without them, each instance has a type of its own.
    let asked = "type(module.none)\nmodule.two\ntype(module.each)\nmodule.silent\ntype(module.loose)\nmodule.two == tolist([{ x = 1 }, { x = 1 }])\n";
    let ran = folder.run_with_input(&["console", "-plan"], asked);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let of_numbers = |kind: &str| format!("{kind}(\n    object({{\n        x: number,\n    }}),\n)\n");
    let two = "tolist([\n  {\n    \"x\" = 1\n  },\n  {\n    \"x\" = 1\n  },\n])\n";
    let loose = "tuple([\n    object({\n        x: number,\n    }),\n])\n";
    let silent = "tolist([\n  {},\n])\n";
    assert_eq!(ran.out, format!("{}{two}{}{silent}{loose}true\n", of_numbers("list"), of_numbers("map")));
}

#[test]
fn open_bracket_continues_on_the_next_line() {
    let ran = folder().run_with_input(&["console"], "[\n  1,\n  upper(\n    var.v\n  ),\n]\n1 + 1\n<<EOT\nx {\nEOT\n");
    assert_eq!((ran.code, &*ran.err), (0, ""));
    assert_eq!(ran.out, "[\n  1,\n  \"GIVEN\",\n]\n2\n<<EOT\nx {\n\nEOT\n");
    // The input ends inside the bracket.
    let ran = folder().run_with_input(&["console"], "[1,\n");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("Error:"), "{}", ran.err);
}

#[test]
fn uncreated_object_has_unknown_attributes() {
    let ran = folder().run_with_input(&["console"], "terraform_data.a\n");
    assert!(
        ran.out.starts_with("{\n  \"id\" = (known after apply)\n  \"input\" = (known after apply)\n"),
        "{}",
        ran.out
    );
}

#[test]
fn uncreated_resource_has_its_configured_instances() {
    let main = "resource \"terraform_data\" \"n\" {\n  count = 2\n}\nresource \"terraform_data\" \"e\" {\n  for_each = toset([\"k\"])\n}\n\
                resource \"terraform_data\" \"u\" {\n  count = length(terraform_data.n[0].id)\n}\n";
    let folder = Folder::new();
    folder.write("main.tf", main);
    let asked = "length(terraform_data.n)\nterraform_data.n[1].id\nkeys(terraform_data.e)\nterraform_data.u\n";
    let ran = folder.run_with_input(&["console"], asked);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    assert_eq!(ran.out, "2\n(known after apply)\n[\n  \"k\",\n]\n(known after apply)\n");
    // Once there are objects in the state, they are the instances.
    folder.ok(&["apply", "-auto-approve", "-target=terraform_data.n[0]"]);
    assert_eq!(folder.run_with_input(&["console"], "length(terraform_data.n)\n").out, "1\n");
}

#[test]
fn console_with_plan_sees_planned_values() {
    let folder = folder();
    let ran = folder.run_with_input(
        &["console", "-plan"],
        "terraform_data.a.input\nterraform_data.n[*].input\nmodule.m.fixed\nmodule.m.out\n",
    );
    assert_eq!((ran.code, &*ran.err), (0, ""));
    assert_eq!(ran.out, "\"given\"\n[\n  0,\n  1,\n]\n7\n(known after apply)\n");
    // The plan is made in memory: the console stores nothing.
    assert!(!folder.path("terraform.tfstate").exists());
    folder.ok(&["apply", "-auto-approve"]);
    let ran = folder.run_with_input(&["console", "-plan", "-var", "v=new"], "terraform_data.a.input\nmodule.m.out\n");
    assert_eq!(ran.out, "\"new\"\n(known after apply)\n");
    // Without the plan, the console evaluates the current state.
    let ran = folder.run_with_input(&["console"], "module.m.out\n");
    assert_eq!(ran.out, "\"given\"\n");
}

#[test]
fn changing_value_is_unknown_with_plan() {
    let folder = folder();
    // The values of these functions will differ at apply, so a plan does not know them.
    let asked = "uuid()\ntimestamp()\nbcrypt(\"x\")\n[for x in [1] : length(uuid())]\n";
    let ran = folder.run_with_input(&["console", "-plan"], asked);
    let unknown = "(known after apply)";
    assert_eq!(ran.out, format!("{unknown}\n{unknown}\n{unknown}\n[\n  {unknown},\n]\n"));
    // Without a plan they are simply evaluated.
    assert!(!folder.run_with_input(&["console"], asked).out.contains(unknown));
}

#[test]
fn variable_without_value_is_unknown_of_its_type() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "variable \"ports\" {\n  type = list(number)\n}\nvariable \"any\" {}\nresource \"terraform_data\" \"a\" {\n  input = var.ports\n}\n",
    );
    let asked = "type(var.ports)\nvar.any\ntype([for port in var.ports : { port = port }])\n";
    // Neither asks: without input it is forbidden, and a plan in the console goes on without it.
    for arguments in [&["console", "-input=false"][..], &["console", "-plan"]] {
        let ran = folder.run_with_input(arguments, asked);
        assert_eq!((ran.code, &*ran.err), (0, ""), "{arguments:?}");
        assert_eq!(ran.out, "list(number)\n(known after apply)\ndynamic\n", "{arguments:?}");
    }
    let ran = folder.run_with_input(&["console", "-plan"], "type(terraform_data.a.input)\n");
    assert_eq!(ran.out, "list(number)\n");
}

#[test]
fn partial_result_of_a_failed_plan_is_available() {
    let folder = Folder::new();
    let of = |line: &str| format!("locals {{\n  fine = 1\n}}\nresource \"terraform_data\" \"a\" {{\n  {line}\n}}\n");
    for (line, summary) in [
        ("count = -1", "Invalid count argument"),
        ("nonsense = 1", "Unsupported argument"),
        (
            "lifecycle {\n    precondition {\n      condition     = local.fine > 1\n      error_message = \"small\"\n    }\n  }",
            "Resource precondition failed",
        ),
    ] {
        folder.write("main.tf", &of(line));
        let ran = folder.run_with_input(&["console", "-plan"], "local.fine + 1\n");
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
        assert_eq!(ran.err.matches("Error: ").count(), 1, "{line}: {}", ran.err);
        assert!(ran.err.contains(summary), "{line}: {}", ran.err);
        // The console opens anyway, as it may be used to find the cause.
        assert!(ran.out.contains("Due to the problems above") && ran.out.ends_with("2\n"), "{line}: {}", ran.out);
    }
}

#[test]
fn console_resolves_names_like_blocks() {
    let folder = folder();
    let problems = |text: &str| {
        let ran = folder.run_with_input(&["console"], &format!("{text}\n"));
        let summaries = ran.err.lines().filter_map(|line| line.strip_prefix("Error: ").map(str::to_owned));
        summaries.collect::<Vec<_>>()
    };
    for (text, expected) in [
        ("terraform_data.n.id", "Missing resource instance key"),
        ("true ? 1 : terraform_data.n.id", "Missing resource instance key"),
        ("terraform_data.a[0].id", "Unexpected resource instance key"),
        ("terraform_data.n[count.index]", "Reference to \"count\" in non-counted context"),
        ("try(terraform_data.b.id, 1)", "Reference to undeclared resource"),
        ("can(var.w)", "Reference to undeclared input variable"),
        ("module.x.out", "Reference to undeclared module"),
        ("self.id", "Invalid \"self\" reference"),
        ("terraform_data.a.nope", "Unsupported attribute"),
    ] {
        assert_eq!(problems(text), [expected], "{text}");
    }
    // A local name hides the object of the same name.
    assert!(problems("[for each in [1] : each]").is_empty());
}

#[test]
fn type_and_convert_accept_expressions() {
    let folder = Folder::new();
    folder.write("main.tf", "");
    let answer = |text: &str| {
        let ran = folder.run_with_input(&["console"], &format!("{text}\n"));
        let problem = ran.err.lines().find_map(|line| line.strip_prefix("Error: ")).map(str::to_owned);
        problem.unwrap_or(ran.out.trim_end().to_owned())
    };
    for (text, expected) in [
        ("type([1]...)", "number"),
        ("convert(\"1\", string, []...)", "\"1\""),
        ("type()", "Not enough function arguments"),
        ("type([]...)", "Not enough function arguments"),
        ("convert(\"1\", []...)", "Not enough function arguments"),
        ("type(1, 2)", "Too many function arguments"),
        ("convert([\"1\", \"string\", 3]...)", "Too many function arguments"),
        ("convert([\"1\", \"string\"]...)", "Invalid type specification"),
        ("1 + type(2)", "Invalid use of type function"),
    ] {
        assert_eq!(answer(text), expected, "{text}");
    }
}

#[test]
fn errors_precede_prompts() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "variable \"v\" {\n  default = 1\n  validation {\n    condition     = var.v > 3\n    error_message = \"small\"\n  }\n}\nvariable \"none\" {}\nresource \"terraform_data\" \"a\" {\n  count = tobool(\"x\")\n}\nlocals {\n  wrong = tobool(\"y\")\n  more  = local.wrong\n  fine  = 1\n}\n",
    );
    let ran = folder.run_with_input(&["console"], "local.more\nlocal.fine\n");
    assert_eq!(ran.code, 0);
    assert!(ran.out.ends_with("(known after apply)\n1\n"), "{}", ran.out);
    let reported = |summary: &str| ran.err.matches(summary).count();
    assert_eq!(reported("Error: "), 2, "{}", ran.err);
    assert_eq!((reported("Invalid value for variable"), reported("Invalid function argument")), (1, 1), "{}", ran.err);
    assert!(ran.out.contains("Due to the problems above"), "{}", ran.out);
}
