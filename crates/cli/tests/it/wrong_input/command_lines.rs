//! Command lines that are wrong, or lack something.

use serde_json::Value as Json;

use super::*;

#[test]
fn missing_files_and_unknown_flags() {
    let folder = folder(ONE);
    refuses(&folder, &["plan", "-var-file=nope.tfvars"], "Failed to read variables file", "nope.tfvars does not exist");
    refuses(&folder, &["plan", "-out=no/such/p"], "Failed to write plan file", "not saved in no/such/p");
    refuses(&folder, &["plan", "-nosuch"], "Failed to parse command-line flags", "plan -help");
    refuses(&folder, &["plan", "-parallelism=x"], "Failed to parse command-line flags", "invalid value \"x\"");
    refuses(&folder, &["plan", "-target=a b"], "Invalid target", "");
    refuses(&folder, &["plan", "-replace=nothing"], "Invalid force-replace address", "");
    refuses(&folder, &["plan", "-var", "x"], "", "");
    refuses(&folder, &["plan", "-var", "x=1"], "Value for undeclared variable", "add a variable block");
    refuses(&folder, &["plan", "-out=no/such/folder/p"], "", "no such file or directory");
    let ran = folder.run(&["-chdir=nope", "plan"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("nope"), "{}", ran.err);
    folder.write("bad.tfvars", "x = [1,\n");
    refuses(&folder, &["plan", "-var-file=bad.tfvars"], "", "bad.tfvars line");
    folder.write("terraform.tfvars", "\"unfinished");
    refuses(&folder, &["plan"], "", "terraform.tfvars line 1");
    assert!(!folder.path(STATE).exists());
}

/// As Terraform 1.15 says it: exit code and summary.
#[test]
fn invalid_command_lines() {
    let folder = built();
    // Nothing may be written for any of these command lines.
    let before = everything(&folder);
    let cases: [(&[&str], &str); 42] = [
        (&["plna"], "Did you mean \"plan\"?"),
        (&["aply"], "Did you mean \"apply\"?"),
        (&["fm"], "Did you mean \"fmt\"?"),
        (&["plan", "extra"], "Error: Too many command line arguments"),
        (&["apply", "a", "b"], "Error: Too many command line arguments"),
        (&["show", "a", "b"], "Error: Too many command line arguments"),
        (&["output", "a", "b"], "Error: Unexpected argument"),
        (&["plan", "-nosuch"], "Error: Failed to parse command-line flags"),
        (&["state", "list", "-nosuch"], "Error: Failed to parse command-line flags"),
        (&["plan", "-out"], "Error: Failed to parse command-line flags"),
        (&["plan", "-parallelism=x"], "Error: Failed to parse command-line flags"),
        (&["plan", "-parallelism=-1"], "Error: Invalid parallelism value"),
        (&["plan", "-refresh=maybe"], "Error: Failed to parse command-line flags"),
        (&["plan", "-lock-timeout=5"], "Error: Failed to parse command-line flags"),
        (&["plan", "-target=foo"], "Error: Invalid target \"foo\""),
        (&["plan", "-target="], "Error: Invalid target \"\""),
        (&["plan", "-target=terraform_data.a[0"], "Error: Invalid target \"terraform_data.a[0\""),
        (&["plan", "-target=var.x"], "Error: Invalid target \"var.x\""),
        (&["plan", "-target=resource.x"], "Error: Invalid target \"resource.x\""),
        (&["plan", "-replace=local.x"], "Error: Invalid force-replace address \"local.x\""),
        (&["init", "-cloud", "-backend=false"], "Error: Invalid init options"),
        (&["refresh", "extra"], "Error: Too many command line arguments"),
        (&["plan", "-replace=foo"], "Error: Invalid force-replace address \"foo\""),
        (&["plan", "-replace=terraform_data"], "Error: Invalid force-replace address \"terraform_data\""),
        (&["plan", "-replace=module.x"], "Error: Invalid force-replace address \"module.x\""),
        (&["plan", "-replace=data.x.y"], "Error: Invalid force-replace address \"data.x.y\""),
        (&["plan", "-destroy", "-refresh-only"], "Error: Incompatible plan mode options"),
        (&["plan", "-refresh-only", "-refresh=false"], "Error: Incompatible refresh options"),
        (&["plan", "-invoke=action.a.b", "-replace=terraform_data.a"], "Error: Unsupported plan mode"),
        (&["plan", "-var", "=1"], "Error: Value for undeclared variable"),
        (&["plan", "-var", "a b=1"], "Error: Value for undeclared variable"),
        (&["apply", "nofile"], "Error: Failed to load \"nofile\" as a plan file"),
        (&["apply", "main.tf"], "Error: Failed to load \"main.tf\" as a plan file"),
        (&["show", "main.tf"], "Error: Failed to read the given file as a state or plan file"),
        (&["show", "nofile"], "Error: Failed to read the given file as a state or plan file"),
        (&["-chdir=nope", "plan"], "Error handling -chdir option: chdir nope: "),
        (&["-chdir", "plan"], "Invalid -chdir option: "),
        (&["-no-color", "plan"], "If it is an option of \"plan\", put it after the command."),
        (&["state", "rm", "terraform_data.none"], "Error: Invalid target address"),
        (&["taint", "terraform_data.none"], "Error: No such resource instance"),
        (&["import", "terraform_data.a"], "Error: Wrong number of arguments"),
        (&["workspace", "delete", "default"], "Workspace \"default\" is your active workspace"),
    ];
    for (arguments, summary) in cases {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}\n{}{}", ran.out, ran.err);
        assert!(ran.err.contains(summary), "{arguments:?}: no {summary:?} in\n{}", ran.err);
        assert_eq!(ran.out, "", "{arguments:?}: errors go to standard error");
    }
    for group in ["state", "workspace", "metadata"] {
        let ran = folder.run(&[group]);
        assert_eq!((ran.code, &*ran.err), (1, ""), "{group}: nothing was asked for");
        assert!(ran.out.contains("Usage: terraform"), "{group}: {}", ran.out);
    }
    // Terraform's code for a command that it does not know.
    let ran = folder.run(&["-nope"]);
    assert_eq!((ran.code, &*ran.out), (127, ""), "nothing says what is to be done");
    assert!(ran.err.contains("Unknown option \"-nope\" before the command."), "{}", ran.err);
    assert_eq!(everything(&folder), before);
}

