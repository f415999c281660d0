//! State locks between concurrent programs.

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::Folder;
use crate::common::normalization::terraform;

/// Something that takes `seconds`, and then makes an object of this name.
fn slow(name: &str, seconds: u32) -> String {
    format!(
        r#"
resource "terraform_data" "{name}" {{
  provisioner "local-exec" {{
    command = "touch begun && sleep {seconds}"
  }}
}}
"#
    )
}

/// A run in the background.
struct Behind(Child);

impl Behind {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = folder.command(arguments);
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
    }

    fn end(mut self) -> (i32, String) {
        let mut said = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.0.wait().unwrap().code().unwrap_or(-1), said)
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until_begun(folder: &Folder) {
    let begin = Instant::now();
    while !folder.path("begun").exists() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the first run does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// `first` works at the state while `second` comes; both programs are at home in the folder of `first`.
fn meet(first: &Folder, second: &Folder) {
    first.ok(&["init"]);
    second.ok(&["init"]);
    let holder = Behind::start(first, &["apply", "-auto-approve"]);
    until_begun(first);
    let refused = second.run(&["apply", "-auto-approve"]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(refused.err.contains("Error acquiring the state lock"), "{}", refused.err);
    assert!(refused.err.contains("OperationTypeApply"), "it says what the other does\n{}", refused.err);
    let begin = Instant::now();
    let brief = second.run(&["plan", "-lock-timeout=1s"]);
    assert_eq!(brief.code, 1);
    assert!(begin.elapsed() >= Duration::from_secs(1), "it waits as long as asked");
    let patient = second.run(&["plan", "-lock-timeout=60s", "-detailed-exitcode"]);
    assert_eq!(patient.code, 0, "what the first did is there\n{}{}", patient.out, patient.err);
    let (code, said) = holder.end();
    assert_eq!(code, 0, "{said}");
    assert!(!first.path(".terraform.tfstate.lock.info").exists());
}

#[test]
fn two_of_us_wait_for_each_other() {
    let folder = Folder::new();
    folder.write("main.tf", &slow("a", 3));
    meet(&folder, &folder);
}

#[test]
fn of_several_that_wait_each_gets_its_turn() {
    let folder = Folder::new();
    folder.write("main.tf", &slow("a", 1)).write("more.tf", "resource \"terraform_data\" \"each\" {\n  count = 3\n}\n");
    let targets = ["-target=terraform_data.a", "-target=terraform_data.each[0]", "-target=terraform_data.each[1]"];
    let runs: Vec<Behind> = targets
        .iter()
        .map(|target| Behind::start(&folder, &["apply", "-auto-approve", "-lock-timeout=60s", target]))
        .collect();
    for run in runs {
        let (code, said) = run.end();
        assert_eq!(code, 0, "{said}");
    }
    let listed = folder.ok(&["state", "list"]);
    assert_eq!(listed, "terraform_data.a\nterraform_data.each[0]\nterraform_data.each[1]\n", "nobody's work is lost");
}

#[test]
fn terraform_waits_for_us_and_we_for_terraform() {
    let Some(program) = terraform() else {
        println!("skipped: no terraform");
        return;
    };
    for ours_first in [true, false] {
        let ours = Folder::new();
        ours.write("main.tf", &slow("a", 4));
        let theirs = ours.also_for(&program);
        if ours_first { meet(&ours, &theirs) } else { meet(&theirs, &ours) }
    }
}
