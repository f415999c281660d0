//! Commands that only read the configuration: get, modules, fmt, graph, metadata.

use std::path::Path;

use crate::common::{Folder, Ran};

fn modules(folder: &Folder) {
    folder
        .write("main.tf", "resource \"terraform_data\" \"a\" {}\nmodule \"vpc\" {\n  source = \"./modules/vpc\"\n  in     = terraform_data.a.id\n}\n")
        .write(
            "modules/vpc/main.tf",
            "variable \"in\" {}\nresource \"terraform_data\" \"x\" {\n  input = var.in\n}\nmodule \"z\" {\n  source = \"../z\"\n}\n",
        )
        .write("modules/z/main.tf", "");
}

#[test]
fn get_records_modules_and_modules_lists_them() {
    let folder = Folder::new();
    folder.write("main.tf", "");
    assert_eq!(folder.ok(&["modules", "-json"]), "{\"format_version\":\"1.0\",\"modules\":null}\n");
    modules(&folder);
    assert_eq!(folder.ok(&["get"]), "- vpc in modules/vpc\n- vpc.z in modules/z\n");
    assert_eq!(folder.ok(&["get"]), "");
    assert!(folder.read(".terraform/modules/modules.json").contains("\"Key\":\"vpc.z\",\"Source\":\"../z\""));
    assert!(folder.ok(&["modules"]).contains("└── \"vpc\"[./modules/vpc]\n    └── \"z\"[../z]\n"));
    assert_eq!(
        folder.ok(&["modules", "-json"]),
        "{\"format_version\":\"1.0\",\"modules\":[{\"key\":\"vpc\",\"source\":\"./modules/vpc\",\"version\":\"\"},{\"key\":\"z\",\"source\":\"../z\",\"version\":\"\"}]}\n"
    );
}

#[test]
fn modules_json_escapes_html_characters() {
    let folder = Folder::new();
    folder.write("main.tf", "module \"m\" {\n  source = \"./a&<b>\"\n}\n").write("a&<b>/main.tf", "");
    folder.ok(&["get"]);
    assert!(folder.ok(&["modules", "-json"]).contains("\"source\":\"./a\\u0026\\u003cb\\u003e\""));
}

/// A module that others call is no configuration that could be planned, and its modules can be got and listed all the same.
#[test]
fn get_and_modules_do_not_prompt_for_variables() {
    let folder = Folder::new();
    folder
        .write(
            "main.tf",
            "terraform {\n  backend \"nowhere\" {}\n}\nresource \"terraform_data\" \"a\" {\n  provider = terraform.passed\n}\n\
             removed {\n  from = terraform_data.a\n  lifecycle {\n    destroy = false\n  }\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n",
        )
        .write("m/main.tf", "");
    assert_eq!(folder.ok(&["get"]), "- m in m\n");
    assert!(folder.ok(&["modules", "-json"]).contains("{\"key\":\"m\",\"source\":\"./m\",\"version\":\"\"}"));
    let reported = folder.fails(&["validate"]);
    for summary in ["Unsupported backend type", "Provider configuration not present", "Removed resource still exists"] {
        assert!(reported.contains(summary), "{summary}: {reported}");
    }
}

