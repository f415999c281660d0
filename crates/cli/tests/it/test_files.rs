//! Test files in `init`, `get`, `providers` and `validate`.

use crate::common::Folder;

/// A folder with packages of providers, and a CLI configuration that names them.
fn with_packages() -> Folder {
    let folder = Folder::new().with("TF_CLI_CONFIG_FILE", "rc");
    let platform = groma_install::providers::Platform::current();
    for (name, version) in [("tool", "1.0.0"), ("tool", "1.2.0"), ("tool", "2.0.0"), ("mine", "0.1.0")] {
        let package =
            format!("mirror/example.com/acme/{name}/{version}/{platform}/terraform-provider-{name}_v{version}");
        folder.write(&package, version);
    }
    let mirror = folder.path("mirror");
    folder.write(
        "rc",
        &format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            mirror.display().to_string()
        ),
    );
    folder
}

fn run(name: &str, source: &str) -> String {
    format!("run \"{name}\" {{\n  module {{\n    source = \"{source}\"\n  }}\n}}\n")
}

fn with_setup(folder: &Folder) {
    folder
        .write("main.tf", "terraform {\n  required_providers {\n    tool = { source = \"example.com/acme/tool\" }\n  }\n}\n")
        .write("tests/main.tftest.hcl", &run("setup", "./setup"))
        .write(
            "setup/main.tf",
            "terraform {\n  required_providers {\n    tool = { source = \"example.com/acme/tool\", version = \"~> 1.0\" }\n    \
             mine = { source = \"example.com/acme/mine\" }\n  }\n}\nmodule \"in\" {\n  source = \"./in\"\n}\n",
        )
        .write("setup/in/main.tf", "");
}

#[test]
fn init_installs_modules_and_providers_of_test_runs() {
    let folder = with_packages();
    with_setup(&folder);
    let reported = folder.ok(&["init"]);
    for line in [
        "Initializing modules...\n- test.tests.main.setup in setup\n- test.tests.main.setup.in in setup/in\n",
        "- Installed example.com/acme/tool v1.2.0",
        "- Installed example.com/acme/mine v0.1.0",
    ] {
        assert!(reported.contains(line), "{line}: {reported}");
    }
    let manifest = folder.read(".terraform/modules/modules.json");
    assert!(
        manifest.contains("{\"Key\":\"test.tests.main.setup.in\",\"Source\":\"./in\",\"Dir\":\"setup/in\"}"),
        "{manifest}"
    );
    let lock = folder.read(".terraform.lock.hcl");
    assert!(lock.contains("\"example.com/acme/mine\"") && lock.contains("constraints = \"~> 1.0\""), "{lock}");
    let again = folder.ok(&["init"]);
    assert!(again.contains("Initializing modules...") && !again.contains("- test."), "{again}");
    let mistaken = folder.write("tests/other.tftest.hcl", "bogus {\n}\n").fails(&["init"]);
    assert!(
        mistaken.contains("Unsupported block type") && mistaken.contains("tests/other.tftest.hcl line 1"),
        "{mistaken}"
    );
}

#[test]
fn providers_tree_lists_test_runs_with_modules() {
    let folder = Folder::new();
    with_setup(&folder);
    folder
        .write("tests/plain.tftest.hcl", "run \"a\" {\n}\n")
        .write("more.tf", "module \"m\" {\n  source = \"./m\"\n}\n");
    folder.write("m/main.tf", "");
    let expected = "
Providers required by configuration:
.
├── provider[example.com/acme/tool]
├── test.tests.main
│   └── run.setup
│       ├── provider[example.com/acme/mine]
│       ├── provider[example.com/acme/tool] ~> 1.0
│       └── module.in
├── test.tests.plain
└── module.m

";
    // The spaces behind a line that goes on do not break.
    assert_eq!(folder.ok(&["providers"]), expected.replace("│   ", "│\u{a0}\u{a0} "));
    let other_directory = folder.ok(&["providers", "-test-directory=others"]);
    assert!(
        !other_directory.contains("test.") && other_directory.contains("Test directory does not exist"),
        "{other_directory}"
    );
}

