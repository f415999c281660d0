//! Terminal behavior: live lines, Control-C and Control-D.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use serde_json::Value as Json;

use crate::common::Folder;
use crate::common::serving::KillOnDrop;

const CONTROL_C: &[u8] = b"\x03";
const CONTROL_D: &[u8] = b"\x04";

/// A program on a terminal of its own.
struct Terminal {
    child: KillOnDrop,
    keys: File,
    said: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Runs the program of a folder on a new terminal, which is its controlling one.
    fn run(folder: &Folder, arguments: &[&str]) -> Self {
        let size = Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(Some(&size), None).unwrap();
        let program = folder.command(arguments);
        let mut command = std::process::Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(program.get_program()).args(arguments);
        command.current_dir(program.get_current_dir().unwrap());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("TERM", "xterm");
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
        command.stdin(end(&pair.slave)).stdout(end(&pair.slave)).stderr(end(&pair.slave));
        let child = command.spawn().unwrap();
        drop(command);
        drop(pair.slave);
        let said: Arc<Mutex<Vec<u8>>> = Arc::default();
        let (mut screen, noted) = (File::from(pair.master.try_clone().unwrap()), Arc::clone(&said));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The terminal of a program that ended is an error to read from.
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                noted.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { child: KillOnDrop(child), keys: File::from(pair.master), said }
    }