/// A module is in the folder that a link leads to, as in Terraform: that is its `path.module`, in a saved plan too.
#[cfg(unix)]
#[test]
fn symbolic_links_to_modules_are_followed() {
    let folder = Folder::new();
    folder
        .write(
            "main.tf",
            "module \"net\" {\n  source = \"./modules/net\"\n}\noutput \"path\" {\n  value = module.net.path\n}\n",
        )
        .write(
            "shared/net/main.tf",
            "module \"in\" {\n  source = \"./in\"\n}\noutput \"path\" {\n  value = [path.module, module.in.path]\n}\n",
        )
        .write("shared/net/in/main.tf", "output \"path\" {\n  value = path.module\n}\n")
        .write("modules/.keep", "");
    std::os::unix::fs::symlink("../shared/net", folder.path("modules/net")).unwrap();
    assert_eq!(folder.ok(&["get"]), "- net in shared/net\n- net.in in shared/net/in\n");
    assert!(folder.read(".terraform/modules/modules.json").contains(r#""Source":"./modules/net","Dir":"shared/net"}"#));
    folder.ok(&["plan", "-out=p"]);
    folder.ok(&["apply", "p"]);
    assert_eq!(folder.ok(&["output", "-json", "path"]), "[\"shared/net\",\"shared/net/in\"]\n");
}

#[test]
fn command_line_variables_select_module_sources() {
    let folder = Folder::new();
    folder
        .write("main.tf", "variable \"dir\" {\n  const = true\n}\nmodule \"m\" {\n  source = \"./${var.dir}\"\n}\n")
        .write("one/main.tf", "");
    assert!(folder.fails(&["get"]).contains("No value for required variable"));
    assert_eq!(folder.ok(&["get", "-var", "dir=one"]), "- m in one\n");
    assert!(folder.ok(&["validate", "-var", "dir=one"]).contains("Success!"));
}

#[test]
fn graph_draws_resources_through_modules() {
    let folder = Folder::new();
    modules(&folder);
    let text = folder.ok(&["graph"]);
    assert!(text.contains("  \"module.vpc.terraform_data.x\" -> \"terraform_data.a\";\n"), "{text}");
    assert!(folder.ok(&["graph", "-format=mermaid"]).contains("n1 --> n0"));
}

#[test]
fn graph_reports_an_empty_configuration() {
    let folder = Folder::new();
    folder.write("main.tf", "output \"x\" {\n  value = 1\n}\n");
    let text = folder.ok(&["graph"]);
    assert_eq!(text.matches("  /* ").count(), 2, "{text}");
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    assert!(!folder.ok(&["graph"]).contains("/*"));
}

#[test]
fn graph_draws_each_module_once_and_data_first() {
    let folder = Folder::new();
    folder
        .write("main.tf", "module \"m\" {\n  source = \"./m\"\n}\nmodule \"m-x\" {\n  source = \"./m\"\n}\n")
        .write(
            "m/main.tf",
            "module \"m\" {\n  source = \"./n\"\n}\nresource \"terraform_data\" \"b\" {}\n\
             data \"terraform_remote_state\" \"z\" {\n  backend = \"local\"\n}\n",
        )
        .write("m/n/main.tf", "resource \"terraform_data\" \"a\" {}\n");
    let text = folder.ok(&["graph"]);
    let clusters: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("subgraph \"cluster_")).collect();
    let modules = ["module.m", "module.m-x", "module.m-x.module.m", "module.m.module.m"];
    assert_eq!(clusters, modules.map(|module| format!("{module}\" {{")));
    let [data, managed] = ["[label=\"data.terraform_remote_state.z\"]", "[label=\"terraform_data.b\"]"];
    assert!(text.find(data) < text.find(managed), "{text}");
}

#[test]
fn graph_draws_import_blocks() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "import {\n  to = terraform_data.found\n  id = terraform_data.base.id\n}\nresource \"terraform_data\" \"base\" {}\n",
    );
    let text = folder.ok(&["graph"]);
    assert!(text.contains("  \"terraform_data.found\" [label=\"terraform_data.found\"];\n"), "{text}");
    assert!(text.contains("  \"terraform_data.found\" -> \"terraform_data.base\";\n"), "{text}");
}

#[test]
fn negative_zero_is_shown_as_zero() {
    let folder = Folder::new();
    folder.write("main.tf", "output \"o\" {\n  value = [-0, 0 * -1.5]\n}\n");
    let said = folder.ok(&["plan"]);
    assert!(said.contains("  + o = [\n      + 0,\n      + 0,\n    ]"), "{said}");
}