#[test]
fn flag_errors_are_json_messages_with_json() {
    let folder = built();
    for command in ["plan", "apply", "destroy", "refresh", "init"] {
        let ran = folder.run(&[command, "-json", "-nosuch"]);
        assert_eq!((ran.code, &*ran.err), (1, ""), "{command}");
        let kinds: Vec<String> = ran
            .out
            .lines()
            .map(|line| serde_json::from_str::<Json>(line).unwrap()["type"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(kinds, ["version", "diagnostic"], "{command}: {}", ran.out);
    }
}

#[test]
fn reports_all_variable_errors_together() {
    let folder = folder("variable \"a\" {}\nvariable \"b\" {}\n");
    let said = folder.fails(&["plan", "-input=false", "-var=c=1"]);
    assert_eq!(said.matches("Error: Value for undeclared variable").count(), 1, "{said}");
    assert_eq!(said.matches("Error: No value for required variable").count(), 2, "{said}");
}

#[test]
fn missing_variables() {
    let folder = folder("variable \"need\" {}\noutput \"o\" {\n  value = var.need\n}\n");
    let summary = "No value for required variable";
    refuses(&folder, &["plan", "-input=false"], summary, "TF_VAR_need");
    refuses(&folder, &["apply", "-input=false", "-auto-approve"], summary, "TF_VAR_need");
    // The input ends at the question.
    refuses(&folder, &["plan"], summary, "TF_VAR_need");
    assert!(!folder.path(STATE).exists());
}

#[test]
fn invalid_variable_value_names_its_source() {
    let main = "variable \"n\" {\n  type = number\n}\nvariable \"secret\" {\n  type      = number\n  default   = 1\n  sensitive = true\n}\n";
    let summary = "Invalid value for input variable";
    let set = folder(main).with("TF_VAR_n", "many");
    refuses(&set, &["plan"], summary, "a number is required. The value comes from the environment variable TF_VAR_n.");
    let written = folder(main);
    written.write("terraform.tfvars", "n      = 1\nsecret = \"hidden\"\n");
    refuses(&written, &["plan"], summary, "The value comes from the file \"terraform.tfvars\".");
    assert!(!written.fails(&["plan"]).contains("hidden"));
}

#[test]
fn missing_approval() {
    for (build, arguments) in [(false, &["apply"][..]), (true, &["destroy"]), (true, &["apply", "-destroy"])] {
        let folder = if build { built() } else { folder(ONE) };
        let before = everything(&folder);
        refuses(&folder, arguments, "error asking for approval: EOF", "-auto-approve");
        // Only the exact word approves: neither a sentence that begins with it nor an empty answer.
        for answer in ["no\n", "yes please\n", "\n", "\u{7}\u{0}\n"] {
            let ran = folder.run_with_input(arguments, answer);
            assert_eq!(ran.code, 1, "{answer:?}");
            assert!(ran.out.contains(" cancelled."), "{answer:?}\n{}", ran.out);
        }
        refuses(&folder, &[arguments, &["-input=false"]].concat(), "", "-auto-approve");
        assert_eq!(everything(&folder), before, "{arguments:?}");
    }
}

#[test]
fn empty_arguments_count_as_absent() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n}\n\noutput \"o\" {\n  value = 1\n}\n");
    // Scripts pass empty arguments where a variable has no value.
    folder.ok(&["apply", "-auto-approve", ""]);
    assert_eq!(folder.ok(&["output", ""]), "o = 1\n");
    assert_eq!(folder.ok(&["show", ""]), folder.ok(&["show"]));
    assert!(folder.ok(&["validate", ""]).contains("Success!"));
    folder.write("main.tf", "locals {\na=1\n}\n");
    assert_eq!(folder.ok(&["fmt", ""]), "main.tf\n");
    folder.ok(&["destroy", "-auto-approve", "-destroy=false", ""]);
    folder.ok(&["init", "-cloud=false"]);
}

