//! Personas: the product names in text, and what is the same in every persona.

use std::path::Path;

use serde_json::Value;

use crate::common::{Folder, Ran};

const VARIABLE: &str = "GROMA_PERSONA";

/// The values of `GROMA_PERSONA`.
const PERSONAS: [&str; 3] = ["groma", "terraform", "tofu"];

const CONFIGURATION: &str = "resource \"terraform_data\" \"it\" {\n  input = 1\n}\n\noutput \"it\" {\n  value = 2\n}\n";

/// A configuration whose provider is not installed, so that messages suggest to run `init`.
const NOT_INSTALLED: &str = "resource \"null_resource\" \"it\" {\n}\n";

fn folder(configuration: &str, persona: &str) -> Folder {
    let folder = Folder::new().with(VARIABLE, persona);
    folder.write("main.tf", configuration);
    folder
}

/// Creates a folder whose program has the file name `name` and an environment without `GROMA_PERSONA`; `place` puts it there.
fn folder_of(name: &str, place: impl Fn(&Path, &Path)) -> Folder {
    let folder = Folder::new();
    let program = folder.path(&format!("bin/{name}"));
    std::fs::create_dir(folder.path("bin")).unwrap();
    place(Path::new(env!("CARGO_BIN_EXE_groma")), &program);
    folder.write("main.tf", CONFIGURATION);
    folder.also_for(&program).with(VARIABLE, "")
}

