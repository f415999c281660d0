//! What is wrong with provider blocks with `for_each`, with the keys that choose among their instances, and with instances that go
//! before their objects.

use groma_engine::Mode;

use crate::support::labelled::{OBJECTS, PROVIDER_INSTANCES, REQUIRED, errors, managers, only_error, project, set};

#[test]
fn unknown_key_is_reported_with_the_existing_keys() {
    let (mut project, _) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    set(&mut project, "objects", &[("one", "zz")]);
    let error = only_error(&mut project);
    assert!(error.starts_with("Provider instance not present: test_object.o[\"one\"] uses"), "{error}");
    assert!(error.contains("by[\"zz\"]") && error.contains("has only the keys \"a\", \"b\". Add"), "{error}");
    set(&mut project, "places", &[]);
    assert!(only_error(&mut project).contains("has no elements."));
}

#[test]
fn a_key_is_known_and_no_secret() {
    let said = |key: &str| {
        let main = format!(
            "{PROVIDER_INSTANCES}variable \"hidden\" {{\n  default   = \"a\"\n  sensitive = true\n}}\nvariable \"passing\" {{\n  default   = \
             \"a\"\n  ephemeral = true\n}}\nresource \"test_object\" \"first\" {{\n  provider = test.by[\"a\"]\n  name = \
             \"first\"\n}}\nresource \"test_object\" \"o\" {{\n  provider = test.by[{key}]\n  name = \"o\"\n}}\n"
        );
        let (mut project, _) = project(&main);
        only_error(&mut project)
    };
    for (key, problem) in [
        ("test_object.first.id", "is known only after apply"),
        ("var.hidden", "derived from a sensitive value"),
        ("var.passing", "derived from an ephemeral value"),
        ("null", "cannot be null"),
        ("[\"a\"]", "must be a string, not a value of type tuple"),
    ] {
        let error = said(key);
        assert!(error.starts_with("Invalid provider instance key: ") && error.contains(problem), "{error}");
    }
    // Numbers are texts as elsewhere.
    let (mut project, _) = project(&format!(
        "{PROVIDER_INSTANCES}resource \"test_object\" \"o\" {{\n  provider = test.by[7]\n  name = \"o\"\n}}\n"
    ));
    set(&mut project, "places", &[("7", "x")]);
    project.apply();
    assert_eq!(managers(&project.state), ["test_object.o: [\"7\"]"]);
}

#[test]
fn the_elements_are_known_and_no_secret() {
    let said = |for_each: &str| {
        let main = format!(
            "variable \"hidden\" {{\n  default   = [\"a\"]\n  sensitive = true\n}}\nprovider \"test\" {{\n  alias = \"by\"\n  for_each = \
             {for_each}\n}}\nresource \"test_object\" \"o\" {{\n  provider = test.by[\"a\"]\n  name = \"o\"\n}}\n"
        );
        let (mut project, _) = project(&main);
        let error = only_error(&mut project);
        error.split_once(": ").unwrap().0.to_owned()
    };
    for for_each in ["toset(var.hidden)", "null", "[\"a\"]", "toset([timestamp()])"] {
        assert_eq!(said(for_each), "Invalid for_each argument", "{for_each}");
    }
    assert_eq!(said("toset([1])"), "Invalid for_each set argument");
    // What a provider is configured with is of one instance.
    let (mut project, notes) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    set(&mut project, "places", &[("a", "x")]);
    set(&mut project, "objects", &[("one", "a")]);
    project.rewrite(&format!(
        "{REQUIRED}{}",
        format!("{PROVIDER_INSTANCES}{OBJECTS}").replace("\"${each.key}-${each.value}\"", "\"broken\"")
    ));
    assert!(only_error(&mut project).starts_with("Broken label"));
    assert_eq!(notes.take(), ["configure broken"]);
}

