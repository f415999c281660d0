//! Programs that are asked over their standard streams: for keys, or to seal and to open.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use groma_diagnostics::io_reason;
use serde::Deserialize;

/// How long a program may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much of what a program complains of is told.
const COMPLAINT: usize = 2000;

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    name: String,
    arguments: Vec<String>,
}

/// The line by which a program says what it is.
#[derive(Deserialize)]
struct Header {
    magic: String,
    version: u64,
}

impl Program {
    /// The program that `words` name, its arguments after it.
    ///
    /// # Errors
    /// When there is none; the text says so.
    pub fn new(words: Vec<String>) -> Result<Self, String> {
        let mut words = words.into_iter();
        match words.next() {
            Some(name) if !name.is_empty() => Ok(Self { name, arguments: words.collect() }),
            _ => Err("the command has to name a program, with its arguments after it".to_owned()),
        }
    }

    /// Runs it: it says that it is a `magic`, gets `input`, and answers. Its answer is what is returned.
    ///
    /// # Errors
    /// When it cannot be run, is none of these, fails or takes too long. The text is for people.
    pub(crate) fn ask(&self, magic: &str, input: Vec<u8>) -> Result<Vec<u8>, String> {
        let mut child = Command::new(&self.name)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|problem| {
                format!("the program {:?} cannot be started: {problem}", self.name, problem = io_reason(&problem))
            })?;
        let answer = match Streams::of(&mut child, input) {
            Ok(streams) => self.answer(&mut child, &streams, magic),
            Err(error) => {
                let reason = io_reason(&error);
                Err(format!("no thread can be started for the program {:?}: {reason}", self.name))
            }
        };
        // Whatever went wrong, it does not stay behind; one that has ended is only taken down.
        let _ = child.kill();
        let _ = child.wait();
        answer
    }

    fn answer(&self, child: &mut Child, streams: &Streams, magic: &str) -> Result<Vec<u8>, String> {
        let end = Instant::now() + PATIENCE;
        let late = || format!("the program {:?} has not answered within {} seconds", self.name, PATIENCE.as_secs());
        let left = || end.saturating_duration_since(Instant::now());
        let header = streams.output.recv_timeout(left()).map_err(|_| late())?;
        let introduced = introduced(&header, magic);
        if introduced.is_err() && header.ends_with(b"\n") {
            // One that says something else may wait for ever.
            return introduced.map(|()| Vec::new()).map_err(|problem| self.blamed(&problem, streams));
        }
        let answer = streams.output.recv_timeout(left()).map_err(|_| late())?;
        let status = loop {
            match child.try_wait().map_err(|problem| {
                format!("the program {:?} is lost: {problem}", self.name, problem = io_reason(&problem))
            })? {
                Some(status) => break status,
                None if left().is_zero() => return Err(late()),
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        if !status.success() {
            return Err(self.blamed(&format!("has failed ({status})"), streams));
        }
        introduced.map_err(|problem| self.blamed(&problem, streams))?;
        Ok(answer)
    }

    /// What is wrong, with what the program itself says.
    fn blamed(&self, problem: &str, streams: &Streams) -> String {
        let said = streams.complaints.recv_timeout(Duration::from_millis(200)).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let said = said.trim();
        let told = format!("the program {:?} {problem}", self.name);
        if said.is_empty() { told } else { format!("{told}, and says: {said}") }
    }
}

/// Whether this is the line of a `magic`.
fn introduced(line: &[u8], magic: &str) -> Result<(), String> {
    let wanted = || format!("has to begin with the line {{\"magic\":\"{magic}\",\"version\":1}}");
    let header: Header = serde_json::from_slice(line).map_err(|_| wanted())?;
    if header.magic != magic {
        return Err(wanted());
    }
    if header.version != 1 {
        return Err(format!("speaks version {} of the protocol, and only version 1 is known", header.version));
    }
    Ok(())
}

/// What a program writes: its first line and the rest, and what it complains of. The threads that read end with it; nobody
/// waits for them, as others may keep its streams open.
struct Streams {
    output: Receiver<Vec<u8>>,
    complaints: Receiver<Vec<u8>>,
}

impl Streams {
    /// Begins to write and to read.
    ///
    /// # Errors
    /// The operating system does not allow another thread.
    fn of(child: &mut Child, input: Vec<u8>) -> io::Result<Self> {
        let (output, output_end) = mpsc::channel();
        let (complaints, complaints_end) = mpsc::channel();
        if let Some(mut stdin) = child.stdin.take() {
            // One that ends early has its reasons, and tells them.
            start("program input", move || _ = stdin.write_all(&input))?;
        }
        if let Some(stdout) = child.stdout.take() {
            start("program output", move || {
                let mut stdout = BufReader::new(stdout);
                let (mut line, mut rest) = (Vec::new(), Vec::new());
                let _ = stdout.read_until(b'\n', &mut line);
                let _ = output.send(line);
                let _ = stdout.read_to_end(&mut rest);
                let _ = output.send(rest);
            })?;
        }
        if let Some(mut stderr) = child.stderr.take() {
            start("program errors", move || {
                let mut said = Vec::new();
                let _ = stderr.read_to_end(&mut said);
                let beginning = said.len().saturating_sub(COMPLAINT);
                let _ = complaints.send(said.split_off(beginning));
            })?;
        }
        Ok(Self { output: output_end, complaints: complaints_end })
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(|_| ())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn ask(script: &str) -> Result<Vec<u8>, String> {
        let words = ["sh", "-c", script].map(str::to_owned);
        Program::new(words.to_vec())?.ask("Magic", b"in".to_vec())
    }

    const HEADER: &str = r#"echo '{"magic":"Magic","version":1,"more":true}';"#;

    #[test]
    fn a_program_introduces_itself_gets_the_input_and_answers() {
        assert_eq!(ask(&format!("{HEADER} printf 'got '; cat")).unwrap(), b"got in");
        // More than a pipe holds, in both directions at once.
        let big = vec![b'x'; 1 << 20];
        let words = ["sh", "-c", &format!("{HEADER} cat")].map(str::to_owned);
        assert_eq!(Program::new(words.to_vec()).unwrap().ask("Magic", big.clone()).unwrap(), big);
    }

    #[test]
    fn a_program_that_is_none_or_fails_is_told_of() {
        let failed = ask("echo no such key >&2; exit 3").unwrap_err();
        assert!(failed.contains("exit status: 3") && failed.contains("says: no such key"), "{failed}");
        let late = ask(&format!("{HEADER} cat; exit 4")).unwrap_err();
        assert!(late.contains("exit status: 4"), "{late}");
        // It is not waited for.
        let other = ask("echo hello; exec sleep 50").unwrap_err();
        assert!(other.contains(r#"begin with the line {"magic":"Magic","version":1}"#), "{other}");
        assert!(ask("").unwrap_err().contains("begin with the line"));
        let newer = ask(r#"echo '{"magic":"Magic","version":2}'; exec sleep 50"#).unwrap_err();
        assert!(newer.contains("version 2"), "{newer}");
        let missing = Program::new(vec!["./not-there".into()]).unwrap().ask("Magic", Vec::new()).unwrap_err();
        assert!(missing.contains("\"./not-there\" cannot be started"), "{missing}");
        assert!(Program::new(Vec::new()).is_err() && Program::new(vec![String::new()]).is_err());
    }
}
