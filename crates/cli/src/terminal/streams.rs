//! Standard output, error and input of the process.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::output::{Handle, Recorded, WriteFailure};
use super::palette::Palette;
use super::safe_text::SafeWriter;

/// Columns of an output that is no terminal.
pub const PIPE_COLUMNS: usize = 78;

/// An output that threads share.
pub type Shared = Arc<Mutex<dyn Write + Send>>;

/// The device behind an output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// A terminal of so many columns.
    Terminal(usize),
    /// A pipe or a file.
    Pipe,
}

impl Device {
    /// Returns the width in columns.
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
    /// Color is disabled: `-no-color`, `NO_COLOR`.
    Forbidden,
}

/// Lines at the bottom of the terminal that are drawn again and again.
pub trait Overlay: Send + Sync {
    /// Takes the lines away, so that something else can be printed in their place.
    fn lift(&self);
}

/// The streams of the process.
///
/// Text for people is made safe for terminals wherever it goes: logs of pipelines are read on terminals later. Documents are for
/// programs, which get them byte for byte; only on a terminal they are made safe, too.
#[derive(Clone)]
pub struct Streams {
    /// The device behind standard output.
    pub output: Device,
    /// The device behind standard error.
    pub error: Device,
    /// Whether somebody can be asked on standard input.
    pub input_is_terminal: bool,
    text: Shared,
    documents: Shared,
    bare: Shared,
    failure: WriteFailure,
    overlay: Arc<Mutex<Option<Weak<dyn Overlay>>>>,
}

impl Streams {
    /// The streams of this process.
    pub fn of_process() -> Self {
        let columns = terminal_size::terminal_size().map_or(PIPE_COLUMNS, |(width, _)| usize::from(width.0));
        let device = |is_terminal: bool| if is_terminal { Device::Terminal(columns) } else { Device::Pipe };
        let output = device(io::stdout().is_terminal());
        let failure = WriteFailure::default();
        let stdout = Recorded::new(io::stdout(), failure.clone());
        let bare: Shared = Arc::new(Mutex::new(BufWriter::with_capacity(1 << 16, stdout)));
        Self {
            output,
            error: device(io::stderr().is_terminal()),
            input_is_terminal: io::stdin().is_terminal(),
            text: safe(&bare, output.palette(Colors::Allowed)),
            documents: match output {
                Device::Terminal(_) => safe(&bare, Palette::Plain),
                Device::Pipe => Arc::clone(&bare),
            },
            bare,
            failure,
            overlay: Arc::default(),
        }
    }

    /// From now on text has no colors.
    pub fn forbid_colors(&mut self) {
        self.text = safe(&self.bare, Palette::Plain);
    }

    /// Standard output for text that people read. It is buffered; callers flush it.
    pub fn text(&self) -> &Shared {
        &self.text
    }

    /// Standard output for what programs read, buffered.
    pub fn documents(&self) -> &Shared {
        &self.documents
    }

    /// Standard output for drawing on a terminal: nothing is made safe.
    pub fn bare(&self) -> &Shared {
        &self.bare
    }

    /// Flushes standard output; returns the first error that writing to it had, unless its reader went away.
    pub fn finish(&self) -> Option<io::Error> {
        let _ = self.bare.lock().unwrap_or_else(PoisonError::into_inner).flush();
        self.failure.take()
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

    /// Writes text for people to standard output. An error is reported when the command ends.
    pub fn print(&self, text: &str) {
        self.put(&self.text, text.as_bytes());
    }

    /// Writes what programs read to standard output. An error is reported when the command ends.
    pub fn print_document(&self, document: &str) {
        self.print_document_bytes(document.as_bytes());
    }

    /// Writes what programs read, which need not be UTF-8, to standard output. An error is reported when the command ends.
    pub fn print_document_bytes(&self, document: &[u8]) {
        self.put(&self.documents, document);
    }

    fn put(&self, out: &Shared, bytes: &[u8]) {
        self.lift_overlay();
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(bytes);
        let _ = out.flush();
    }

    /// Has `write` write a document to standard output, piece by piece. An error is reported when the command ends.
    pub fn print_document_with(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        self.lift_overlay();
        let mut out = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = write(&mut *out);
        let _ = out.flush();
    }

    /// Writes `text` to standard error, after everything that was written to standard output.
    pub fn print_error(&self, text: &str) {
        self.lift_overlay();
        let _ = self.bare.lock().unwrap_or_else(PoisonError::into_inner).flush();
        let palette = if self.error == Device::Pipe { Palette::Plain } else { Palette::Ansi };
        let _ = SafeWriter::new(io::stderr().lock(), palette).write_all(text.as_bytes());
    }
}

/// A writer into `out` that makes text safe.
fn safe(out: &Shared, palette: Palette) -> Shared {
    Arc::new(Mutex::new(SafeWriter::new(Handle(Arc::clone(out)), palette)))
}