/// Rules of providers that stay: LC and PL rules say nothing of instances, the oracle is OpenTofu.
#[test]
fn a_provider_instance_stays_until_its_objects_are_destroyed() {
    let (mut project, notes) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    project.apply();
    notes.take();
    // Both go at once: there is nobody who could destroy the object.
    set(&mut project, "places", &[("a", "x")]);
    set(&mut project, "objects", &[("one", "a")]);
    let error = only_error(&mut project);
    assert!(error.starts_with("Provider instance not present: test_object.o[\"two\"] requires"), "{error}");
    assert!(
        error.contains("by[\"b\"]") && error.contains("has only the key \"a\". A provider configuration must exist"),
        "{error}"
    );
    project.options.mode = Mode::Destroy;
    assert!(only_error(&mut project).starts_with("Provider instance not present: test_object.o[\"two\"]"));
    project.options.mode = Mode::Normal;

    // One after the other it works.
    set(&mut project, "places", &[("a", "x"), ("b", "y")]);
    assert_eq!(project.apply(), ["test_object.o[\"two\"]: delete (delete_because_each_key)"]);
    assert!(notes.take().contains(&"delete two at b-y".to_owned()));
    set(&mut project, "places", &[("a", "x")]);
    assert!(project.apply().is_empty());
}

#[test]
fn a_provider_block_that_gets_or_loses_its_for_each_says_what_its_objects_need() {
    let (mut project, _) = project(&format!("{PROVIDER_INSTANCES}{OBJECTS}"));
    project.apply();
    let single = "provider \"test\" {\n  alias = \"by\"\n  label = \"single\"\n}\n";
    project.rewrite(&format!("{REQUIRED}{single}"));
    let all = errors(&mut project);
    assert!(
        all.len() == 2 && all.iter().all(|error| error.contains("provider block no longer has for_each")),
        "{all:#?}"
    );

    // A block that stays goes on with the configuration that it names.
    let objects = OBJECTS.replace("test.by[each.value]", "test.by");
    project.rewrite(&format!("{REQUIRED}{single}{objects}"));
    project.apply();
    assert_eq!(managers(&project.state), ["test_object.o[\"one\"]: ", "test_object.o[\"two\"]: "]);
    project.rewrite(&format!("{REQUIRED}{PROVIDER_INSTANCES}"));
    let all = errors(&mut project);
    assert!(all.len() == 2 && all.iter().all(|error| error.contains("before that block had for_each")), "{all:#?}");
    project.rewrite(&format!("{REQUIRED}provider \"test\" {{}}\n"));
    assert!(errors(&mut project).iter().all(|error| error.starts_with("Provider configuration not present")));
}

#[test]
fn validation_without_values_reports_impossible_expressions() {
    let summaries = |main: &str| -> Vec<String> {
        let (project, _) = project(main);
        project.validate().into_iter().map(|problem| problem.summary).collect()
    };
    assert!(summaries(&format!("{PROVIDER_INSTANCES}{OBJECTS}")).is_empty());
    let configuration = PROVIDER_INSTANCES.replace("for_each = var.places", "for_each = [\"a\"]");
    assert_eq!(summaries(&format!("{configuration}{OBJECTS}")), ["Invalid for_each argument"]);
    let configuration = PROVIDER_INSTANCES.replace("label    =", "lable    =");
    assert_eq!(summaries(&format!("{configuration}{OBJECTS}")), ["Unsupported argument"]);
}

#[test]
fn failed_provider_configuration_of_orphans_is_reported_once() {
    let provider = |label: &str| format!("provider \"test\" {{\n  label = \"{label}\"\n}}\n");
    let object = "resource \"test_object\" \"o\" {\n  name = \"o\"\n}\n";
    let (mut project, _) = project(&format!("{}{object}", provider("good")));
    project.apply();
    project.rewrite(&format!("{REQUIRED}{}", provider("broken")));
    let error = only_error(&mut project);
    assert!(error.starts_with("Broken label"), "{error}");
}
