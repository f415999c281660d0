//! Prompts for user input, and for secrets that are not shown.

#[cfg(unix)]
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use super::interrupt::Interrupts;
use super::palette::{Palette, Tone};
use super::safe_text::printable;
use super::streams::Streams;

/// Answer to a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A line without its line break.
    Line(String),
    /// A line that is not valid UTF-8.
    NotUtf8,
    /// End of input.
    End,
    /// An interrupt during the prompt.
    Interrupted,
}

/// Prompts on standard output, and reads answers from standard input.
pub struct Prompter {
    streams: Streams,
    palette: Palette,
    interrupts: Interrupts,
    lines: Mutex<Option<Reader>>,
}

/// Thread that reads one line per request, so that an interrupt does not have to wait for the line.
struct Reader {
    requests: Sender<()>,
    lines: Receiver<Answer>,
}

impl Prompter {
    /// Creates a prompter on `streams`.
    pub fn new(streams: Streams, palette: Palette, interrupts: Interrupts) -> Self {
        Self { streams, palette, interrupts, lines: Mutex::default() }
    }

    /// Prints a title, an explanation and `Enter a value:`, and reads the answer.
    pub fn ask(&self, title: &str, explanation: &str) -> Answer {
        // Titles may contain names and descriptions from modules, so control characters are replaced.
        let mut text = format!("{}\n", self.palette.paint(Tone::Bold, printable(title)));
        if !explanation.is_empty() {
            for line in explanation.lines() {
                text.push_str("  ");
                text.push_str(&printable(line));
                text.push('\n');
            }
            text.push('\n');
        }
        text.push_str(&format!("  {} ", self.palette.paint(Tone::Bold, "Enter a value:")));
        self.streams.print(&text);
        let answer = self.line();
        // Input that ended or was interrupted has no line break of its own.
        self.streams.print("\n");
        answer
    }

    /// Reads a line of input, without a prompt.
    pub fn line(&self) -> Answer {
        // Subscribed before reading, so that no interrupt is missed.
        let notices = self.interrupts.notices();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_none() {
            *lines = Reader::start();
        }
        // Without a thread an interrupt is only noticed after the line.
        let Some(reader) = &*lines else { return read_line() };
        if reader.requests.send(()).is_err() {
            return Answer::End;
        }
        loop {
            // Polling both channels; a blocking read of standard input cannot be cancelled.
            match reader.lines.recv_timeout(Duration::from_millis(20)) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return Answer::End,
                Err(RecvTimeoutError::Timeout) if notices.try_recv().is_ok() => return Answer::Interrupted,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Reader {
    /// Starts the thread; `None` if the operating system refuses it.
    fn start() -> Option<Self> {
        let (requests, pending) = channel::<()>();
        let (answers, lines) = channel();
        let read = move || {
            // The thread ends when the prompter is dropped.
            while pending.recv().is_ok() && answers.send(read_line()).is_ok() {}
        };
        let started = Builder::new().name("input".to_owned()).spawn(read);
        started.is_ok().then_some(Self { requests, lines })
    }
}

/// Reads a line of standard input.
fn read_line() -> Answer {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_until(b'\n', &mut bytes) {
        // A failed read ends the input as well.
        Ok(0) | Err(_) => Answer::End,
        Ok(_) => match String::from_utf8(bytes) {
            Ok(line) => Answer::Line(line.trim_end_matches(['\n', '\r']).to_owned()),
            Err(_) => Answer::NotUtf8,
        },
    }
}

/// Guard that turns off the echo of the terminal while it is alive. Without effect on other systems than Unix.
pub struct Hidden {
    #[cfg(unix)]
    before: Option<Termios>,
}

impl Hidden {
    /// Turns off the echo.
    #[cfg(unix)]
    pub fn begin() -> Self {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(before) = &before {
            let mut hidden = before.clone();
            hidden.local_flags.remove(LocalFlags::ECHO);
            // If the terminal does not support this, the prompt works anyway.
            let _ = tcsetattr(io::stdin(), SetArg::TCSADRAIN, &hidden);
        }
        Self { before }
    }

    /// Returns a guard without effect.
    #[cfg(not(unix))]
    pub fn begin() -> Self {
        Self {}
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Restored even if the prompt was interrupted.
            let _ = tcsetattr(io::stdin(), SetArg::TCSADRAIN, before);
        }
    }
}
