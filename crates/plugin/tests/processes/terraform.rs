//! The provider under real Terraform, of the versions that `GROMA_TERRAFORM` and `GROMA_TERRAFORM_1_11` name, and under
//! the OpenTofu that `GROMA_TOFU` names.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::launch::script;
use crate::{ONLY_V5, Test};

pub const TESTS: &[Test] = &[("terraform::runs_our_plugins", runs_our_plugins)];

/// One run of Terraform with its expected result.
type Step = (&'static str, fn(&Run));

const STEPS: &[Step] = &[
    ("plan", plan),
    ("apply", apply),
    ("no-op plan", no_op),
    ("update", update),
    ("replace", replace),
    ("write-only", write_only),
    ("private data", private_data),
    ("identity", identity),
    ("function", function),
    ("function error", function_error),
    ("data source", data_source),
    ("ephemeral", ephemeral),
    ("import by id", import),
    ("import by identity", import_by_identity),
    ("panic", panicked),
    ("destroy", destroy),
    ("reattach", reattach),
];

/// Features that require newer versions.
const SINCE_1_12: &[&str] = &["identity", "import by identity"];

/// The programs that run our plugins, by the variables that name them.
const HOSTS: &[(&str, &str)] =
    &[("terraform", "GROMA_TERRAFORM"), ("terraform", "GROMA_TERRAFORM_1_11"), ("opentofu", "GROMA_TOFU")];

struct Run {
    terraform: PathBuf,
    folder: tempfile::TempDir,
    only_v5: bool,
}

struct Output {
    ok: bool,
    text: String,
}

fn runs_our_plugins() {
    let named = |(product, name): &(&'static str, &str)| Some((*product, PathBuf::from(std::env::var_os(name)?)));
    let found: Vec<(&str, PathBuf)> = HOSTS.iter().filter_map(named).collect();
    if found.is_empty() {
        println!("skipped: no terraform");
        return;
    }
    let mut failed = Vec::new();
    for (product, program) in found {
        for only_v5 in [false, true] {
            let run = Run::new(&program, only_v5);
            let title = format!("{product} {} protocol {}", run.version(), if only_v5 { 5 } else { 6 });
            for (name, step) in STEPS {
                let result = match *name {
                    name if SINCE_1_12.contains(&name) && run.version().starts_with("1.11") => "-",
                    _ if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| step(&run))).is_ok() => "ok",
                    _ => {
                        failed.push(format!("{title}: {name}"));
                        "FAILED"
                    }
                };
                println!("  {title:<32} {name:<20} {result}");
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

impl Run {
    fn new(terraform: &Path, only_v5: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plugin = folder.path().join("terraform-provider-demo");
        let program = std::env::current_exe().unwrap();
        if only_v5 {
            // Terraform offers both versions; the wrapper makes the plugin see only version 5.
            let text = format!("PLUGIN_PROTOCOL_VERSIONS=5 exec {}", program.display());
            script(folder.path(), "terraform-provider-demo", &text);
        } else {
            std::os::unix::fs::symlink(program, plugin).unwrap();
        }
        let settings = format!(
            "provider_installation {{\n  dev_overrides {{ \"example/demo\" = \"{}\" }}\n  direct {{}}\n}}\n",
            folder.path().display()
        );
        std::fs::write(folder.path().join("settings.tfrc"), settings).unwrap();
        Self { terraform: terraform.to_owned(), folder, only_v5 }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.terraform);
        command
            .current_dir(self.folder.path())
            .env("TF_CLI_CONFIG_FILE", self.folder.path().join("settings.tfrc"))
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_IN_AUTOMATION", "1");
        if self.only_v5 {
            command.env(ONLY_V5, "1");
        }
        command
    }

    fn terraform(&self, arguments: &[&str]) -> Output {
        let output = self.command().args(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Output { ok: output.status.success(), text }
    }

    fn good(&self, arguments: &[&str]) -> String {
        let output = self.terraform(arguments);
        assert!(output.ok, "{arguments:?}: {}", output.text);
        output.text
    }

    fn version(&self) -> String {
        let output = self.command().args(["version", "-json"]).output().unwrap();
        let json: Json = serde_json::from_slice(&output.stdout).unwrap();
        json["terraform_version"].as_str().unwrap().to_owned()
    }

    fn configure(&self, body: &str) {
        let text = format!(
            "terraform {{\n  required_providers {{ demo = {{ source = \"example/demo\" }} }}\n}}\n\
             provider \"demo\" {{\n  region = \"here\"\n  retry {{ tries = 3 }}\n}}\n{body}\n"
        );
        std::fs::write(self.folder.path().join("main.tf"), text).unwrap();
    }

    /// The configuration that most steps use.
    fn configure_resource(&self, arguments: &str) {
        let parts = if self.only_v5 { "" } else { "parts = [{ label = \"a\", weight = 0.1 }, { label = \"b\" }]" };
        self.configure(&format!(
            "resource \"demo_thing\" \"a\" {{\n  tags = {{ x = \"y\" }}\n  anything = {{ n = 12345678901234567890 }}\n  \
             {parts}\n  {arguments}\n  rule {{ port = 80 }}\n  rule {{ port = 443 }}\n}}"
        ));
    }

    fn apply(&self) -> String {
        self.good(&["apply", "-auto-approve", "-no-color"])
    }

    fn instance(&self) -> Json {
        let state = std::fs::read_to_string(self.folder.path().join("terraform.tfstate")).unwrap();
        let state: Json = serde_json::from_str(&state).unwrap();
        state["resources"][0]["instances"][0].clone()
    }
}

fn plan(run: &Run) {
    run.configure_resource("name = \"one\"\n kind = \"k\"\n size = 1.5\n secret = \"abcd\"");
    let text = run.good(&["plan", "-no-color", "-out=saved"]);
    assert!(text.contains("1 to add") && text.contains("(known after apply)"), "{text}");
}

fn apply(run: &Run) {
    run.good(&["apply", "-no-color", "saved"]);
    let attributes = run.instance()["attributes"].clone();
    assert_eq!(attributes["name"], "one");
    assert_eq!(attributes["size"], 1.5);
    // More digits than a 64-bit float holds: numbers must pass without rounding.
    assert_eq!(attributes["anything"]["value"]["n"].to_string(), "12345678901234567890");
    assert_eq!(attributes["rule"].as_array().unwrap().len(), 2);
    if !run.only_v5 {
        assert_eq!(attributes["parts"][0]["weight"].to_string(), "0.1");
    }
}

fn no_op(run: &Run) {
    run.good(&["plan", "-no-color", "-detailed-exitcode"]);
}

fn update(run: &Run) {
    run.configure_resource("name = \"two\"\n kind = \"k\"\n secret = \"abcd\"");
    let id = run.instance()["attributes"]["id"].clone();
    assert!(run.apply().contains("1 changed"));
    assert_eq!(run.instance()["attributes"]["name"], "two");
    assert_eq!(run.instance()["attributes"]["id"], id);
}

fn replace(run: &Run) {
    run.configure_resource("name = \"two\"\n kind = \"other\"\n secret = \"abcd\"");
    let text = run.apply();
    assert!(text.contains("1 added, 0 changed, 1 destroyed"), "{text}");
}

fn write_only(run: &Run) {
    let attributes = run.instance()["attributes"].clone();
    assert_eq!(attributes["secret"], Json::Null);
    assert_eq!(attributes["secret_length"], 4);
}

/// The provider itself checks that its private data is returned; this checks only that it is stored.
fn private_data(run: &Run) {
    assert!(run.instance()["private"].as_str().is_some_and(|private| !private.is_empty()));
    run.good(&["apply", "-refresh-only", "-auto-approve"]);
}

fn identity(run: &Run) {
    let instance = run.instance();
    assert_eq!(instance["identity"]["id"], instance["attributes"]["id"]);
}

/// Adds `expression` as an output; the resource keeps the configuration non-empty.
fn output(run: &Run, expression: &str) -> Output {
    run.configure(&format!("output \"o\" {{ value = {expression} }}"));
    run.terraform(&["plan", "-no-color"])
}

fn function(run: &Run) {
    let found = output(run, "provider::demo::join(\"a\", \"b\", \"c\")");
    assert!(found.ok && found.text.contains("\"a-b-c\""), "{}", found.text);
}

fn function_error(run: &Run) {
    let found = output(run, "provider::demo::join(\"bad\")");
    assert!(!found.ok && found.text.contains("bad is not joined"), "{}", found.text);
}

fn data_source(run: &Run) {
    run.configure("data \"demo_lookup\" \"d\" { key = \"k\" }\noutput \"o\" { value = data.demo_lookup.d.found }");
    let text = run.good(&["plan", "-no-color"]);
    assert!(text.contains("\"found k\""), "{text}");
}

fn ephemeral(run: &Run) {
    run.configure_resource("name = \"two\"\n kind = \"newer\"\n secret = ephemeral.demo_token.t.token");
    let file = run.folder.path().join("more.tf");
    std::fs::write(&file, "ephemeral \"demo_token\" \"t\" { user = \"u\" }\n").unwrap();
    run.apply();
    std::fs::remove_file(file).unwrap();
    assert_eq!(run.instance()["attributes"]["secret_length"], "computed-token".len());
}

fn import(run: &Run) {
    run.good(&["state", "rm", "demo_thing.a"]);
    run.configure_resource("name = \"name of x7\"");
    run.good(&["import", "demo_thing.a", "x7"]);
    assert_eq!(run.instance()["attributes"]["id"], "x7");
}

fn import_by_identity(run: &Run) {
    run.good(&["state", "rm", "demo_thing.a"]);
    let block = "import {\n  to = demo_thing.a\n  identity = { id = \"x8\" }\n}\n";
    let file = run.folder.path().join("import.tf");
    std::fs::write(&file, block).unwrap();
    let text = run.apply();
    std::fs::remove_file(file).unwrap();
    assert!(text.contains("1 imported"), "{text}");
    assert_eq!(run.instance()["attributes"]["id"], "x8");
}

fn panicked(run: &Run) {
    run.configure_resource("name = \"panic\"");
    let found = run.terraform(&["apply", "-auto-approve", "-no-color"]);
    assert!(!found.ok && found.text.contains("a provider's panic"), "{}", found.text);
}

fn destroy(run: &Run) {
    let text = run.good(&["destroy", "-auto-approve", "-no-color"]);
    assert!(text.contains("1 destroyed"), "{text}");
}

fn reattach(run: &Run) {
    use std::io::{BufRead, BufReader};
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("-debug").stdout(std::process::Stdio::piped());
    if run.only_v5 {
        command.env(ONLY_V5, "1").env("PLUGIN_PROTOCOL_VERSIONS", "5");
    }
    let mut plugin = command.spawn().unwrap();
    let lines = BufReader::new(plugin.stdout.take().unwrap()).lines();
    let line = lines.map_while(Result::ok).find(|line| line.contains("TF_REATTACH_PROVIDERS='")).unwrap();
    let value = line.trim().trim_start_matches("TF_REATTACH_PROVIDERS='").trim_end_matches('\'').to_owned();
    run.configure_resource("name = \"attached\"");
    let output = run.command().env("TF_REATTACH_PROVIDERS", value).args(["plan", "-no-color"]).output().unwrap();
    // In debug mode the host must leave the process running.
    let still_there = plugin.try_wait().unwrap().is_none();
    plugin.kill().unwrap();
    plugin.wait().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(still_there);
}
