//! Provisioners end to end: validation, interrupts and SSH.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common;
use crate::common::Folder;
use crate::common::serving::KillOnDrop;

const APPLY: &[&str] = &["apply", "-auto-approve", "-no-color"];

/// A text without the frame and the line breaks that fit it to the terminal.
fn flowing(text: &str) -> String {
    text.split_whitespace().filter(|word| !matches!(*word, "│" | "╷" | "╵")).collect::<Vec<_>>().join(" ")
}

fn is_tainted(folder: &Folder) -> bool {
    let state: serde_json::Value = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    state["resources"][0]["instances"][0]["status"] == "tainted"
}

#[test]
fn interrupt_reaches_child_processes_and_leaves_the_object_tainted() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "resource \"terraform_data\" \"it\" {\n  provisioner \"local-exec\" {\n    on_failure = continue\n    \
         command = \"trap 'echo put in order; exit 7' INT; echo begun; sleep 60; echo slept\"\n  }\n  \
         provisioner \"local-exec\" {\n    command = \"touch second\"\n  }\n}\n",
    );
    let begin = Instant::now();
    let ran = folder.interrupted(APPLY, "(local-exec): begun");
    assert!(begin.elapsed() < Duration::from_secs(30), "{}", ran.out);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("(local-exec): put in order"), "{}", ran.out);
    assert!(ran.err.contains("exit status 7"), "{}", ran.err);
    assert!(!folder.path("second").exists());
    assert!(is_tainted(&folder));
}

#[test]
fn winrm_connections_are_rejected_with_advice() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "resource \"terraform_data\" \"it\" {\n  connection {\n    type = \"winrm\"\n    host = \"127.0.0.1\"\n  }\n  \
         provisioner \"remote-exec\" {\n    inline = [\"dir\"]\n  }\n}\n",
    );
    let reported = flowing(&folder.fails(APPLY));
    assert!(reported.contains("supports SSH connections only, not WinRM"), "{reported}");
    assert!(is_tainted(&folder));
}

#[test]
fn provisioner_without_connection_is_reported() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "resource \"terraform_data\" \"it\" {\n  provisioner \"remote-exec\" {\n    inline = [\"ls\"]\n  }\n}\n",
    );
    let reported = flowing(&folder.fails(APPLY));
    assert!(reported.contains("Error: remote-exec provisioner error"), "{reported}");
    assert!(reported.contains("Add a \"connection\" block with the argument \"host\""), "{reported}");
}

#[test]
fn validate_reports_conflicting_arguments() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "resource \"terraform_data\" \"it\" {\n  connection {\n    host = self.id\n  }\n  provisioner \"file\" {\n    \
         source      = \"a\"\n    content     = \"b\"\n    destination = \"/c\"\n  }\n  provisioner \"remote-exec\" {\n  }\n  \
         provisioner \"file\" {\n    content     = \"b\"\n    destination = \"/c\"\n    connection {\n      hosts = 1\n    }\n  \
         }\n}\n",
    );
    let reported = flowing(&folder.fails(&["validate", "-no-color"]));
    assert!(reported.contains("Cannot set both 'source' and 'content'"), "{reported}");
    assert!(reported.contains("Set exactly one of \"inline\" (script lines), \"script\""), "{reported}");
    assert!(reported.contains("An argument named \"hosts\" is not expected here"), "{reported}");
}

#[cfg(unix)]
#[test]
fn killed_run_leaves_no_private_key_behind() {
    use std::os::unix::fs::PermissionsExt;
    const KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY----- secret";
    let folder = Folder::new();
    // A program that reads the keys as ssh does, and then keeps the run waiting.
    folder.write(
        "bin/ssh",
        "#!/bin/sh\nfor word; do\n  case $word in\n    IdentityFile=/*) cat \"${word#IdentityFile=}\" >> \"$SEEN\" ;;\n  esac\n\
         done\necho asked >> \"$SEEN\"\nexec sleep 20\n",
    );
    std::fs::set_permissions(folder.path("bin/ssh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir(folder.path("scratch")).unwrap();
    folder.write("seen", "");
    folder.write(
        "main.tf",
        &format!(
            "resource \"terraform_data\" \"it\" {{\n  connection {{\n    host = \"127.0.0.1\"\n    private_key = {KEY:?}\n  }}\n  \
             provisioner \"remote-exec\" {{\n    inline = [\"ls\"]\n  }}\n}}\n"
        ),
    );
    let path = format!("{}:{}", folder.path("bin").display(), std::env::var("PATH").unwrap());
    let (seen, scratch) = (folder.path("seen"), folder.path("scratch"));
    let folder = folder.with("PATH", &path).with("SEEN", seen.to_str().unwrap());
    let folder = folder.with("TMPDIR", scratch.to_str().unwrap());
    let run = common::start(&folder, &[]);
    let begin = Instant::now();
    while !folder.read("seen").contains("asked") {
        assert!(begin.elapsed() < Duration::from_secs(60), "ssh is never started: {}", folder.read("said"));
        std::thread::sleep(Duration::from_millis(10));
    }
    common::kill(run);
    assert!(folder.read("seen").contains(KEY), "ssh gets the key: {}", folder.read("seen"));
    let mut folders = vec![scratch];
    while let Some(path) = folders.pop() {
        for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let content = std::fs::read(entry.path()).unwrap();
                assert!(!String::from_utf8_lossy(&content).contains(KEY), "{}", entry.path().display());
            }
        }
    }
}

