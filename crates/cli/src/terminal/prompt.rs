//! Questions to the user.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use super::interrupt::Interrupts;
use super::palette::{Palette, Tone};
use super::safe_text::printable;
use super::streams::Streams;

/// The answer to a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A line, without its end.
    Line(String),
    /// A line that is not valid UTF-8.
    NotUtf8,
    /// The input has ended.
    End,
    /// The user has interrupted the prompt.
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
    lines: Receiver<Answer>,
}

impl Prompter {
    /// Creates prompts on `streams`.
    pub fn new(streams: Streams, palette: Palette, interrupts: Interrupts) -> Self {
        Self { streams, palette, interrupts, lines: Mutex::default() }
    }

    /// Asks: a title, explanations, and the cursor after `Enter a value:`.
    pub fn ask(&self, title: &str, explanation: &str) -> Answer {
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
        self.streams.print("\n");
        answer
    }

    /// The next line of input, without a question.
    pub fn line(&self) -> Answer {
        let notices = self.interrupts.notices();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_none() {
            *lines = Reader::start();
        }
        // Without a thread an interrupt only counts after the line.
        let Some(reader) = &*lines else { return read_line() };
        if reader.requests.send(()).is_err() {
            return Answer::End;
        }
        loop {
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
    /// Starts the thread, if the operating system allows another one.
    fn start() -> Option<Self> {
        let (requests, wanted) = channel::<()>();
        let (found, lines) = channel();
        let read = move || {
            while wanted.recv().is_ok() && found.send(read_line()).is_ok() {}
        };
        let started = Builder::new().name("input".to_owned()).spawn(read);
        started.is_ok().then_some(Self { requests, lines })
    }
}

/// The next line of standard input.
fn read_line() -> Answer {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => Answer::End,
        Ok(_) => match String::from_utf8(bytes) {
            Ok(line) => Answer::Line(line.trim_end_matches(['\n', '\r']).to_owned()),
            Err(_) => Answer::NotUtf8,
        },
    }
}
