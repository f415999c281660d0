//! Files over a connection: the sending side of the protocol of `scp`, whose receiving side is a program there.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use groma_diagnostics::io_reason;

/// The two ends of a receiving `scp`.
pub(super) struct Sender<W, R> {
    to: W,
    from: R,
}

/// Folders in folders up to this depth are sent; a loop of links ends here.
const DEPTH: usize = 64;

impl<W: Write, R: Read> Sender<W, R> {
    /// Waits until the other side is ready.
    ///
    /// # Errors
    ///
    /// It is not, or it has gone.
    pub(super) fn new(to: W, from: R) -> io::Result<Self> {
        let mut sender = Self { to, from };
        sender.acknowledged()?;
        Ok(sender)
    }

    /// Sends a file under a name.
    ///
    /// # Errors
    ///
    /// The other side refuses it, `content` cannot be read or is not as long as it should be.
    pub(super) fn file(&mut self, name: &str, mode: u32, length: u64, content: &mut dyn Read) -> io::Result<()> {
        writeln!(self.to, "C{mode:04o} {length} {}", one_line(name)?)?;
        self.to.flush()?;
        // The receiver accepts or refuses the file before its content is sent.
        self.acknowledged()?;
        let sent = io::copy(&mut content.take(length), &mut self.to)?;
        // A shorter content would leave the receiver waiting for the rest.
        if sent != length {
            return Err(io::Error::other(format!("{name} was truncated while it was uploaded")));
        }
        self.to.write_all(&[0])?;
        self.to.flush()?;
        self.acknowledged()
    }

    /// Sends a file of this machine.
    ///
    /// # Errors
    ///
    /// As for [`Sender::file`].
    pub(super) fn path(&mut self, name: &str, path: &Path) -> io::Result<()> {
        let mut file = fs::File::open(path).map_err(|problem| naming(path, &problem))?;
        let facts = file.metadata().map_err(|problem| naming(path, &problem))?;
        self.file(name, mode(&facts), facts.len(), &mut file)
    }

    /// Sends a directory with its content.
    ///
    /// # Errors
    ///
    /// As for [`Sender::file`].
    pub(super) fn folder(&mut self, name: &str, path: &Path) -> io::Result<()> {
        self.folder_at(name, path, 0)
    }

    /// Sends what a folder holds.
    ///
    /// # Errors
    ///
    /// As for [`Sender::file`].
    pub(super) fn contents(&mut self, path: &Path) -> io::Result<()> {
        self.contents_at(path, 0)
    }

    fn folder_at(&mut self, name: &str, path: &Path, depth: usize) -> io::Result<()> {
        if depth > DEPTH {
            return Err(io::Error::other(format!(
                "{}: directories are nested too deeply, or a symbolic link forms a \
             cycle",
                path.display()
            )));
        }
        let facts = fs::metadata(path).map_err(|problem| naming(path, &problem))?;
        writeln!(self.to, "D{:04o} 0 {}", mode(&facts), one_line(name)?)?;
        self.to.flush()?;
        self.acknowledged()?;
        self.contents_at(path, depth)?;
        writeln!(self.to, "E")?;
        self.to.flush()?;
        self.acknowledged()
    }

    fn contents_at(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        let mut entries: Vec<_> =
            fs::read_dir(path).and_then(Iterator::collect).map_err(|problem: io::Error| naming(path, &problem))?;
        // Sorted, so that equal directories are sent in the same order.
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (name, path) = (entry.file_name(), entry.path());
            let name = name.to_str().ok_or_else(|| io::Error::other(format!("{}: not UTF-8", path.display())))?;
            // What a link leads to is sent, not the link.
            match fs::metadata(&path).map_err(|problem| naming(&path, &problem))?.is_dir() {
                true => self.folder_at(name, &path, depth + 1)?,
                false => self.path(name, &path)?,
            }
        }
        Ok(())
    }

    /// Every message is answered by a zero, or by a one or a two and a line that says what is wrong.
    fn acknowledged(&mut self) -> io::Result<()> {
        let mut answer = [0];
        self.from
            // Usually the shell on the machine reports this on a stream that is not read here.
            .read_exact(&mut answer)
            .map_err(|_| io::Error::other("the scp program on the machine ended unexpectedly, or is missing"))?;
        if answer == [0] {
            return Ok(());
        }
        let mut line = Vec::new();
        let mut byte = [0];
        // A line that never ends must not fill the memory.
        while line.len() < 1024 && self.from.read(&mut byte)? == 1 && byte != *b"\n" {
            line.extend(byte);
        }
        Err(io::Error::other(String::from_utf8_lossy(&line).into_owned()))
    }
}