/// A machine on loopback, as the user who runs the tests.
struct Machine {
    // Dropped before the directory that it uses.
    daemon: KillOnDrop,
    directory: tempfile::TempDir,
    port: u16,
    user: String,
}

impl Machine {
    /// None where there is no `sshd` (`GROMA_SSHD` names one) or it does not run for this user.
    fn start() -> Option<Self> {
        let named = std::env::var_os("GROMA_SSHD").map(PathBuf::from);
        let paths = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"].map(PathBuf::from);
        let program = named.into_iter().chain(paths).find(|path| path.exists())?;
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["host", "key", "other"] {
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path(name)).status();
            made.ok().filter(|status| status.success())?;
        }
        let user = Command::new("id").arg("-un").output().ok()?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nPidFile none\nUsePAM no\n\
             PasswordAuthentication no\nPermitRootLogin yes\n",
            path("host").display(),
            path("key.pub").display()
        );
        std::fs::write(path("settings"), settings).unwrap();
        let mut daemon = Command::new(program);
        daemon.args(["-D", "-e", "-f"]).arg(path("settings")).stdin(Stdio::null());
        let daemon = daemon.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let user = String::from_utf8(user.stdout).unwrap().trim().to_owned();
        let mut machine = Self { directory, port, user, daemon: KillOnDrop(daemon) };
        machine.listens().then_some(machine)
    }

    fn listens(&mut self) -> bool {
        let begin = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            if self.daemon.0.try_wait().unwrap().is_some() || begin.elapsed() > Duration::from_secs(10) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A connection block, with the public key that the machine is expected to have and more lines.
    fn connection(&self, host_key: &Path, more: &str) -> String {
        format!(
            "  connection {{\n    host        = \"127.0.0.1\"\n    port        = {}\n    user        = {:?}\n    private_key = \
             file({:?})\n    host_key    = file({:?})\n    agent       = false\n    timeout     = \"20s\"\n{more}  }}\n",
            self.port,
            self.user,
            self.path("key"),
            host_key
        )
    }
}

fn machine() -> Option<Machine> {
    let machine = Machine::start();
    if machine.is_none() {
        println!("skipped: no sshd");
    }
    machine
}