/// Returns the text on one line, because names of other lengths break lines elsewhere.
fn on_one_line(text: &str) -> String {
    // The frames of messages have a bar in front of each line.
    text.split(|c: char| c.is_whitespace() || c == '│').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn says(text: &str, parts: &[&str]) {
    let line = on_one_line(text);
    for part in parts {
        assert!(line.contains(part), "{part}\n{text}");
    }
}

/// Checks the names in the output of the commands that people run most.
fn uses_names(folder: &Folder, product: &str, command: &str) {
    let will_perform = format!("{product} will perform the following actions:");
    let used = format!("{product} used the selected providers to generate the following execution plan.");
    let not_saved =
        format!("so {product} can't guarantee to take exactly these actions if you run \"{command} apply\" now.");
    let initialized = format!("{product} has been successfully initialized!");
    let next = format!("Run \"{command} plan\" to preview");
    let unchanged = format!("{product} has compared your real infrastructure against your configuration");
    let destroys = format!("{product} will destroy all your managed infrastructure, as shown above.");
    let help = format!("Usage: {command} plan");

    let mut said = vec![folder.ok(&["init"])];
    says(&said[0], &[&initialized, &next]);
    let plan = folder.ok(&["plan"]);
    says(&plan, &[&used, &will_perform, &not_saved]);
    let apply = folder.ok(&["apply", "-auto-approve"]);
    says(&apply, &[&will_perform, "Apply complete! Resources: 1 added"]);
    let again = folder.ok(&["plan"]);
    says(&again, &[&unchanged]);
    let question = folder.run_with_input(&["destroy"], "no\n");
    says(&question.out, &[&destroys]);
    let usage = folder.ok(&["plan", "-help"]);
    says(&usage, &[&help]);
    let misuse = folder.fails(&["plan", "surplus"]);
    says(&misuse, &[&format!("run: {command} plan -help")]);
    said.extend([plan, apply, again, question.out, usage, misuse]);

    for other in ["Groma", "Terraform", "OpenTofu"] {
        let is_named = said.iter().any(|text| text.contains(other));
        assert_eq!(is_named, other == product, "{other}\n{}", said.join("\n"));
    }
}

#[test]
fn groma_persona_uses_its_own_name() {
    uses_names(&folder(CONFIGURATION, ""), "Groma", "groma");
    uses_names(&folder(CONFIGURATION, "groma"), "Groma", "groma");
    says(&folder(NOT_INSTALLED, "").fails(&["validate"]), &["Missing required provider", "run: groma init"]);
}

#[test]
fn variable_selects_persona() {
    uses_names(&folder(CONFIGURATION, "terraform"), "Terraform", "terraform");
    uses_names(&folder(CONFIGURATION, "tofu"), "OpenTofu", "tofu");
    says(&folder(NOT_INSTALLED, "tofu").fails(&["validate"]), &["Missing required provider", "run: tofu init"]);
}

#[cfg(unix)]
#[test]
fn link_selects_persona() {
    let link = |program: &Path, to: &Path| std::os::unix::fs::symlink(program, to).unwrap();
    uses_names(&folder_of("terraform", link), "Terraform", "terraform");
    // The file name of a link is what users type, so the Groma persona suggests it.
    uses_names(&folder_of("tf", link), "Groma", "tf");
    let overridden = folder_of("terraform", link).with(VARIABLE, "tofu");
    says(&overridden.ok(&["plan"]), &["OpenTofu will perform the following actions:"]);
}

#[test]
fn copy_selects_persona() {
    // By another process: a program that this one has open for writing cannot be started while a child inherits the file.
    let copy = |program: &Path, to: &Path| match cfg!(unix) {
        true => assert!(std::process::Command::new("cp").args([program, to]).status().unwrap().success()),
        false => drop(std::fs::copy(program, to).unwrap()),
    };
    uses_names(&folder_of(&format!("tofu{}", std::env::consts::EXE_SUFFIX), copy), "OpenTofu", "tofu");
}

#[test]
fn personas_differ_only_in_names() {
    let texts = PERSONAS.map(|persona| {
        let folder = folder(CONFIGURATION, persona);
        let runs = [
            folder.run(&["init"]),
            folder.run(&["plan"]),
            folder.run(&["plan", "-out=p"]),
            folder.run(&["plan", "-destroy"]),
            folder.run(&["import", "terraform_data.it", "x"]),
            folder.run(&["plan", "-refresh-only"]),
            folder.run(&["plan", "-target=terraform_data.missing", "surplus"]),
        ];
        let texts = runs.map(|ran| format!("{} {} {}", ran.code, on_one_line(&ran.out), on_one_line(&ran.err)));
        let names = texts.join("\n").replace("Groma", "Terraform").replace("OpenTofu", "Terraform");
        names.replace("groma ", "terraform ").replace("tofu ", "terraform ")
    });
    assert_eq!(texts[0], texts[1]);
    assert_eq!(texts[0], texts[2]);
}

#[test]
fn unknown_persona_is_an_error() {
    let folder = folder(CONFIGURATION, "opentofu");
    let reported = folder.fails(&["plan"]);
    says(&reported, &["Error: Unknown persona", "GROMA_PERSONA is set to \"opentofu\"", "groma, terraform or tofu"]);
    assert_eq!(folder.run(&["version"]).code, 1);
    let ran = folder.run(&["plan", "-json"]);
    assert_eq!(ran.code, 1);
    let last: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert_eq!(last["@message"], "Error: Unknown persona");
}

/// Returns lines of JSON without the members that differ in each run.
fn messages(text: &str) -> Vec<Value> {
    let mut messages: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    for message in &mut messages {
        *message.get_mut("@timestamp").expect("each message has a time") = Value::Null;
        let Some(hook) = message.get_mut("hook") else { continue };
        let id = hook.get("id_value").and_then(Value::as_str).map(str::to_owned);
        for volatile in ["id_value", "elapsed_seconds"] {
            if let Some(member) = hook.get_mut(volatile) {
                *member = Value::Null;
            }
        }
        if let Some(id) = id {
            let shown = message["@message"].as_str().unwrap().replace(&id, "ID");
            message["@message"] = shown.into();
        }
    }
    messages
}

/// Runs a command in a new folder of each persona, and returns what `result` makes of the run, which must be equal.
fn same<T: PartialEq + std::fmt::Debug>(
    configuration: &str,
    arguments: &[&str],
    result: impl Fn(&Folder, Ran) -> T,
) -> T {
    let [ours, terraform, tofu] = PERSONAS.map(|persona| {
        let folder = folder(configuration, persona);
        let ran = folder.run(arguments);
        result(&folder, ran)
    });
    assert_eq!(ours, terraform, "{arguments:?}");
    assert_eq!(ours, tofu, "{arguments:?}");
    ours
}

#[test]
fn json_is_the_same_in_every_persona() {
    for arguments in [
        &["init", "-json"][..],
        &["plan", "-json"],
        &["plan", "-json", "surplus"],
        &["plan", "-json", "-nosuch"],
        &["plan", "-json", "-replace=terraform_data.missing", "-destroy"],
        &["apply", "-json", "-auto-approve"],
        &["destroy", "-json", "-auto-approve"],
    ] {
        let (_, found) = same(CONFIGURATION, arguments, |_, ran| (ran.code, messages(&ran.out)));
        assert!(found.len() > 1, "{arguments:?}");
    }
    let (code, found) = same(NOT_INSTALLED, &["plan", "-json"], |_, ran| (ran.code, messages(&ran.out)));
    assert_eq!(code, 1);
    assert!(found.iter().any(|message| message.to_string().contains("terraform init")), "{found:?}");
    let document = same(NOT_INSTALLED, &["validate", "-json"], |_, ran| ran.out);
    assert!(document.contains("terraform init"), "{document}");
    for arguments in [&["validate", "-json", "-nosuch"][..], &["version", "-json"], &["show", "-json"]] {
        same(CONFIGURATION, arguments, |_, ran| (ran.code, ran.out));
    }
}

#[test]
fn json_into_file_is_the_same_in_every_persona() {
    for arguments in [&["init", "-json-into=file"][..], &["plan", "-json-into=file"]] {
        let found = same(CONFIGURATION, arguments, |folder, ran| (ran.code, messages(&folder.read("file"))));
        assert!(found.1.len() > 1, "{arguments:?}");
    }
    same(NOT_INSTALLED, &["validate", "-json-into=file"], |folder, _| folder.read("file"));
    let folder = folder(CONFIGURATION, "");
    says(&folder.ok(&["init", "-json-into=file"]), &["Groma has been successfully initialized!"]);
    says(&folder.ok(&["plan", "-json-into=file"]), &["Groma will perform the following actions:"]);
}

#[test]
fn plan_document_is_the_same_in_every_persona() {
    same(CONFIGURATION, &["plan", "-out=p"], |folder, _| {
        let mut document: Value = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
        document["timestamp"] = Value::Null;
        document
    });
}

#[test]
fn version_line_and_exit_codes_are_the_same_in_every_persona() {
    let first = same(CONFIGURATION, &["version"], |_, ran| ran.out.lines().next().unwrap().to_owned());
    assert!(first.starts_with("Terraform v1.") && first.contains("(Groma "), "{first}");
    for (arguments, expected) in [
        (&[][..], 127),
        (&["plan", "-detailed-exitcode"], 2),
        (&["plan", "-nosuch"], 1),
        (&["nosuch"], 1),
        (&["state"], 1),
        (&["fmt", "-check"], 0),
        (&["show", "missing"], 1),
    ] {
        assert_eq!(same(CONFIGURATION, arguments, |_, ran| ran.code), expected, "{arguments:?}");
    }
}
