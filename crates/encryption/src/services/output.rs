//! What programs print that are asked who somebody is.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use groma_diagnostics::io_reason;

/// How much of what a program complains of is told.
const COMPLAINT: usize = 300;

/// Runs a program to its end, and returns what it prints; whoever takes longer than `patience` is ended.
///
/// # Errors
/// When it cannot be run, takes too long, or fails; what it complains of is told.
pub(super) fn output(mut command: Command, patience: Duration) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|problem| format!("the program {name} cannot be run: {problem}", problem = io_reason(&problem)))?;
    let printed = stream(child.stdout.take()).and_then(|printed| Ok((printed, stream(child.stderr.take())?)));
    let (printed, complaints) = printed.map_err(|problem| {
        let _ = child.kill();
        let _ = child.wait();
        format!("no thread can be started to read from the program {name}: {}", io_reason(&problem))
    })?;
    let end = Instant::now() + patience;
    let status = loop {
        match child
            .try_wait()
            .map_err(|problem| format!("the program {name} is lost: {problem}", problem = io_reason(&problem)))?
        {
            Some(status) => break status,
            None if Instant::now() >= end => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("the program {name} has not ended within {} seconds", patience.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    // It has ended; only what it has left running may keep its streams open.
    let left = |stream: Receiver<Vec<u8>>| stream.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    if status.success() {
        return Ok(left(printed));
    }
    let said = left(complaints);
    let said = String::from_utf8_lossy(&said);
    let said = said.split_whitespace().collect::<Vec<&str>>().join(" ");
    Err(format!("the program {name} has failed ({status}): {}", said.chars().take(COMPLAINT).collect::<String>()))
}

/// What comes out of a stream until it ends, read by a thread of its own.
///
/// # Errors
/// The operating system does not allow another thread.
fn stream(stream: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (all, end) = mpsc::channel();
    if let Some(mut stream) = stream {
        let read = move || {
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            _ = all.send(bytes);
        };
        std::thread::Builder::new().name("program output".to_owned()).spawn(read)?;
    }
    Ok(end)
}