#[test]
fn files_and_directories_are_copied_and_scripts_run() {
    let Some(machine) = machine() else { return };
    let folder = Folder::new();
    let there = machine.path("there");
    std::fs::create_dir(&there).unwrap();
    let there = there.display();
    let connection = machine.connection(&machine.path("host.pub"), "");
    folder
        .write("site/pages/index.html", "<p>")
        .write("site/style.css", "p {}")
        .write("greet.sh", "echo \"script $0\"\n");
    folder.write(
        "main.tf",
        &format!(
            "resource \"terraform_data\" \"it\" {{\n{connection}  provisioner \"file\" {{\n    content     = \"hello\\n\"\n    \
             destination = \"{there}/a file\"\n  }}\n  provisioner \"file\" {{\n    source      = \"site\"\n    destination = \
             {there:?}\n  }}\n  provisioner \"file\" {{\n    source      = \"site/\"\n    destination = {there:?}\n  }}\n  \
             provisioner \"remote-exec\" {{\n    inline = [\"cat '{there}/a file'\", \"echo oops >&2\"]\n  }}\n  provisioner \
             \"remote-exec\" {{\n    script = \"greet.sh\"\n    connection {{\n      script_path = \"{there}/run-%RAND%\"\n    \
             }}\n  }}\n  provisioner \"remote-exec\" {{\n    when   = destroy\n    inline = [\"touch '{there}/gone'\"]\n  }}\n}}\n"
        ),
    );
    let reported = folder.ok(APPLY);
    for line in
        ["(remote-exec):   Checking Host Key: true", "(remote-exec): Connected!", "(remote-exec): hello", "oops"]
    {
        assert!(reported.contains(line), "{line}\n{reported}");
    }
    assert!(reported.contains(&format!("(remote-exec): script {there}/run-")), "{reported}");
    let read = |name: &str| std::fs::read_to_string(machine.path("there").join(name)).unwrap();
    assert_eq!(
        (read("a file"), read("site/pages/index.html"), read("style.css")),
        ("hello\n".into(), "<p>".into(), "p {}".into())
    );
    let scripts = std::fs::read_dir(machine.path("there"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("run-"));
    assert_eq!(scripts.count(), 0, "scripts do not stay");
    folder.ok(&["destroy", "-auto-approve"]);
    assert!(machine.path("there/gone").exists());
}

#[test]
fn failed_script_taints_and_unknown_host_key_is_rejected() {
    let Some(machine) = machine() else { return };
    let folder = Folder::new();
    let script = "  provisioner \"remote-exec\" {\n    inline = [\"echo was here\", \"exit 3\"]\n  }\n}\n";
    let block = "resource \"terraform_data\" \"it\" {\n";
    folder.write("main.tf", &format!("{block}{}{script}", machine.connection(&machine.path("host.pub"), "")));
    let ran = folder.run(APPLY);
    assert!(ran.out.contains("(remote-exec): was here"), "{}", ran.out);
    assert!(flowing(&ran.err).contains("Process exited with status 3"), "{}", ran.err);
    assert!(is_tainted(&folder));

    let connection = machine.connection(&machine.path("other.pub"), "").replace("\"20s\"", "\"2s\"");
    folder.write("main.tf", &format!("{block}{connection}{script}"));
    let ran = folder.run(APPLY);
    assert!(flowing(&ran.err).contains("timeout - last error:"), "{}", ran.err);
    assert!(flowing(&ran.err).contains("Host key verification failed"), "{}", ran.err);
    assert!(!ran.out.contains("was here"), "{}", ran.out);
}

#[test]
fn bastion_host_is_used() {
    let Some(machine) = machine() else { return };
    let folder = Folder::new();
    let more = format!("    bastion_host = \"127.0.0.1\"\n    bastion_port = {}\n", machine.port);
    let connection = machine.connection(&machine.path("host.pub"), &more);
    folder.write(
        "main.tf",
        &format!(
            "resource \"terraform_data\" \"it\" {{\n{connection}  provisioner \"remote-exec\" {{\n    inline = [\"echo from \
             $SSH_CONNECTION\"]\n  }}\n}}\n"
        ),
    );
    let reported = folder.ok(APPLY);
    assert!(reported.contains("(remote-exec): Using configured bastion host..."), "{reported}");
    assert!(reported.contains("(remote-exec): from 127.0.0.1"), "{reported}");
}

#[test]
fn pl_12_moved_object_is_destroyed_after_its_dependents() {
    let block = |name: &str, input: &str, command: &str| {
        format!(
            "resource \"terraform_data\" \"{name}\" {{\n{input}  provisioner \"local-exec\" {{\n    when = destroy\n    command = \"{command}\"\n  }}\n}}\n"
        )
    };
    let below = |name: &str| block(name, "", "echo below >> log");
    let above =
        |name: &str| block("above", &format!("  input = terraform_data.{name}.id\n"), "sleep 0.3; echo above >> log");
    let moved = "moved {\n  from = terraform_data.old\n  to   = terraform_data.new\n}\n";
    let folder = Folder::new();
    folder.write("main.tf", &format!("{}{}", below("old"), above("old")));
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &format!("{}{}{moved}", below("new"), above("new")));
    folder.ok(&["destroy", "-auto-approve"]);
    assert_eq!(folder.read("log"), "above\nbelow\n");
}

#[test]
fn unknown_provisioner_type_is_reported_without_the_provider() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"null_resource\" \"a\" {\n  provisioner \"fil\" {}\n}\n");
    let said = folder.fails(&["validate"]);
    assert!(said.contains("Missing required provider"), "{said}");
    assert!(said.contains("Missing required provisioner plugin") && said.contains("main.tf line 2"), "{said}");
}

#[test]
fn file_provisioner_requires_source_or_content() {
    let folder = Folder::new();
    let block = |arguments: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  connection {{\n    host = \"h\"\n  }}\n  provisioner \"file\" {{{arguments}}}\n}}\n"
        )
    };
    let missing = "Must provide one of 'source' or 'content'";
    let said = folder.write("main.tf", &block("")).fails(&["validate"]);
    assert!(said.contains(missing) && said.contains("\"destination\" is required"), "{said}");
    // The argument exists under another name.
    let said = folder.write("main.tf", &block("\n    sorce = \"x\"\n  ")).fails(&["validate"]);
    assert!(!said.contains(missing) && said.contains("sorce"), "{said}");
}