    /// Everything written so far.
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.said.lock().unwrap()).replace("\r\n", "\n")
    }

    fn until(&self, shown: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let text = self.text();
            if shown(&text) {
                return text;
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "it does not come:\n{text:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn types(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
    }

    /// The exit code, and everything that was written.
    fn end(mut self) -> (i32, String) {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.0.try_wait().unwrap() {
                std::thread::sleep(Duration::from_millis(50));
                return (status.code().unwrap_or(-1), self.text());
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "it does not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The screen at the end: live lines are overwritten.
fn screen(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut row = 0;
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some(sequence) = rest.strip_prefix("\x1b[") {
            let end = sequence.find(|character: char| character.is_ascii_alphabetic()).unwrap();
            let count: usize = sequence[..end].parse().unwrap_or(1);
            match &sequence[end..=end] {
                "A" => row -= count,
                "J" => lines.truncate(row),
                _ => {}
            }
            rest = &sequence[end + 1..];
        } else {
            if character == '\n' {
                row += 1;
            }
            while lines.len() <= row {
                lines.push(String::new());
            }
            if character != '\n' {
                lines[row].push(character);
            }
            rest = &rest[character.len_utf8()..];
        }
    }
    lines
}

/// Three objects that take a while, and one that comes after them.
fn slow(delay: &str) -> Folder {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        &format!(
            r#"
terraform {{
  required_providers {{
    awscc = {{ source = "hashicorp/awscc" }}
  }}
}}

provider "awscc" {{
  region   = "us-east-1"
  emulator = {{ delay = "{delay}" }}
}}

resource "awscc_sqs_queue" "slow" {{
  count = 3
}}

resource "terraform_data" "after" {{
  input = awscc_sqs_queue.slow[*].id
}}
"#
        ),
    );
    folder
}

fn addresses(folder: &Folder) -> Vec<String> {
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    let resources = state["resources"].as_array().unwrap().iter();
    resources
        .flat_map(|resource| {
            let name = format!("{}.{}", resource["type"].as_str().unwrap(), resource["name"].as_str().unwrap());
            vec![name; resource["instances"].as_array().unwrap().len()]
        })
        .collect()
}

fn is_live(line: &str) -> bool {
    line.contains("Creating... [0") && line.ends_with("elapsed]")
}

#[test]
fn running_operations_have_live_lines() {
    let folder = slow("1500ms");
    let terminal = Terminal::run(&folder, &["apply", "-auto-approve"]);
    let all = |text: &str| {
        let now = screen(text);
        (0..3)
            .all(|index| now.iter().any(|line| line.contains(&format!("awscc_sqs_queue.slow[{index}]: Creating... ["))))
    };
    let text = terminal.until(all);
    assert_eq!(screen(&text).iter().filter(|line| is_live(line)).count(), 3, "one line an operation\n{text}");
    terminal.until(|text| text.contains("[00m01s elapsed]"));
    let (code, text) = terminal.end();
    let left = screen(&text);
    let shown = left.join("\n");
    assert_eq!(code, 0, "{shown}");
    assert!(!left.iter().any(|line| is_live(line)), "no live line stays\n{shown}");
    for index in 0..3 {
        let done = format!("awscc_sqs_queue.slow[{index}]: Creation complete after ");
        assert_eq!(left.iter().filter(|line| line.starts_with(&done)).count(), 1, "{shown}");
    }
    assert!(shown.contains("\nApply complete! Resources: 4 added, 0 changed, 0 destroyed.\n"), "{shown}");
    assert!(text.contains("\x1b[1m"), "a terminal has colours");
}

#[test]
fn control_c_cancels_requests_and_starts_nothing_else() {
    let folder = slow("2s");
    let mut terminal = Terminal::run(&folder, &["apply", "-auto-approve"]);
    terminal.until(|text| screen(text).iter().filter(|line| is_live(line)).count() == 3);
    terminal.types(CONTROL_C);
    let text = terminal.until(|text| text.contains("Interrupt received."));
    assert!(!text.contains("Creation complete"), "it was early enough\n{text}");
    let (code, text) = terminal.end();
    assert_eq!(code, 1, "{text}");
    let left = screen(&text).join("\n");
    assert_eq!(left.matches(": Creation errored after ").count(), 3, "{left}");
    assert!(addresses(&folder).is_empty(), "cancelled requests leave no objects, and their user was not started");
    let again = folder.ok(&["apply", "-auto-approve"]);
    assert!(again.contains("Resources: 4 added, 0 changed, 0 destroyed."), "{again}");
}

#[test]
fn second_control_c_stops_immediately_without_loss() {
    let folder = slow("8s");
    let mut terminal = Terminal::run(&folder, &["apply", "-auto-approve"]);
    terminal.until(|text| screen(text).iter().filter(|line| is_live(line)).count() == 3);
    let begin = Instant::now();
    terminal.types(CONTROL_C);
    terminal.until(|text| text.contains("Interrupt received."));
    terminal.types(CONTROL_C);
    terminal.until(|text| text.contains("Two interrupts received."));
    let (code, text) = terminal.end();
    assert_eq!(code, 1, "{text}");
    assert!(begin.elapsed() < Duration::from_secs(6), "it waited for the service");
    let _: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    // What was under way is asked after, not made a second time.
    folder.write("main.tf", &folder.read("main.tf").replace("8s", "0s"));
    folder.ok(&["apply", "-auto-approve"]);
    assert_eq!(folder.ok(&["emulator", "list", "AWS::SQS::Queue"]).lines().count(), 3);
    assert_eq!(folder.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn control_c_and_control_d_at_the_prompt_change_nothing() {
    for (key, said) in [(CONTROL_C, "error asking for approval: interrupted"), (CONTROL_D, "asking for approval: EOF")]
    {
        let folder = slow("0s");
        let mut terminal = Terminal::run(&folder, &["apply"]);
        terminal.until(|text| text.contains("Enter a value:"));
        terminal.types(key);
        let (code, text) = terminal.end();
        assert_eq!(code, 1, "{text}");
        assert!(text.contains(said), "{text}");
        assert!(!folder.path("terraform.tfstate").exists());
    }
}

#[test]
fn prompts_are_answered() {
    let folder = slow("0s");
    folder.write(
        "more.tf",
        "variable \"name\" {\n  description = \"Whom to greet.\"\n}\noutput \"name\" {\n  value = var.name\n}\n",
    );
    let mut terminal = Terminal::run(&folder, &["apply"]);
    terminal
        .until(|text| text.contains("var.name") && text.contains("Whom to greet.") && text.contains("Enter a value:"));
    terminal.types(b"world\n");
    terminal.until(|text| text.matches("Enter a value:").count() == 2);
    terminal.types(b"yes\n");
    let (code, text) = terminal.end();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("name = \"world\""), "{text}");
}

#[test]
fn interrupt_discards_only_the_current_console_line() {
    let folder = Folder::new();
    folder.write("main.tf", "");
    let mut terminal = Terminal::run(&folder, &["console"]);
    terminal.until(|text| text.contains("> "));
    terminal.types(b"{\r");
    terminal.types(CONTROL_C);
    terminal.until(|text| text.matches("\u{1b}[?2004h").count() == 2);
    terminal.types(b"upper(\"one\")\rupper(\"two\")\r");
    terminal.until(|text| text.contains("\"ONE\"") && text.contains("\"TWO\""));
    terminal.types(b"\x1b[200~upper(\"three\")\nupper(\"four\")\x1b[201~\r");
    terminal.until(|text| text.contains("\"THREE\"") && text.contains("\"FOUR\""));
    terminal.types(CONTROL_C);
    let (code, text) = terminal.end();
    assert_eq!(code, 0, "an interrupt at the start of a line ends it: {text}");
}

#[test]
fn console_has_completion_history_and_continuation_lines() {
    let folder = Folder::new();
    folder.write("main.tf", "locals {\n  greeting = \"hello\"\n}\n");
    let mut terminal = Terminal::run(&folder, &["console"]);
    terminal.until(|text| text.contains("> "));
    terminal.types(b"upper(\r");
    terminal.types(b"local.gr\t)\r");
    terminal.until(|text| text.contains("\"HELLO\""));
    terminal.types(b"\x1b[A\r");
    terminal.until(|text| text.matches("\"HELLO\"").count() == 2);
    terminal.types(b"local.greetin\r");
    terminal.until(|text| text.contains("Error:"));
    terminal.types(CONTROL_D);
    let (code, text) = terminal.end();
    assert_eq!(code, 0, "a mistake does not end it: {text}");
}

#[test]
fn hostile_values_do_not_control_the_terminal() {
    use crate::terminal_safety::{acts, configuration};
    let folder = Folder::new();
    folder.write("main.tf", &configuration());
    let runs: [&[&str]; 5] = [
        &["plan", "-var=asked=yes"],
        &["apply", "-auto-approve", "-var=asked=yes"],
        &["output"],
        &["output", "-raw", "long"],
        &["show"],
    ];
    for arguments in runs {
        let (code, text) = Terminal::run(&folder, arguments).end();
        assert_eq!(code, 0, "{text}");
        // The text without the program's own colors and cursor movements.
        let mut rest = text.clone();
        for tone in ["0", "1", "4", "31", "32", "33", "36", "90"] {
            rest = rest.replace(&format!("\x1b[{tone}m"), "");
        }
        rest = (0..20).fold(rest, |rest, lines| rest.replace(&format!("\x1b[{lines}A\x1b[0J"), ""));
        let found: Vec<char> = rest.chars().filter(|character| acts(*character)).collect();
        assert!(found.is_empty(), "{arguments:?}: {found:?} in {rest:?}");
        assert!(rest.contains("\u{241b}[8m"), "{arguments:?}: {rest:?}");
    }
}