#[test]
fn fmt_writes_lists_checks_and_shows() {
    let folder = Folder::new();
    folder.write("main.tf", "a=1\n").write("sub/y.tf", "bb  = 2\n").write(".hidden/z.tf", "c=1\n");
    assert_eq!(folder.run(&["fmt", "-check", "-recursive"]).code, 3);
    assert_eq!(folder.read("main.tf"), "a=1\n", "-check writes nothing");
    let shown = folder.ok(&["fmt", "-diff", "-write=false"]);
    assert_eq!(shown, "main.tf\n--- old/main.tf\n+++ new/main.tf\n@@ -1 +1 @@\n-a=1\n+a = 1\n");
    assert_eq!(folder.ok(&["fmt", "-recursive"]), "main.tf\nsub/y.tf\n");
    assert_eq!(folder.read("sub/y.tf"), "bb = 2\n");
    assert_eq!(folder.read(".hidden/z.tf"), "c=1\n");
    assert_eq!(folder.ok(&["fmt", "-check", "-recursive"]), "");
    assert_eq!(folder.run_with_input(&["fmt", "-"], "x=1").out, "x = 1\n");
    assert_eq!(folder.run_with_input(&["fmt", "-"], "").out, "\n");
    let outside_path = folder.write("main.tf", "a=1\n").path("main.tf");
    assert_eq!(folder.ok(&["-chdir=sub", "fmt", &outside_path.to_string_lossy()]), "../main.tf\n");
    let wrong = folder.write("wrong.tf", "x = {").run(&["fmt"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("wrong.tf"), "{}", wrong.err);
    assert_eq!(folder.run(&["fmt", "nowhere.tf"]).code, 2);
}

#[test]
fn fmt_leaves_unsupported_layout_unchanged() {
    let folder = Folder::new();
    for ending in ["tf", "tofu", "tfvars", "tftest.hcl", "tofutest.hcl", "tfmock.hcl", "tfquery.hcl"] {
        folder.write(&format!("x.{ending}"), "a=1\n");
    }
    for ending in ["tfcomponent.hcl", "tfdeploy.hcl", "tfmigrate.hcl", "hcl", "tfbackend", "tf.json"] {
        folder.write(&format!("y.{ending}"), "a=1\n");
    }
    let listed = folder.run(&["fmt", "-check"]);
    assert_eq!((listed.code, listed.out.lines().count()), (3, 7), "{}", listed.out);
    assert!(!listed.out.contains("\ny."), "{}", listed.out);
}

#[test]
fn functions_have_signatures() {
    let folder = Folder::new();
    let document: serde_json::Value = serde_json::from_str(&folder.ok(&["metadata", "functions", "-json"])).unwrap();
    let signatures = document["function_signatures"].as_object().unwrap();
    assert_eq!(signatures["max"]["variadic_parameter"]["type"], "number");
    assert_eq!(signatures["core::tolist"]["return_type"], serde_json::json!(["list", "dynamic"]));
    assert!(folder.fails(&["metadata", "functions"]).contains("-json"));
    // Wrappers give it to all commands.
    assert_eq!(
        folder.ok(&["metadata", "functions", "-json", "-no-color"]),
        folder.ok(&["metadata", "functions", "-json"])
    );
    folder.ok(&["version", "-no-color"]);
}

#[test]
fn language_commands_match_terraform() {
    let Some(terraform) = std::env::var_os("GROMA_TERRAFORM") else {
        println!("skipped: no terraform");
        return;
    };
    let [ours, theirs] = [Folder::new(), Folder::for_program(Path::new(&terraform))];
    for folder in [&ours, &theirs] {
        modules(folder);
        folder.ok(&["init", "-no-color"]);
        folder.write("bad.tfvars", "a=1\nbbb=2\n");
    }
    let manifest = |folder: &Folder| folder.read(".terraform/modules/modules.json");
    assert_eq!(manifest(&ours), manifest(&theirs));
    for arguments in [&["graph"][..], &["modules", "-no-color"], &["fmt", "-check", "-diff", "-recursive", "-no-color"]]
    {
        let [one, other]: [Ran; 2] = [&ours, &theirs].map(|folder| folder.run(arguments));
        assert_eq!((one.code, one.out), (other.code, other.out), "{arguments:?}");
    }
}

#[test]
fn get_records_only_the_root_module_and_init_records_nothing() {
    let folder = Folder::new();
    folder.write("main.tf", "output \"o\" {\n  value = 1\n}\n");
    folder.ok(&["init"]);
    assert!(!folder.path(".terraform/modules").exists());
    folder.ok(&["get"]);
    assert_eq!(folder.read(".terraform/modules/modules.json"), r#"{"Modules":[{"Key":"","Source":"","Dir":"."}]}"#);
}

#[test]
fn get_records_the_root_module_of_an_empty_directory() {
    let folder = Folder::new();
    assert_eq!(folder.ok(&["get"]), "");
    assert_eq!(folder.read(".terraform/modules/modules.json"), r#"{"Modules":[{"Key":"","Source":"","Dir":"."}]}"#);
}

#[test]
fn init_reports_that_nothing_was_initialized_before_errors() {
    let preface = "Terraform encountered problems during initialisation, including problems\nwith the configuration";
    let folder = Folder::new();
    folder.write("main.tf", "foo {}\n");
    for arguments in [&["init"][..], &["init", "-get=false"]] {
        let reported = folder.fails(arguments);
        assert!(reported.contains(preface) && reported.contains("Unsupported block type"), "{reported}");
    }
    let json = folder.run(&["init", "-json"]).out;
    let errors = json.lines().filter(|line| line.contains("\"@level\":\"error\""));
    assert_eq!(errors.count(), 2, "{json}");
    // Of a configuration for another version nothing else is known.
    folder.write("main.tf", "terraform {\n  required_version = \">= 99\"\n}\nfoo {}\n");
    let reported = folder.fails(&["init"]);
    assert!(reported.contains("Unsupported Terraform Core version"), "{reported}");
    assert!(!reported.contains(preface) && !reported.contains("Unsupported block type"), "{reported}");
    // Modules are looked for first.
    folder.write("main.tf", "module \"m\" {\n  source  = \"git::file:///nowhere\"\n  version = \"1.0\"\n}\n");
    let ran = folder.run(&["init"]);
    assert_eq!(ran.out, "Initializing modules...\n");
    assert!(ran.err.contains("Invalid registry module source address"), "{}", ran.err);
    assert!(!ran.err.contains(preface) && !ran.err.contains("Failed to download module"), "{}", ran.err);
}

#[test]
fn provider_that_is_only_passed_to_a_module_is_required() {
    let folder = Folder::new();
    folder.write("main.tf", "module \"m\" {\n  source    = \"./m\"\n  providers = { foo = foo }\n}\n");
    folder.write("m/main.tf", "output \"o\" {\n  value = 1\n}\n");
    assert!(folder.fails(&["validate"]).contains("registry.terraform.io/hashicorp/foo"));
}

#[test]
fn validate_reads_tests_in_the_given_directory() {
    let folder = Folder::new();
    folder.write("main.tf", "");
    folder.write("beside.tftest.hcl", "bogus {\n}\n");
    folder.write("tests/within.tftest.hcl", "run \"a\" {\n  command = destroy\n}\n");
    folder.write("others/named.tftest.hcl", "mock_provider {\n}\n");
    let wrong = folder.fails(&["validate"]);
    assert!(wrong.contains("Unsupported block type") && wrong.contains("beside.tftest.hcl line 1"), "{wrong}");
    assert!(
        wrong.contains("Invalid \"command\" keyword") && wrong.contains("tests/within.tftest.hcl line 2"),
        "{wrong}"
    );
    let named = folder.fails(&["validate", "-test-directory=others"]);
    assert!(named.contains("Missing name for mock_provider") && named.contains("beside.tftest.hcl"), "{named}");
    assert!(!named.contains("within"), "{named}");
    assert!(folder.ok(&["validate", "-no-tests"]).contains("Success!"));
    folder.write("beside.tftest.hcl", "");
    assert!(folder.ok(&["validate", "-test-directory=nowhere"]).contains("Test directory does not exist"));
}

#[test]
fn validate_accepts_another_directory() {
    let folder = Folder::new();
    folder.write("main.tf", "output \"a\" {\n  value = nope\n}\n");
    folder.write("sub/main.tf", "output \"a\" {\n  value = path.module\n}\n");
    assert!(folder.ok(&["validate", "sub"]).contains("The configuration is valid."));
    folder.write("sub/wrong.tf", "output \"b\" {\n  value = var.b\n}\n");
    assert!(folder.fails(&["validate", "sub"]).contains("on sub/wrong.tf line 2"));
    assert!(folder.fails(&["validate", "nowhere"]).contains("Failed to read module directory"));
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.ok(&["validate", "empty"]);
}

#[test]
fn error_in_json_string_points_to_its_end() {
    let folder = Folder::new();
    let text = r#"{"output":{"a":{"value":"%{if true}xyz"}}}"#;
    folder.write("main.tf.json", text);
    let reported: serde_json::Value = serde_json::from_str(&folder.run(&["validate", "-json"]).out).unwrap();
    let diagnostic = &reported["diagnostics"][0];
    assert_eq!(diagnostic["summary"], "Unexpected end of template");
    let end = text.find("\"}}}").unwrap();
    assert_eq!(diagnostic["range"]["start"]["byte"], end);
    assert_eq!(diagnostic["range"]["end"]["byte"], end + 1);
}

#[test]
fn removed_block_without_lifecycle_destroys_in_tf_and_forgets_in_tofu_files() {
    for (file, is_destroyed) in [("main.tf", true), ("main.tofu", false)] {
        let folder = Folder::new();
        folder.write(file, "resource \"terraform_data\" \"a\" {}\n");
        folder.ok(&["apply", "-auto-approve"]);
        folder.write(file, "removed {\n  from = terraform_data.a\n}\n");
        let reported = folder.ok(&["plan"]);
        assert_eq!(reported.contains("terraform_data.a will be destroyed"), is_destroyed, "{reported}");
        assert_eq!(reported.contains("will no longer be managed"), !is_destroyed, "{reported}");
        assert_eq!(reported.contains("Missing lifecycle from the removed block"), !is_destroyed, "{reported}");
    }
}

#[test]
fn init_does_not_report_deprecated_arguments() {
    let folder = Folder::new();
    folder.write("m/main.tf", "variable \"old\" {\n  default    = null\n  deprecated = \"use new\"\n}\n");
    folder.write("main.tf", "module \"m\" {\n  source = \"./m\"\n  old    = 1\n}\n");
    assert!(!folder.ok(&["init"]).contains("use new"));
    assert!(folder.ok(&["validate"]).contains("use new"));
}
