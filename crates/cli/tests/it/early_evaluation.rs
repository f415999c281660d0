//! Expressions evaluated before planning, such as backend arguments, and their restrictions.

use crate::common::Folder;

const BACKEND: &str = "variable \"place\" {\n  default = \"one\"\n}\nlocals {\n  file = \"${var.place}.tfstate\"\n}\nterraform {\n  backend \"local\" {\n    path = local.file\n  }\n}\noutput \"o\" {\n  value = 1\n}\n";

#[test]
fn backend_arguments_may_use_variables_and_locals() {
    let folder = Folder::new();
    folder.write("main.tf", BACKEND);
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    assert!(folder.path("one.tfstate").exists());
    // Another value of the variable is another backend configuration.
    let reported = folder.fails(&["apply", "-auto-approve", "-var", "place=two"]);
    assert!(reported.contains("Backend configuration block has changed"), "{reported}");
    folder.ok(&["init", "-reconfigure", "-var", "place=two"]);
    folder.ok(&["apply", "-auto-approve", "-var", "place=two"]);
    assert!(folder.path("two.tfstate").exists());
    // The default path is never used.
    assert!(!folder.path("terraform.tfstate").exists());
}

#[test]
fn state_commands_evaluate_backend_variables() {
    let folder = Folder::new();
    folder.write("main.tf", &format!("{BACKEND}resource \"terraform_data\" \"a\" {{}}\n"));
    // Every command gets the value that selects the backend.
    let two = |words: &[&str], more: &[&str]| folder.ok(&[words, &["-var", "place=two"], more].concat());
    two(&["init"], &[]);
    two(&["apply", "-auto-approve"], &[]);
    assert_eq!(two(&["state", "list"], &[]), "terraform_data.a\n");
    assert_eq!(two(&["state", "identities", "-json"], &[]), "{}\n");
    assert!(two(&["state", "pull"], &[]).contains("\"terraform_data\""));
    two(&["taint"], &["terraform_data.a"]);
    two(&["untaint"], &["terraform_data.a"]);
    two(&["refresh"], &[]);
    two(&["state", "mv"], &["terraform_data.a", "terraform_data.b"]);
    assert!(two(&["state", "show"], &["terraform_data.b"]).contains("terraform_data.b"));
    two(&["state", "rm"], &["terraform_data.b"]);
    // No command has used the default of the variable.
    assert!(!folder.path("one.tfstate").exists());
}

#[test]
fn refresh_and_import_evaluate_module_source_variables() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "variable \"from\" {\n  type = string\n  const = true\n}\nmodule \"m\" {\n  source = var.from\n}\n",
    );
    folder.write("m/main.tf", "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {}\n");
    for words in [&["init"][..], &["apply", "-auto-approve", "-target=module.m.terraform_data.a"], &["refresh"]] {
        // Only one of the two resources is created, so that the other one can be imported.
        folder.ok(&[words, &["-var", "from=./m"]].concat());
    }
    folder.ok(&["import", "-var", "from=./m", "module.m.terraform_data.b", "id"]);
    assert!(folder.ok(&["state", "list", "-var", "from=./m"]).contains("module.m.terraform_data.b"));
}

#[test]
fn provider_commands_evaluate_module_source_variables() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "variable \"from\" {\n  type = string\n  const = true\n}\nmodule \"m\" {\n  source = var.from\n}\n",
    );
    folder.write("m/main.tf", "resource \"terraform_data\" \"a\" {}\n");
    let with = |words: &[&str]| folder.ok(&[words, &["-var", "from=./m"]].concat());
    with(&["init", "-test-directory=t"]);
    assert!(with(&["providers", "-test-directory=t"]).contains("module.m\n"));
    assert!(with(&["providers", "schema", "-json"]).contains("terraform_data"));
    with(&["providers", "lock", "-test-directory=t"]);
    folder.write("values.tfvars", "from = \"./m\"\n");
    folder.ok(&["providers", "mirror", "-var-file=values.tfvars", "copies"]);
    // Without the value the source of the module is unknown.
    assert!(folder.fails(&["providers", "schema", "-json"]).contains("from"));
}

