//! Output of the programs that print credentials, such as `az`.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use groma_diagnostics::io_reason;

use crate::error::TokenError;

/// The number of characters of a program's standard error that an error message quotes.
const STDERR_LIMIT: usize = 300;

/// Runs a program and returns its standard output. Kills the program after `timeout`.
///
/// # Errors
/// Fails if the program cannot be run, exits with a failure (the error then quotes its standard error), or takes too
/// long.
pub(crate) async fn command_output(command: Command, timeout: Duration) -> Result<Vec<u8>, TokenError> {
    // Other requests share the thread of this one and must not wait for a program.
    let ended = tokio::task::spawn_blocking(move || run(command, timeout)).await;
    ended.unwrap_or_else(|_| Err(TokenError::program("the thread that waits for the program ended unexpectedly")))
}

fn run(mut command: Command, timeout: Duration) -> Result<Vec<u8>, TokenError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |problem: &str, error: &io::Error| TokenError::program(format!("{problem}: {}", io_reason(error)));
    // Without input, a program that prompts for a password fails instead of waiting.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&format!("cannot run {name}"), &error))?;
    let streams = read_to_end(child.stdout.take()).and_then(|stdout| Ok((stdout, read_to_end(child.stderr.take())?)));
    let (stdout, stderr) = streams.map_err(|error| {
        let _ = child.kill();
        let _ = child.wait();
        failed(&format!("cannot start a thread that reads the output of {name}"), &error)
    })?;
    let deadline = Instant::now() + timeout;
    // The standard library has no wait with a deadline, so this polls.
    let status = loop {
        match child.try_wait().map_err(|error| failed(&format!("cannot wait for {name}"), &error))? {
            Some(status) => break status,
            None if Instant::now() >= deadline => {
                let _ = child.kill();
                let _ = child.wait();
                let seconds = timeout.as_secs();
                return Err(TokenError::program(format!("{name} did not finish within {seconds} seconds")));
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    // The program has ended, but a process that it left running may hold its streams open forever.
    let received = |stream: Receiver<Vec<u8>>| stream.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    if status.success() {
        return Ok(received(stdout));
    }
    let stderr = received(stderr);
    let stderr = String::from_utf8_lossy(&stderr);
    // One line, because the text is quoted within a sentence.
    let stderr = stderr.split_whitespace().collect::<Vec<&str>>().join(" ");
    let quoted: String = stderr.chars().take(STDERR_LIMIT).collect();
    Err(TokenError::program(format!("{name} failed ({status}): {quoted}")))
}

/// Reads a stream to its end on a new thread, so that a program which fills both pipes does not block.
///
/// # Errors
/// Fails if the operating system allows no further thread.
fn read_to_end(stream: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(mut stream) = stream {
        let read = move || {
            let mut bytes = Vec::new();
            // Whatever arrived before a read error is still worth quoting.
            let _ = stream.read_to_end(&mut bytes);
            _ = sender.send(bytes);
        };
        std::thread::Builder::new().name("program output".to_owned()).spawn(read)?;
    }
    Ok(receiver)
}
