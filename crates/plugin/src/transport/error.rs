//! Errors of launching or attaching to a plugin, with messages for users.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use groma_diagnostics::io_reason;

use super::process::ExitInfo;

/// A plugin could not be launched or attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchError {
    /// The executable, or the address to attach to.
    pub program: PathBuf,
    /// The cause of the failure.
    pub problem: LaunchProblem,
    /// Exit status and last output of the process.
    pub exit_info: ExitInfo,
}

/// The cause of a failed launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchProblem {
    /// The operating system could not start the process.
    NotStarted(String),
    /// The executable was built for the given platform instead of this one.
    WrongPlatform(String),
    /// The process ended before the handshake.
    Exited,
    /// The process did not complete the handshake in time.
    TimedOut(Duration),
    /// The handshake line is invalid.
    Handshake(String),
    /// The connection to the announced address failed.
    Unreachable(String),
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.program.display();
        match &self.problem {
            LaunchProblem::NotStarted(why) => write!(f, "Cannot start the provider plugin {program}: {why}.")?,
            LaunchProblem::WrongPlatform(which) => write!(
                f,
                "Cannot start the provider plugin {program}: it was built for {which}. Install the provider's package for this platform."
            )?,
            LaunchProblem::Exited => {
                write!(f, "The provider plugin {program} exited before it was ready")?;
                match &self.exit_info.exit {
                    Some(exit) => write!(f, ": {exit}.")?,
                    None => f.write_str(".")?,
                }
            }
            LaunchProblem::TimedOut(after) => write!(
                f,
                "The provider plugin {program} was not ready within {} seconds and was killed.",
                after.as_secs_f32()
            )?,
            LaunchProblem::Handshake(what) => write!(f, "The provider plugin {program} cannot be used. {what}.")?,
            LaunchProblem::Unreachable(why) => {
                write!(f, "Cannot connect to the provider plugin {program}: {why}.")?;
            }
        }
        match self.exit_info.stderr.trim() {
            "" => Ok(()),
            words => write!(f, "\n\nIts last output:\n\n{words}"),
        }
    }
}

impl std::error::Error for LaunchError {}

/// Determines why the operating system could not start `program`.
pub(super) fn not_started(program: &Path, error: &std::io::Error) -> LaunchProblem {
    use std::io::ErrorKind;
    // First, because the operating system reports a foreign executable only as "exec format error".
    if let Some(which) = foreign_platform(program) {
        return LaunchProblem::WrongPlatform(which);
    }
    LaunchProblem::NotStarted(match error.kind() {
        // The same error code covers a missing program and a missing interpreter.
        ErrorKind::NotFound if program.exists() => {
            "the file exists, but the interpreter or system library that it requires does not".to_owned()
        }
        ErrorKind::NotFound => "no such file. Reinstall it with the init command".to_owned(),
        ErrorKind::PermissionDenied => {
            format!("it is not executable, or its directory is not accessible. Try: chmod +x {}", program.display())
        }
        _ => io_reason(error),
    })
}

/// Returns the platform that `program` was built for if its header names another than this one.
pub(super) fn foreign_platform(program: &Path) -> Option<String> {
    use std::io::Read;
    let mut header = [0_u8; 20];
    std::fs::File::open(program).ok()?.read_exact(&mut header).ok()?;
    let built_for = platform_of(&header)?;
    let here = format!("{} ({})", std::env::consts::OS, std::env::consts::ARCH);
    let same = match std::env::consts::OS {
        "linux" => built_for == ("ELF", std::env::consts::ARCH),
        // Universal binaries and Rosetta make the processor irrelevant here.
        "macos" => built_for.0 == "Mach-O",
        _ => return None,
    };
    (!same).then(|| format!("{} ({}), but this platform is {here}", system_of(built_for.0), built_for.1))
}

fn system_of(format: &str) -> &'static str {
    match format {
        "ELF" => "linux or another Unix",
        "Mach-O" => "macos",
        _ => "windows",
    }
}

/// Returns format and architecture of an executable from its first bytes; `None` for scripts and unknown formats.
fn platform_of(header: &[u8; 20]) -> Option<(&'static str, &'static str)> {
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