#[test]
fn unknown_backend_argument_is_reported_at_its_location() {
    for more in ["sensitive = true", "ephemeral = true"] {
        let folder = Folder::new();
        folder.write("main.tf", &BACKEND.replace("default =", &format!("{more}\n  default =")));
        let said = folder.fails(&["init"]);
        let kind = more.split(' ').next().unwrap();
        assert!(said.replace('\n', " ").contains(&format!("is {kind}")), "{said}");
        // The record of the backend would store the value.
        assert!(said.contains("Error: Invalid backend argument") && said.contains("line 10"), "{said}");
    }
}

#[test]
fn backend_variable_without_a_value_is_named() {
    let folder = Folder::new();
    let block = "terraform {\n  backend \"local\" {\n    path = local.p\n  }\n}\n";
    folder.write("main.tf", &format!("variable \"k\" {{}}\nlocals {{\n  p = \"${{var.k}}.tfstate\"\n}}\n{block}"));
    let said = folder.fails(&["init", "-input=false"]);
    assert!(said.contains("var.k has no value: set it with -var or TF_VAR_k."), "{said}");
    folder.ok(&["init", "-input=false", "-var=k=a"]);
}

#[test]
fn local_values_of_a_backend_may_refer_to_each_other_many_times() {
    let block = "terraform {\n  backend \"local\" {\n    path = local.a\n  }\n}\n";
    let mutual = "locals {\n  a = \"${local.a}${local.b}\"\n  b = \"${local.a}${local.b}\"\n}\n";
    let chain: String =
        (0..40).map(|number| format!("  c{number} = \"${{local.c{0}}}${{local.c{0}}}\"\n", number + 1)).collect();
    let chained = format!("variable \"k\" {{}}\nlocals {{\n  a = local.c0\n{chain}  c40 = var.k\n}}\n");
    let folder = Folder::new();
    folder.write("main.tf", &format!("{mutual}{block}"));
    assert!(folder.fails(&["init", "-input=false"]).contains("Error: "));
    folder.write("main.tf", &format!("{chained}{block}"));
    let said = folder.fails(&["init", "-input=false"]);
    assert!(said.contains("var.k has no value"), "{said}");
}

#[test]
fn workspace_is_known_before_planning() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        // Both products' names for the workspace are known when modules are loaded.
        "locals {\n  file = \"at-${terraform.workspace}.tfstate\"\n}\nterraform {\n  backend \"local\" {\n    path = local.file\n  }\n}\n\
         module \"m\" {\n  source = \"./${tofu.workspace}\"\n}\n",
    );
    folder.write("default/main.tf", "resource \"terraform_data\" \"a\" {}\n");
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    assert!(folder.read("at-default.tfstate").contains("module.m"));
}

#[test]
fn saved_plan_stores_module_source_variables() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "variable \"from\" {\n  default = \"a\"\n}\nmodule \"m\" {\n  source = \"./${var.from}\"\n}\noutput \"o\" {\n  value = module.m.o\n}\n",
    );
    folder.write("b/main.tf", "output \"o\" {\n  value = \"B\"\n}\n");
    // The directory "a" does not exist, so only the given value can work.
    folder.ok(&["init", "-var", "from=b"]);
    folder.ok(&["plan", "-out=p", "-var", "from=b"]);
    assert!(folder.ok(&["show", "-json", "p"]).contains("\"B\""));
    folder.ok(&["apply", "p"]);
    assert!(folder.read("terraform.tfstate").contains("\"B\""));
}

#[test]
fn null_module_version_is_no_constraint() {
    let folder = Folder::new();
    let main = |version: &str| {
        format!(
            "locals {{\n  version = {version}\n}}\nmodule \"m\" {{\n  source  = \"./m\"\n  version = local.version\n}}\n"
        )
    };
    folder.write("m/main.tf", "").write("main.tf", &main("null"));
    assert!(folder.ok(&["validate"]).contains("Success"));
    let reported = folder.write("main.tf", &main("\"1.0.0\"")).fails(&["validate"]);
    // A local module has no versions to choose from.
    assert!(reported.contains("Only registry modules have versions"), "{reported}");
    let reported = folder.write("main.tf", &main("[]")).fails(&["validate"]);
    assert!(reported.contains("Unknown module version"), "{reported}");
}
