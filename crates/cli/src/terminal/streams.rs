//! Standard output, error and input of the process.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::palette::Palette;

/// Columns of an output that is no terminal.
pub const PIPE_COLUMNS: usize = 78;

/// An output that threads share.
pub type Shared = Arc<Mutex<dyn Write + Send>>;

/// What an output is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// A terminal of so many columns.
    Terminal(usize),
    /// A pipe or a file.
    Pipe,
}

impl Device {
    /// Columns to fill.
    pub fn columns(self) -> usize {
        match self {
            Self::Terminal(columns) => columns,
            Self::Pipe => PIPE_COLUMNS,
        }
    }

    /// Colours as the device and the user have them.
    pub fn palette(self, wish: Colors) -> Palette {
        match (self, wish) {
            (Self::Terminal(_), Colors::Allowed) => Palette::Ansi,
            _ => Palette::Plain,
        }
    }
}

/// Whether the user allows colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// Wherever they are useful.
    Allowed,
    /// Nowhere: `-no-color`, `NO_COLOR`.
    Forbidden,
}

/// Lines at the bottom of the terminal that are drawn again and again.
pub trait Overlay: Send + Sync {
    /// Takes the lines away, so that something else can be printed in their place.
    fn lift(&self);
}

/// The streams of the process.
#[derive(Clone)]
pub struct Streams {
    /// What standard output is connected to.
    pub output: Device,
    /// What standard error is connected to.
    pub error: Device,
    /// Whether somebody can be asked on standard input.
    pub input_is_terminal: bool,
    stdout: Shared,
    overlay: Arc<Mutex<Option<Weak<dyn Overlay>>>>,
}

impl Streams {
    /// The streams of this process.
    pub fn of_process() -> Self {
        let columns = terminal_size::terminal_size().map_or(PIPE_COLUMNS, |(width, _)| usize::from(width.0));
        let device = |is_terminal: bool| if is_terminal { Device::Terminal(columns) } else { Device::Pipe };
        Self {
            output: device(io::stdout().is_terminal()),
            error: device(io::stderr().is_terminal()),
            input_is_terminal: io::stdin().is_terminal(),
            stdout: Arc::new(Mutex::new(BufWriter::with_capacity(1 << 16, io::stdout()))),
            overlay: Arc::default(),
        }
    }

    /// Standard output, buffered: whoever wants it seen flushes it.
    pub fn stdout(&self) -> &Shared {
        &self.stdout
    }

    /// From now on `overlay` is lifted before anything is printed, as long as it lives.
    pub fn print_above(&self, overlay: Weak<dyn Overlay>) {
        *self.overlay.lock().unwrap_or_else(PoisonError::into_inner) = Some(overlay);
    }

    fn lift_overlay(&self) {
        let overlay = self.overlay.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade);
        if let Some(overlay) = overlay {
            overlay.lift();
        }
    }

    /// Writes `text` to standard output. A reader that went away is no error.
    pub fn print(&self, text: &str) {
        self.lift_overlay();
        let mut out = self.stdout.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }

    /// Writes `text` to standard error, after everything that was written to standard output.
    pub fn print_error(&self, text: &str) {
        self.lift_overlay();
        let _ = self.stdout.lock().unwrap_or_else(PoisonError::into_inner).flush();
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}