#[test]
fn providers_lock_includes_test_providers_but_mirror_does_not() {
    let folder = with_packages();
    with_setup(&folder);
    let reported = folder.ok(&["providers", "lock", "-fs-mirror=mirror"]);
    assert!(
        reported.contains("Retrieved example.com/acme/mine 0.1.0") && reported.contains("tool 1.2.0"),
        "{reported}"
    );
    let folder = with_packages();
    with_setup(&folder);
    let reported = folder.fails(&["providers", "mirror", "copy"]);
    assert!(reported.contains("tool/2.0.0") && !reported.contains("mine"), "{reported}");
}

#[test]
fn get_keeps_modules_of_other_test_directories() {
    let folder = Folder::new();
    folder
        .write("beside.tftest.hcl", &run("a", "./s"))
        .write("x/y/far.tftest.json", "{\"run\": {\"b\": {\"module\": {\"source\": \"./s\"}}}}")
        .write("s/main.tf", "");
    assert_eq!(
        folder.ok(&["get", "-test-directory=x//y/"]),
        "- test.beside.a in s\n- test.x.y.far.tftest.json.b in s\n"
    );
    assert_eq!(folder.ok(&["get"]), "");
    let manifest = folder.read(".terraform/modules/modules.json");
    assert!(manifest.contains("\"Key\":\"test.x.y.far.tftest.json.b\""), "{manifest}");
    assert_eq!(folder.ok(&["modules", "-json"]), "{\"format_version\":\"1.0\",\"modules\":null}\n");
    assert!(folder.ok(&["init"]).contains("Initializing modules..."));
}

#[test]
fn validate_checks_modules_of_test_runs() {
    let folder = Folder::new();
    folder
        .write("main.tf", "module \"s\" {\n  source = \"./s\"\n}\n")
        .write(
            "tests/a.tftest.hcl",
            &(run("a", "./s") + &run("b", "./s") + "override_module {\n  target = module.t\n}\n"),
        )
        .write("s/main.tf", "resource \"terraform_data\" \"a\" {\n  bogus = 1\n}\n")
        .write("tests/b.tftest.hcl", &run("c", "./t"))
        .write("t/main.tf", "resource \"terraform_data\" \"a\" {\n  wrong = 1\n}\n");
    let ran = folder.run(&["validate"]);
    let reported = ran.out + &ran.err;
    assert_eq!(ran.code, 1, "{reported}");
    for once in ["\"bogus\"", "\"wrong\"", "Invalid override target"] {
        assert_eq!(reported.matches(once).count(), 1, "{once}: {reported}");
    }
    assert!(!folder.fails(&["validate", "-no-tests"]).contains("\"wrong\""));
    folder.write("tests/b.tftest.hcl", &run("c", "example.com/acme/far/any"));
    let reported = folder.fails(&["validate"]);
    assert!(reported.contains("Module not installed") && reported.contains("tests/b.tftest.hcl line 2"), "{reported}");
}

#[test]
fn errors_of_a_module_are_not_repeated_for_its_test_run() {
    let folder = Folder::new();
    folder
        .write("main.tf", "module \"s\" {\n  source = \"./s\"\n}\n")
        .write("tests/a.tftest.hcl", &run("a", "./s"))
        .write("s/main.tf", "module \"in\" {\n  source = \"./in\"\n}\nlocals {\n  l = module.in.o\n}\n")
        .write("s/in/main.tf", "output \"o\" {\n  value      = 1\n  deprecated = \"Use p.\"\n}\n");
    // People see similar warnings together in any case.
    let reported = folder.ok(&["validate", "-json"]);
    assert_eq!(reported.matches("Use p.").count(), 1, "{reported}");
}

#[test]
fn rejects_missing_test_directory() {
    let folder = Folder::new();
    folder.write("main.tf", "").write("tests", "");
    for words in [&["validate"][..], &["get"], &["init"], &["providers"]] {
        assert!(folder.fails(words).contains("Failed to read test directory"), "{words:?}");
    }
    folder.ok(&["validate", "-no-tests"]);
}
