//! The same steps with this program and with Terraform, where one is found: the same texts, documents and states.
//!
//! `GROMA_TERRAFORM` names a Terraform 1.15 to hold against; without it the tests say that they were skipped.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::path::PathBuf;

use common::{Folder, Ran};
use serde_json::Value as Json;

/// Both programs, side by side.
struct Pair {
    groma: Folder,
    terraform: Folder,
}

impl Pair {
    /// Nothing when there is no Terraform to hold against.
    fn new() -> Option<Self> {
        let Some(terraform) = std::env::var_os("GROMA_TERRAFORM").map(PathBuf::from) else {
            println!("skipped: no terraform");
            return None;
        };
        Some(Self { groma: Folder::new(), terraform: Folder::for_program(&terraform).with("TF_CLI_ARGS", "-no-color") })
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        self.groma.write(name, text);
        self.terraform.write(name, text);
        self
    }

    fn init(&self) {
        self.terraform.run(&["init"]);
    }

    fn both(&self, arguments: &[&str], input: &str) -> (Ran, Ran) {
        (self.groma.run_with_input(arguments, input), self.terraform.run_with_input(arguments, input))
    }

    /// Both must say the same on standard output and end the same.
    fn same(&self, arguments: &[&str]) {
        self.same_with_input(arguments, "");
    }

    fn same_with_input(&self, arguments: &[&str], input: &str) {
        let (ours, theirs) = self.both(arguments, input);
        assert_eq!(ours.code, theirs.code, "{arguments:?}\n{}\n{}", ours.err, theirs.err);
        let (ours, theirs) = (even(&ours.out), even(&theirs.out));
        assert!(ours == theirs, "{arguments:?}\n--- terraform\n{theirs}\n--- groma\n{ours}");
    }

    /// Both must print the same document, but for what `leave_out` names at its top.
    fn same_document(&self, arguments: &[&str], leave_out: &[&str]) {
        let (ours, theirs) = self.both(arguments, "");
        let document = |ran: &Ran| {
            let mut json: Json = serde_json::from_str(&even_ids(&ran.out)).unwrap();
            let object = json.as_object_mut().unwrap();
            leave_out.iter().for_each(|name| drop(object.remove(*name)));
            serde_json::to_string_pretty(&json).unwrap()
        };
        let (ours, theirs) = (document(&ours), document(&theirs));
        assert!(ours == theirs, "{arguments:?}\n{}", first_difference(&theirs, &ours));
    }

    /// Both must have the same state, but for its serial, which counts writes.
    fn same_state(&self) {
        let state = |folder: &Folder| {
            let text = even_ids(&folder.read("terraform.tfstate"));
            text.lines()
                .filter(|line| !line.starts_with("  \"serial\":"))
                .map(|line| format!("{line}\n"))
                .collect::<String>()
        };
        let (ours, theirs) = (state(&self.groma), state(&self.terraform));
        assert!(ours == theirs, "{}", first_difference(&theirs, &ours));
    }
}

/// The text without what must differ: ids, names of the program, the order of progress.
fn even(text: &str) -> String {
    let text = even_ids(text).replace("groma apply", "terraform apply").replace("groma plan", "terraform plan");
    let mut lines: Vec<&str> = Vec::new();
    let mut progress: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(at) = line.find(" (deposed object ") {
            // The key of a deposed object is made up.
            progress.push(&line[..at]);
        } else if is_progress(line) {
            // How long it took is not to be compared.
            progress.push(line.split(" after ").next().unwrap_or(line));
        } else {
            progress.sort_unstable();
            lines.append(&mut progress);
            lines.push(line);
        }
    }
    progress.sort_unstable();
    lines.append(&mut progress);
    lines.join("\n")
}

fn is_progress(line: &str) -> bool {
    let words =
        ["Refreshing state...", "Creating...", "Creation complete", "Modif", "Destr", "Reading...", "Read complete"];
    !line.starts_with(' ') && words.iter().any(|word| line.contains(&format!(": {word}")))
}

