//! Control characters in values: replaced in text, preserved in documents.

use crate::common::Folder;

/// Conceals text, clears the screen by an eight-bit control, turns the direction around, and goes back to the start of the line.
pub const HOSTILE: &str = "a\u{1b}[8mb\u{9b}2Jc\u{202e}d\re\u{7f}f";

/// The same in the language.
pub const ESCAPED: &str = "a\\u001b[8mb\\u009b2Jc\\u202ed\\re\\u007ff";

/// A configuration that has it everywhere: short and in several lines, as a key, as a part of an address, in messages.
pub fn configuration() -> String {
    format!(
        r#"
variable "asked" {{
  description = "{ESCAPED}"
}}

resource "terraform_data" "it" {{
  for_each = toset(["{ESCAPED}"])
  input    = {{ short = "{ESCAPED}", long = "first\n{ESCAPED}\nlast", ("{ESCAPED}") = 1 }}

  provisioner "local-exec" {{
    command = "printf 'one \\033[8m two \\302\\2332J three \\342\\200\\256 four\\n'"
  }}
}}

check "it" {{
  assert {{
    condition     = var.asked == "no"
    error_message = "{ESCAPED}"
  }}
}}

output "short" {{
  value = "{ESCAPED}"
}}

output "long" {{
  value = "first\n{ESCAPED}\nlast"
}}
"#
    )
}

/// Whether a terminal acts on the character.
pub fn acts(character: char) -> bool {
    let turns =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (character.is_control() && !matches!(character, '\n' | '\t')) || turns
}

fn safe(what: &str, text: &str) {
    let found: Vec<char> = text.chars().filter(|character| acts(*character)).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text:?}");
}

#[test]
fn text_output_has_no_control_characters() {
    let folder = Folder::new();
    folder.write("main.tf", &configuration());
    let asked = folder.run_with_input(&["plan"], "yes\n");
    assert_eq!(asked.code, 0, "{}", asked.err);
    assert!(asked.out.contains("a\u{241b}[8mb\u{fffd}2Jc\u{fffd}d\u{240d}e\u{2421}f"), "{}", asked.out);
    safe("plan", &(asked.out + &asked.err));
    let reported = folder.ok(&["apply", "-auto-approve", "-var=asked=yes"]);
    assert!(reported.contains("one \u{241b}[8m two \u{fffd}2J three \u{fffd} four"), "{reported}");
    safe("apply", &reported);
    for arguments in [&["show"][..], &["state", "list"], &["providers"], &["refresh", "-var=asked=yes"]] {
        let ran = folder.run(arguments);
        safe(&format!("{arguments:?}"), &(ran.out + &ran.err));
    }
    let address = folder.ok(&["state", "list"]);
    safe("state show", &folder.run(&["state", "show", address.trim()]).out);
    safe("plan of a destroy", &folder.ok(&["plan", "-destroy", "-var=asked=yes"]));
    safe("a wrong argument", &folder.run(&["plan", &format!("-target={HOSTILE}")]).err);
    safe("an unknown command", &folder.run(&[HOSTILE]).err);
}

#[test]
fn documents_contain_values_byte_for_byte() {
    let folder = Folder::new();
    folder.write("main.tf", &configuration());
    folder.ok(&["apply", "-auto-approve", "-var=asked=yes"]);
    assert_eq!(folder.ok(&["output", "-raw", "short"]), HOSTILE);
    assert_eq!(folder.ok(&["output", "long"]), format!("<<EOT\nfirst\n{HOSTILE}\nlast\nEOT\n"));
    let document: serde_json::Value = serde_json::from_str(&folder.ok(&["output", "-json"])).unwrap();
    assert_eq!(document["short"]["value"], HOSTILE);
    let state: serde_json::Value = serde_json::from_str(&folder.ok(&["state", "pull"])).unwrap();
    assert_eq!(state["outputs"]["short"]["value"], HOSTILE);
}
