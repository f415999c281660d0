//! Why there is no connection to a plugin, in words for people.

use std::fmt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use groma_diagnostics::io_reason;

use super::process::LastWords;

/// There is no connection to a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchError {
    /// The program, or the address that was to be attached to.
    pub program: PathBuf,
    /// What happened.
    pub problem: LaunchProblem,
    /// What the program said last.
    pub last_words: LastWords,
}

/// What kept a plugin from being connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchProblem {
    /// The operating system could not start it.
    NotStarted(String),
    /// It was built for another kind of machine; which, and which this one is.
    WrongMachine(String),
    /// It ended before it said how to reach it.
    Exited,
    /// It neither said how to reach it nor ended.
    TimedOut(Duration),
    /// It said something else.
    Handshake(String),
    /// It could not be reached as it said.
    Unreachable(String),
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.program.display();
        match &self.problem {
            LaunchProblem::NotStarted(why) => write!(f, "The provider plugin {program} could not be started: {why}.")?,
            LaunchProblem::WrongMachine(which) => write!(
                f,
                "The provider plugin {program} could not be started: it was built for {which}. Install the provider's package for this platform."
            )?,
            LaunchProblem::Exited => {
                write!(f, "The provider plugin {program} ended before it was ready")?;
                match &self.last_words.exit {
                    Some(exit) => write!(f, ": {exit}.")?,
                    None => f.write_str(".")?,
                }
            }
            LaunchProblem::TimedOut(after) => write!(
                f,
                "The provider plugin {program} was started and was not ready after {} seconds; it has been stopped.",
                after.as_secs_f32()
            )?,
            LaunchProblem::Handshake(what) => write!(f, "The provider plugin {program} cannot be used. {what}.")?,
            LaunchProblem::Unreachable(why) => {
                write!(f, "The provider plugin {program} could not be reached: {why}.")?;
            }
        }
        match self.last_words.stderr.trim() {
            "" => Ok(()),
            words => write!(f, "\n\nIts last words were:\n\n{words}"),
        }
    }
}

impl std::error::Error for LaunchError {}

/// Why the operating system could not start `program`.
pub(super) fn not_started(program: &Path, error: &std::io::Error) -> LaunchProblem {
    use std::io::ErrorKind;
    if let Some(which) = other_machine(program) {
        return LaunchProblem::WrongMachine(which);
    }
    LaunchProblem::NotStarted(match error.kind() {
        ErrorKind::NotFound if program.exists() => {
            "the file is there, but not the interpreter or the system library that it needs".to_owned()
        }
        ErrorKind::NotFound => "there is no such file. Run \"groma init\" to install it again".to_owned(),
        ErrorKind::PermissionDenied => {
            format!("it is not executable, or its folder may not be entered. Try: chmod +x {}", program.display())
        }
        _ => io_reason(error),
    })
}

/// What machine `program` was built for, when its header says that it is not this one.
pub(super) fn other_machine(program: &Path) -> Option<String> {
    use std::io::Read;
    let mut header = [0_u8; 20];
    std::fs::File::open(program).ok()?.read_exact(&mut header).ok()?;
    let built_for = machine_of(&header)?;
    let here = format!("{} ({})", std::env::consts::OS, std::env::consts::ARCH);
    let same = match std::env::consts::OS {
        "linux" => built_for == ("ELF", std::env::consts::ARCH),
        "macos" => built_for.0 == "Mach-O",
        _ => return None,
    };
    (!same).then(|| format!("{} ({}), and this machine is {here}", system_of(built_for.0), built_for.1))
}

fn system_of(format: &str) -> &'static str {
    match format {
        "ELF" => "linux or another Unix",
        "Mach-O" => "macos",
        _ => "windows",
    }
}

/// The format of an executable and its processor, from its first bytes; `None` for scripts and what is not known.
fn machine_of(header: &[u8; 20]) -> Option<(&'static str, &'static str)> {
    match header {
        [0x7f, b'E', b'L', b'F', _, endian, ..] => {
            let machine = [header[18], header[19]];
            let machine = if *endian == 2 { u16::from_be_bytes(machine) } else { u16::from_le_bytes(machine) };
            Some((
                "ELF",
                match machine {
                    3 => "x86",
                    8 => "mips",
                    21 => "powerpc64",
                    22 => "s390x",
                    40 => "arm",
                    62 => "x86_64",
                    183 => "aarch64",
                    243 => "riscv64",
                    258 => "loongarch64",
                    _ => "another processor",
                },
            ))
        }
        [0xcf, 0xfa, 0xed, 0xfe, 0x07, ..] => Some(("Mach-O", "x86_64")),
        [0xcf, 0xfa, 0xed, 0xfe, 0x0c, ..] => Some(("Mach-O", "aarch64")),
        [0xca, 0xfe, 0xba, 0xbe, ..] => Some(("Mach-O", "several processors")),
        [b'M', b'Z', ..] => Some(("PE", "x86_64 or aarch64")),
        _ => None,
    }
}