/// The text with the same stand-in for every UUID and time.
fn even_ids(text: &str) -> String {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_uuid = |text: &str| {
        let groups: Vec<&str> = text.split('-').collect();
        groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(|group| is_hex(group))
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.get(..36).is_some_and(is_uuid) {
            out.push_str("ID");
            rest = &rest[36..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

fn first_difference(theirs: &str, ours: &str) -> String {
    let at = theirs.lines().zip(ours.lines()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.lines().skip(at.saturating_sub(8)).take(16).collect::<Vec<_>>().join("\n");
    format!("from line {}\n--- terraform\n{}\n--- groma\n{}", at + 1, around(theirs), around(ours))
}

/// References of outputs are not all listed yet; times differ.
const NOT_COMPARED: [&str; 2] = ["timestamp", "relevant_attributes"];

const BEFORE: &str = r#"
variable "x" {
  type    = string
  default = "one"
}

variable "secret" {
  type      = string
  sensitive = true
  default   = "hush"
}

resource "terraform_data" "object" {
  input = {
    name   = var.x
    list   = ["a", "b", "c", "d"]
    set    = toset(["x", "y", "z"])
    map    = tomap({ k1 = "v1", k2 = "v2", "k 3" = "v3" })
    nest   = { deep = { deeper = [1, 2.5, true, null] } }
    json   = jsonencode({ a = 1, b = [1, 2, 3], c = { d = "e" } })
    lines  = "line one\nline two\nline three\n"
    empty  = ""
    none   = null
    quote  = "a\"b\\c\t"
    secret = var.secret
  }
}

resource "terraform_data" "counted" {
  count = 2
  input = "n${count.index}"
}

resource "terraform_data" "each" {
  for_each = { a = "A", "b c" = "B" }
  input    = each.value
}

resource "terraform_data" "dependent" {
  input            = terraform_data.object.output
  triggers_replace = [terraform_data.object.id, var.x]
}

module "child" {
  source = "./child"
  n      = var.x
}

output "name" {
  value = terraform_data.object.output.name
}

output "secret" {
  value     = var.secret
  sensitive = true
}

output "list" {
  value = [1, "a", true]
}
"#;

const AFTER: &str = r#"
variable "x" {
  type    = string
  default = "two"
}

variable "secret" {
  type      = string
  sensitive = true
  default   = "hush2"
}

resource "terraform_data" "object" {
  input = {
    name   = var.x
    list   = ["a", "x", "c", "d", "e"]
    set    = toset(["x", "y", "w"])
    map    = tomap({ k1 = "v1x", k2 = "v2", "k4" = "v4" })
    nest   = { deep = { deeper = [1, 3, true, null] } }
    json   = jsonencode({ a = 2, b = [1, 3, 4], c = { d = "e", f = null } })
    lines  = "line one\nline 2\nline three\nline four\n"
    empty  = "x"
    none   = 5
    quote  = "a\"b\\c\t"
    secret = var.secret
    new    = var.secret
  }
}

resource "terraform_data" "counted" {
  count = 1
  input = "n${count.index}"
}

resource "terraform_data" "each" {
  for_each = { a = "A", c = "C" }
  input    = each.value
}

resource "terraform_data" "dependent" {
  input            = terraform_data.object.output
  triggers_replace = [terraform_data.object.id, var.x]
  lifecycle {
    create_before_destroy = true
  }
}

moved {
  from = module.child.terraform_data.inner
  to   = terraform_data.outer
}

resource "terraform_data" "outer" {
  input = "one"
}

output "name" {
  value = terraform_data.object.output.name
}

output "list" {
  value = [1, "b", true]
}

check "size" {
  assert {
    condition     = var.x != "two"
    error_message = "x is ${var.x}"
  }
}
"#;

const CHILD: &str = r#"
variable "n" {}

resource "terraform_data" "inner" {
  input = var.n
}
"#;

#[test]
fn a_life_of_creation_change_and_end() {
    let Some(pair) = Pair::new() else { return };
    pair.write("main.tf", BEFORE).write("child/main.tf", CHILD).init();
    pair.same(&["validate"]);
    pair.same(&["plan", "-out=first"]);
    pair.same_document(&["show", "-json", "first"], &NOT_COMPARED);
    pair.same(&["show", "first"]);
    pair.same(&["apply", "first"]);
    pair.same_state();
    pair.same(&["plan", "-detailed-exitcode"]);
    pair.same(&["show"]);
    pair.same_document(&["show", "-json"], &[]);
    for name in ["name", "list", "secret"] {
        pair.same(&["output", name]);
        pair.same(&["output", "-json", name]);
    }
    pair.same(&["output"]);
    pair.same(&["state", "list"]);
    pair.same(&["state", "show", "terraform_data.object"]);
    pair.write("main.tf", AFTER);
    pair.same(&["plan", "-detailed-exitcode"]);
    pair.same(&["plan", "-out=second"]);
    pair.same_document(&["show", "-json", "second"], &NOT_COMPARED);
    pair.same(&["plan", "-replace=terraform_data.outer"]);
    pair.same(&["plan", "-refresh=false"]);
    pair.same(&["apply", "second"]);
    pair.same_state();
    pair.same(&["plan", "-refresh-only"]);
    pair.same(&["apply", "-auto-approve", "-var", "x=three"]);
    pair.same_state();
}

#[test]
fn questions_and_answers() {
    let Some(pair) = Pair::new() else { return };
    pair.write("main.tf", "resource \"terraform_data\" \"a\" {\n  input = 1\n}\noutput \"o\" {\n  value = 1\n}\n")
        .init();
    for answer in ["no\n", "\n", ""] {
        pair.same_with_input(&["apply"], answer);
    }
    pair.same_with_input(&["apply"], "yes\n");
    pair.same_with_input(&["apply"], "");
    pair.same_with_input(&["destroy"], "no\n");
    pair.same_with_input(&["destroy"], "yes\n");
    pair.same_state();
}

#[test]
fn lists_are_aligned_alike() {
    let Some(pair) = Pair::new() else { return };
    let lists: [[&str; 2]; 12] = [
        ["[1, 2, 3]", "[1, 3, 4]"],
        ["[1, 2, 3, 4]", "[2, 3, 4, 1]"],
        ["[1, 1, 2]", "[2, 1, 1]"],
        ["[1, 2, 2]", "[3, 1, 2]"],
        ["[1, 2, 3]", "[1, 1, 2]"],
        ["[{ k = 1 }, { k = 2 }]", "[{ k = 2 }, { k = 1 }]"],
        ["[{ k = 1 }, { k = 2 }, { k = 3 }]", "[{ k = 1 }, { k = 3 }]"],
        ["[\"x\\ny\", \"z\"]", "[\"x\\nw\", \"z\"]"],
        ["[1, 2, 3]", "{ a = 1 }"],
        ["[[1], [2]]", "[[2], [3]]"],
        ["[null, 1]", "[1, null]"],
        ["[1, 2, 3, 4, 5]", "[1, 3, 2, 5, 4]"],
    ];
    let configuration = |side: usize| {
        let block = |(at, list): (usize, &[&str; 2])| {
            format!("resource \"terraform_data\" \"l{at:02}\" {{\n  input = {}\n}}\n", list[side])
        };
        lists.iter().enumerate().map(block).collect::<String>()
    };
    pair.write("main.tf", &configuration(0)).init();
    pair.same(&["apply", "-auto-approve"]);
    pair.write("main.tf", &configuration(1));
    pair.same(&["plan"]);
    pair.same(&["apply", "-auto-approve"]);
    pair.same(&["plan"]);
}

#[test]
fn messages_are_the_same() {
    let Some(pair) = Pair::new() else { return };
    pair.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" {\n  input = 1\n}\noutput \"o\" {\n  value = terraform_data.a.output\n}\n",
    )
    .init();
    let messages = |ran: &Ran| {
        let lines = ran.out.lines().map(|line| {
            let mut json: Json = serde_json::from_str(&even_ids(line)).unwrap();
            json.as_object_mut().unwrap().remove("@timestamp");
            json.to_string()
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    for arguments in [
        &["plan", "-json"][..],
        &["apply", "-json", "-auto-approve"],
        &["plan", "-json"],
        &["plan", "-json", "-destroy"],
        &["apply", "-json"],
    ] {
        let (ours, theirs) = pair.both(arguments, "");
        assert_eq!(ours.code, theirs.code, "{arguments:?}");
        let (ours, theirs) = (messages(&ours), messages(&theirs));
        assert!(ours == theirs, "{arguments:?}\n{}", first_difference(&theirs, &ours));
    }
}
