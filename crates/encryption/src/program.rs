//! External programs that supply keys, or encrypt and decrypt, over their standard streams: the key provider and the
//! method `external`.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groma_diagnostics::io_reason;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::KeyError;
use crate::key_provider::{GeneratedKey, KeyService, encode_metadata};

/// The time that a program may take, including its start.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The number of bytes at the end of a program's standard error that an error message quotes.
const STDERR_LIMIT: usize = 2000;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    name: String,
    arguments: Vec<String>,
}

/// The first line of a program's output, which identifies the protocol.
#[derive(Deserialize)]
struct Header {
    magic: String,
    version: u64,
}

impl Program {
    /// Creates a program from a `command` argument: the program, then its arguments.
    ///
    /// # Errors
    /// Fails if the list or its first element is empty.
    pub fn new(words: Vec<String>) -> Result<Self, KeyError> {
        let mut words = words.into_iter();
        match words.next() {
            Some(name) if !name.is_empty() => Ok(Self { name, arguments: words.collect() }),
            _ => Err(KeyError::argument("command must be a list of the program and its arguments")),
        }
    }

    /// Runs the program with `input` on its standard input. The first line of its output must be a header with
    /// `magic`; returns the rest.
    ///
    /// # Errors
    /// Fails if the program cannot be run, prints another header, fails, or takes too long. The error quotes its
    /// standard error.
    pub(crate) fn run(&self, magic: &str, input: Vec<u8>) -> Result<Vec<u8>, KeyError> {
        let mut child = Command::new(&self.name)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                KeyError::program(format!("cannot start the program {:?}: {}", self.name, io_reason(&error)))
            })?;
        let output = match Streams::open(&mut child, input) {
            Ok(streams) => self.output(&mut child, &streams, magic),
            Err(error) => {
                let reason = io_reason(&error);
                Err(KeyError::system(format!("cannot start a thread for the program {:?}: {reason}", self.name)))
            }
        };
        // After an error the program may still run. If it has ended, killing fails and waiting only reaps it.
        let _ = child.kill();
        let _ = child.wait();
        output
    }

    fn output(&self, child: &mut Child, streams: &Streams, magic: &str) -> Result<Vec<u8>, KeyError> {
        let deadline = Instant::now() + TIMEOUT;
        let timed_out = || {
            let seconds = TIMEOUT.as_secs();
            KeyError::program(format!("the program {:?} did not answer within {seconds} seconds", self.name))
        };
        let remaining = || deadline.saturating_duration_since(Instant::now());
        // The header comes first and alone, so that a program of another kind is recognized before it ends.
        let header = streams.output.recv_timeout(remaining()).map_err(|_| timed_out())?;
        let header_check = check_header(&header, magic);
        if let Err(problem) = &header_check
            && header.ends_with(b"\n")
        {
            // A program of another kind may wait for input forever, so its end is not awaited.
            return Err(self.failure(problem, streams));
        }
        let rest = streams.output.recv_timeout(remaining()).map_err(|_| timed_out())?;
        let status = loop {
            match child.try_wait().map_err(|error| {
                KeyError::program(format!("cannot wait for the program {:?}: {}", self.name, io_reason(&error)))
            })? {
                Some(status) => break status,
                None if remaining().is_zero() => return Err(timed_out()),
                // The standard library has no wait with a deadline.
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        // A program that fails before it prints a header is reported as failed, not as a program of another kind.
        if !status.success() {
            return Err(self.failure(&format!("failed ({status})"), streams));
        }
        header_check.map_err(|problem| self.failure(&problem, streams))?;
        Ok(rest)
    }

    /// Builds the error for a problem, with the standard error of the program.
    fn failure(&self, problem: &str, streams: &Streams) -> KeyError {
        // The program may still run and keep the stream open; the message is then without it.
        let stderr = streams.stderr.recv_timeout(Duration::from_millis(200)).unwrap_or_default();
        let stderr = String::from_utf8_lossy(&stderr);
        let stderr = stderr.trim();
        let failure = format!("the program {:?} {problem}", self.name);
        KeyError::program(if stderr.is_empty() { failure } else { format!("{failure}; its standard error: {stderr}") })
    }
}

/// Checks the first line of the output. The error is a clause that follows the name of the program.
fn check_header(line: &[u8], magic: &str) -> Result<(), String> {
    let missing = || format!("must begin its output with the line {{\"magic\":\"{magic}\",\"version\":1}}");
    let header: Header = serde_json::from_slice(line).map_err(|_| missing())?;
    if header.magic != magic {
        return Err(missing());
    }
    if header.version != 1 {
        return Err(format!("uses version {} of the protocol, and only version 1 is supported", header.version));
    }
    Ok(())
}

/// The streams of a running program. The threads that serve them are never joined, because a process that the program
/// leaves behind may keep the streams open.
struct Streams {
    /// Receives the first line, then the rest of the standard output.
    output: Receiver<Vec<u8>>,
    /// Receives the end of the standard error.
    stderr: Receiver<Vec<u8>>,
}

impl Streams {
    /// Starts the threads that write the input and read both outputs.
    ///
    /// # Errors
    /// Fails if the operating system allows no further thread.
    fn open(child: &mut Child, input: Vec<u8>) -> io::Result<Self> {
        let (output, output_end) = mpsc::channel();
        let (stderr_sender, stderr_end) = mpsc::channel();
        // A thread for each stream: a program that writes before it has read everything would block with a full pipe.
        if let Some(mut stdin) = child.stdin.take() {
            // Writing fails if the program ends early; its exit status is then the better error.
            spawn_thread("program input", move || _ = stdin.write_all(&input))?;
        }
        if let Some(stdout) = child.stdout.take() {
            spawn_thread("program output", move || {
                let mut stdout = BufReader::new(stdout);
                let (mut line, mut rest) = (Vec::new(), Vec::new());
                let _ = stdout.read_until(b'\n', &mut line);
                let _ = output.send(line);
                let _ = stdout.read_to_end(&mut rest);
                let _ = output.send(rest);
            })?;
        }
        if let Some(mut stderr) = child.stderr.take() {
            spawn_thread("program errors", move || {
                let mut bytes = Vec::new();
                let _ = stderr.read_to_end(&mut bytes);
                // The end is kept, because programs print the cause of a failure last.
                let start = bytes.len().saturating_sub(STDERR_LIMIT);
                let _ = stderr_sender.send(bytes.split_off(start));
            })?;
        }
        Ok(Self { output: output_end, stderr: stderr_end })
    }
}

fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(|_| ())
}