/// A line break in a name would begin the next message.
fn one_line(name: &str) -> io::Result<&str> {
    match name.contains(['\n', '\r', '\0']) || name.is_empty() || name == ".." {
        true => Err(io::Error::other(format!("{name:?} is not a valid file name on the machine"))),
        false => Ok(name),
    }
}

fn naming(path: &Path, problem: &io::Error) -> io::Error {
    io::Error::new(problem.kind(), format!("{}: {problem}", path.display(), problem = io_reason(problem)))
}

#[cfg(unix)]
fn mode(facts: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o777
}

#[cfg(not(unix))]
fn mode(facts: &fs::Metadata) -> u32 {
    if facts.is_dir() { 0o755 } else { 0o644 }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// Returns what a local scp receives from `send`; `None` where scp is not installed.
    fn received(
        flags: &str,
        target: &Path,
        send: impl FnOnce(&mut Sender<std::process::ChildStdin, std::process::ChildStdout>) -> io::Result<()>,
    ) -> Option<io::Result<()>> {
        let spawned = Command::new("scp").arg(flags).arg(target).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = spawned else {
            println!("skipped: no scp");
            return None;
        };
        let mut sender = Sender::new(child.stdin.take().unwrap(), child.stdout.take().unwrap()).unwrap();
        let sent = send(&mut sender);
        drop(sender);
        child.wait().unwrap();
        Some(sent)
    }

    #[test]
    fn a_file_arrives_with_its_mode() {
        let there = tempfile::tempdir().unwrap();
        let content = "x".repeat(100_000);
        let Some(sent) = received("-t", there.path(), |sender| {
            sender.file("tool", 0o755, content.len() as u64, &mut content.as_bytes())
        }) else {
            return;
        };
        sent.unwrap();
        assert_eq!(fs::read_to_string(there.path().join("tool")).unwrap(), content);
        assert_eq!(mode(&fs::metadata(there.path().join("tool")).unwrap()) & 0o700, 0o700);
    }

    #[test]
    fn directory_is_copied_with_its_contents() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(here.path().join("a/b")).unwrap();
        fs::write(here.path().join("a/b/deep"), "deep").unwrap();
        fs::write(here.path().join("top"), "top").unwrap();
        let Some(sent) = received("-rt", there.path(), |sender| sender.folder("copy", here.path())) else { return };
        sent.unwrap();
        received("-rt", there.path(), |sender| sender.contents(here.path())).unwrap().unwrap();
        for at in ["copy/a/b/deep", "copy/top", "a/b/deep", "top"] {
            let name = at.rsplit('/').next().unwrap();
            assert_eq!(fs::read_to_string(there.path().join(at)).unwrap(), name);
        }
    }

    #[test]
    fn errors_of_the_remote_side_are_reported_verbatim() {
        let there = tempfile::tempdir().unwrap();
        let missing = there.path().join("missing/folder");
        let Some(sent) = received("-t", &missing, |sender| sender.file("x", 0o644, 1, &mut &b"x"[..])) else { return };
        let problem = sent.unwrap_err().to_string();
        assert!(problem.contains("missing/folder"), "{problem}");
    }

    #[test]
    fn name_cannot_inject_a_message() {
        let mut sent = Vec::new();
        let mut sender = Sender::new(&mut sent, &[0_u8, 0, 0][..]).unwrap();
        sender.file("a\nC0644 0 b", 0o644, 0, &mut &b""[..]).unwrap_err();
        assert!(sent.is_empty());
    }
}
