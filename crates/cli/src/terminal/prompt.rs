//! Questions to the user.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::interrupt::Interrupts;
use super::palette::{Palette, Tone};
use super::streams::Streams;

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A line, without its end.
    Line(String),
    /// The input ended.
    End,
    /// The user interrupted.
    Interrupted,
}

/// Asks questions on the terminal, or of whatever standard input is.
pub struct Prompter {
    streams: Streams,
    palette: Palette,
    interrupts: Interrupts,
    lines: Mutex<Option<Reader>>,
}

/// A thread that reads one line for each request, so that an interrupt need not wait for the line.
struct Reader {
    requests: Sender<()>,
    lines: Receiver<Option<String>>,
}

impl Prompter {
    /// Questions to `streams`.
    pub fn new(streams: Streams, palette: Palette, interrupts: Interrupts) -> Self {
        Self { streams, palette, interrupts, lines: Mutex::default() }
    }

    /// Asks: a title, explanations, and the cursor after `Enter a value:`.
    pub fn ask(&self, title: &str, explanation: &str) -> Answer {
        let mut text = format!("{}\n", self.palette.paint(Tone::Bold, title));
        if !explanation.is_empty() {
            for line in explanation.lines() {
                text.push_str("  ");
                text.push_str(line);
                text.push('\n');
            }
            text.push('\n');
        }
        text.push_str(&format!("  {} ", self.palette.paint(Tone::Bold, "Enter a value:")));
        self.streams.print(&text);
        let answer = self.line();
        self.streams.print("\n");
        answer
    }

    /// The next line of input, without a question.
    pub fn line(&self) -> Answer {
        let notices = self.interrupts.notices();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = lines.get_or_insert_with(Reader::start);
        if reader.requests.send(()).is_err() {
            return Answer::End;
        }
        loop {
            match reader.lines.recv_timeout(Duration::from_millis(20)) {
                Ok(Some(line)) => return Answer::Line(line),
                Ok(None) | Err(RecvTimeoutError::Disconnected) => return Answer::End,
                Err(RecvTimeoutError::Timeout) if notices.try_recv().is_ok() => return Answer::Interrupted,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Reader {
    fn start() -> Self {
        let (requests, wanted) = channel::<()>();
        let (found, lines) = channel();
        std::thread::spawn(move || {
            while wanted.recv().is_ok() {
                let mut bytes = Vec::new();
                let read = io::stdin().lock().read_until(b'\n', &mut bytes);
                let line = match read {
                    Ok(0) | Err(_) => None,
                    Ok(_) => Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned()),
                };
                if found.send(line).is_err() {
                    return;
                }
            }
        });
        Self { requests, lines }
    }
}