#[test]
fn mode_errors_of_destroy_and_refresh_are_json_messages() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n}\n");
    for (arguments, summary) in [
        (&["destroy", "-json", "-refresh-only", "-auto-approve"][..], "Invalid mode option"),
        (&["destroy", "-json", "-destroy", "-auto-approve"], "Invalid mode option"),
        (&["refresh", "-json", "extra"], "Too many command line arguments"),
    ] {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, &*ran.err), (1, ""), "{arguments:?}");
        assert!(ran.out.contains(&format!("\"summary\":\"{summary}\"")), "{arguments:?}\n{}", ran.out);
    }
}

#[test]
fn invalid_cli_args_variable_is_named() {
    let folder = Folder::new().with("TF_CLI_ARGS_plan", "\"-no-color");
    assert!(folder.fails(&["plan"]).contains("Error parsing extra CLI args from TF_CLI_ARGS_plan: "));
}

#[test]
fn list_resource_is_not_a_valid_target() {
    let folder = built();
    // A target may be what does not exist, as far as it is written as one.
    assert!(folder.ok(&["plan", "-target=list.a.b"]).contains("No changes."));
    refuses(&folder, &["plan", "-target=list.a"], "Invalid target \"list.a\"", "a resource type and a name");
    refuses(&folder, &["plan", "-replace=list.a.b"], "Invalid force-replace address", "Only managed resources");
    refuses(&folder, &["state", "rm", "list.a.b"], "Invalid target address", "No matching objects");
    refuses(&folder, &["state", "mv", "terraform_data.a", "list.a.b"], "Invalid state move request", "");
}