const KEYS_MAGIC: &str = "OpenTofu-External-Key-Provider";
const METHOD_MAGIC: &str = "OpenTofu-External-Encryption-Method";

/// The `external` key provider: a program that supplies keys.
#[derive(Clone, Debug)]
pub struct ExternalKeys {
    /// Run once for each key, with the metadata on its standard input.
    pub program: Program,
}

/// The metadata in an encrypted file. The program gets it back as input to supply the same key again.
#[derive(Default, Serialize, Deserialize)]
struct KeyMetadata {
    external_data: Option<serde_json::Map<String, Json>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    keys: OutputKeys,
    #[serde(default)]
    meta: Option<KeyMetadata>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputKeys {
    encryption_key: Option<String>,
    decryption_key: Option<String>,
}

impl ExternalKeys {
    fn run(&self, metadata: &KeyMetadata) -> Result<Output, KeyError> {
        // The protocol sends null when there is no metadata, so that a program can tell encryption from decryption.
        let input = match &metadata.external_data {
            Some(_) => encode_metadata(metadata)?,
            None => b"null".to_vec(),
        };
        parse(&self.program.run(KEYS_MAGIC, input)?)
    }
}

impl KeyService for ExternalKeys {
    fn generate(&self) -> Result<GeneratedKey, KeyError> {
        let output = self.run(&KeyMetadata::default())?;
        let key = key(output.keys.encryption_key)?
            .ok_or_else(|| KeyError::response("the output of the program has no encryption_key"))?;
        Ok(GeneratedKey { key, metadata: encode_metadata(&output.meta.unwrap_or_default())? })
    }

