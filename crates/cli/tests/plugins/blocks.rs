//! Errors in blocks that only provider schemas reveal.

use super::folder;

const REQUIRED: &str = "terraform {\n  required_providers {\n    trouble = { source = \"example/trouble\" }\n  }\n}\n";

/// Nothing uses the provider, so that nobody misses what its block lacks: a warning tells of it, and the rest is planned.
pub(crate) fn unused_providers() {
    let folder = folder("good");
    let unused = format!("{REQUIRED}provider \"trouble\" {{\n  nope = var.missing\n}}\n");
    folder.write("main.tf", &format!("{unused}resource \"terraform_data\" \"x\" {{}}\n"));
    for command in ["validate", "plan"] {
        let reported = folder.ok(&[command]);
        assert!(reported.contains("Warning: Unsupported argument"), "{command}: {reported}");
    }
    // Errors in the value of an unknown argument would only follow from it.
    assert!(!folder.ok(&["validate"]).contains("Reference to undeclared"));
    folder.write("main.tf", &format!("{unused}resource \"trouble_thing\" \"x\" {{\n  name = \"good\"\n}}\n"));
    let reported = folder.fails(&["plan"]);
    assert!(
        reported.contains("Error: Unsupported argument") && !reported.contains("Reference to undeclared"),
        "{reported}"
    );
    // An object of the state uses it, though no block does any more.
    folder.write("main.tf", &format!("{REQUIRED}resource \"trouble_thing\" \"x\" {{\n  name = \"good\"\n}}\n"));
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &format!("{REQUIRED}provider \"trouble\" {{\n  nope = 1\n}}\n"));
    assert!(folder.ok(&["validate"]).contains("Warning: Unsupported argument"));
    assert!(folder.fails(&["plan"]).contains("Error: Unsupported argument"));
}

/// The schemas of all kinds of types are reported, each kind under its own name.
pub(crate) fn schemas() {
    let folder = folder("good");
    folder.write("main.tf", &format!("{REQUIRED}provider \"trouble\" {{}}\n"));
    let reported: serde_json::Value = serde_json::from_str(&folder.ok(&["providers", "schema", "-json"])).unwrap();
    let trouble = &reported["provider_schemas"]["registry.terraform.io/example/trouble"];
    assert_eq!(trouble["resource_schemas"]["trouble_thing"]["version"], 0, "{trouble}");
    let text = &trouble["action_schemas"]["trouble_note"]["block"]["attributes"]["text"];
    assert_eq!((&text["type"], &text["required"]), (&"string".into(), &true.into()), "{trouble}");
    assert!(trouble["action_schemas"]["trouble_note"].get("version").is_none());
    assert!(trouble.get("list_resource_schemas").is_none(), "kinds without types are omitted");
}

/// What `count`, `for_each` and `provider` of actions cannot be, and what `ignore_changes` cannot name.
pub(crate) fn wrong_arguments() {
    let folder = folder("good");
    let action = |arguments: &str| {
        format!("action \"trouble_note\" \"a\" {{\n  {arguments}\n  config {{\n    text = \"x\"\n  }}\n}}\n")
    };
    let resource = |ignored: &str| {
        format!(
            "resource \"trouble_thing\" \"x\" {{\n  name = \"good\"\n  lifecycle {{\n    ignore_changes = [{ignored}]\n  }}\n}}\n"
        )
    };
    for (text, reported) in [
        (action("for_each = [\"a\"]"), "Invalid for_each argument"),
        (action("count = \"x\""), "Incorrect value type"),
        (action("provider = trouble.nope"), "Provider configuration not present"),
        (resource("name[\"x\"]"), "Invalid index"),
        (resource("name.x"), "Unsupported attribute"),
    ] {
        folder.write("main.tf", &format!("{REQUIRED}{text}"));
        let said = folder.fails(&["validate"]);
        assert!(said.contains(&format!("Error: {reported}")), "{text}{said}");
    }
    folder.write("main.tf", &format!("{REQUIRED}{}", resource("name, after")));
    folder.ok(&["validate"]);
}

/// The document of a plan says nothing of ephemeral resources: neither of their values nor of their blocks.
pub(crate) fn ephemeral_resources() {
    let folder = folder("good");
    let blocks = "ephemeral \"trouble_token\" \"t\" {\n}\nresource \"trouble_thing\" \"x\" {\n  name = \"good\"\n}\n";
    folder.write("main.tf", &format!("{REQUIRED}{blocks}"));
    folder.ok(&["plan", "-out=p"]);
    let plan: serde_json::Value = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    let resources = plan["configuration"]["root_module"]["resources"].as_array().unwrap();
    let addresses: Vec<&serde_json::Value> = resources.iter().map(|block| &block["address"]).collect();
    assert_eq!(addresses, ["trouble_thing.x"]);

    let condition = "postcondition {\n  condition = self.id != \"\"\n  error_message = \"no id\"\n}\n";
    let blocks = blocks.replace("\"t\" {\n", &format!("\"t\" {{\nlifecycle {{\n{condition}}}\n"));
    folder.write("main.tf", &format!("{REQUIRED}{blocks}"));
    folder.ok(&["plan", "-out=p"]);
    let plan: serde_json::Value = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    let address = &plan["checks"][0]["address"];
    assert_eq!(
        (&address["mode"], &address["type"], &address["name"]),
        (&"ephemeral".into(), &"trouble_token".into(), &"t".into())
    );
}