    fn recover(&self, metadata: Option<&[u8]>) -> Result<Option<Vec<u8>>, KeyError> {
        let metadata = match metadata {
            None => KeyMetadata::default(),
            Some(metadata) => match serde_json::from_slice(metadata) {
                Ok(metadata) => metadata,
                // Metadata of another shape belongs to another provider of the same name, so this one has no key for
                // the file.
                Err(_) => return Ok(None),
            },
        };
        key(self.run(&metadata)?.keys.decryption_key)
    }
}

/// The `external` method: programs that encrypt and decrypt whole files.
#[derive(Clone, Debug)]
pub struct ExternalMethod {
    /// Encrypts its standard input.
    pub encrypt: Program,
    /// Decrypts its standard input.
    pub decrypt: Program,
}

#[derive(Serialize)]
struct MethodInput {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    payload: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MethodOutput {
    payload: String,
}

impl ExternalMethod {
    pub(crate) fn seal(&self, key: Option<&[u8]>, text: &[u8]) -> Result<Vec<u8>, KeyError> {
        run(&self.encrypt, key, text)
    }

    pub(crate) fn open(&self, key: Option<&[u8]>, sealed: &[u8]) -> Result<Vec<u8>, KeyError> {
        run(&self.decrypt, key, sealed)
    }
}

fn run(program: &Program, key: Option<&[u8]>, payload: &[u8]) -> Result<Vec<u8>, KeyError> {
    let input =
        MethodInput { key: key.map(|key| BASE64_STANDARD.encode(key)), payload: BASE64_STANDARD.encode(payload) };
    let output: MethodOutput = parse(&program.run(METHOD_MAGIC, encode_metadata(&input)?)?)?;
    base64(&output.payload).ok_or_else(|| KeyError::response("the payload in the output of the program is not Base64"))
}

/// Parses the first JSON document of an output. Errors never quote it, because it holds secrets.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, KeyError> {
    // Only the first document counts; programs may print more after it.
    match serde_json::Deserializer::from_slice(bytes).into_iter().next() {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(error)) => Err(KeyError::response(format!(
            "the output of the program does not follow the protocol (line {}, column {})",
            error.line(),
            error.column()
        ))),
        None => Err(KeyError::response("the program printed no output after its header")),
    }
}

fn key(text: Option<String>) -> Result<Option<Vec<u8>>, KeyError> {
    // An empty key means none, which a program prints that only encrypts or only decrypts.
    match text.filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => {
            let invalid = || KeyError::response("the key in the output of the program is not Base64");
            base64(&text).map(Some).ok_or_else(invalid)
        }
    }
}

/// Decodes Base64 with line breaks, which tools such as `base64` insert.
fn base64(text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text.replace(['\r', '\n'], "")).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run(script: &str) -> Result<Vec<u8>, KeyError> {
        let words = ["sh", "-c", script].map(str::to_owned);
        Program::new(words.to_vec())?.run("Magic", b"in".to_vec())
    }

    const HEADER: &str = r#"echo '{"magic":"Magic","version":1,"more":true}';"#;

    #[test]
    fn program_receives_input_and_returns_output_after_the_header() {
        assert_eq!(run(&format!("{HEADER} printf 'got '; cat")).unwrap(), b"got in");
        // More than a pipe holds, in both directions at once.
        let big = vec![b'x'; 1 << 20];
        let words = ["sh", "-c", &format!("{HEADER} cat")].map(str::to_owned);
        assert_eq!(Program::new(words.to_vec()).unwrap().run("Magic", big.clone()).unwrap(), big);
    }

    #[test]
    fn failed_and_unsuitable_programs_are_reported() {
        let failed = run("echo no such key >&2; exit 3").unwrap_err().to_string();
        assert!(failed.contains("exit status: 3") && failed.contains("standard error: no such key"), "{failed}");
        let late = run(&format!("{HEADER} cat; exit 4")).unwrap_err().to_string();
        assert!(late.contains("exit status: 4"), "{late}");
        // Returns at once, although the program still runs.
        let other = run("echo hello; exec sleep 50").unwrap_err().to_string();
        assert!(other.contains(r#"begin its output with the line {"magic":"Magic","version":1}"#), "{other}");
        assert!(run("").unwrap_err().to_string().contains("begin its output with the line"));
        let newer = run(r#"echo '{"magic":"Magic","version":2}'; exec sleep 50"#).unwrap_err().to_string();
        assert!(newer.contains("version 2"), "{newer}");
        let missing =
            Program::new(vec!["./not-there".into()]).unwrap().run("Magic", Vec::new()).unwrap_err().to_string();
        assert!(missing.contains("cannot start the program \"./not-there\""), "{missing}");
        assert!(Program::new(Vec::new()).is_err() && Program::new(vec![String::new()]).is_err());
    }
}
