//! Standard input, output and error of the process.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::output::{Handle, Recorded, WriteFailure};
use super::palette::Palette;
use super::safe_text::SafeWriter;

/// Width of an output that is not a terminal, as in Terraform.
pub const PIPE_COLUMNS: usize = 78;

/// Writer that threads share.
pub type Shared = Arc<Mutex<dyn Write + Send>>;

/// Device that an output is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// A terminal with its number of columns.
    Terminal(usize),
    /// A pipe or a file.
    Pipe,
}

impl Device {
    /// Returns the number of columns for wrapping.
    pub fn columns(self) -> usize {
        match self {
            Self::Terminal(columns) => columns,
            Self::Pipe => PIPE_COLUMNS,
        }
    }

    /// Returns the palette for this device, if the user allows colors.
    pub fn palette(self, colors: Colors) -> Palette {
        match (self, colors) {
            (Self::Terminal(_), Colors::Allowed) => Palette::Ansi,
            _ => Palette::Plain,
        }
    }
}

/// Whether the user allows colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// Colors wherever the device supports them.
    Allowed,
    /// `-no-color` or `NO_COLOR`.
    Forbidden,
}

/// Live lines at the bottom of the terminal, which are redrawn repeatedly.
pub trait Overlay: Send + Sync {
    /// Erases the lines, so that other text can be printed in their place.
    fn lift(&self);
}

/// Standard streams of the process.
///
/// Control characters in text are replaced for every device, because logs of pipelines are later read on terminals. Documents for
/// programs are written byte for byte, except to a terminal.
#[derive(Clone)]
pub struct Streams {
    /// Device of standard output.
    pub output: Device,
    /// Device of standard error.
    pub error: Device,
    /// Whether standard input is interactive.
    pub input_is_terminal: bool,
    text: Shared,
    documents: Shared,
    bare: Shared,
    failure: WriteFailure,
    overlay: Arc<Mutex<Option<Weak<dyn Overlay>>>>,
}

impl Streams {
    /// Returns the streams of this process.
    pub fn of_process() -> Self {
        // The width is read once: text that was already written is not wrapped again on resize.
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

    /// Disables colors in all further text.
    pub fn forbid_colors(&mut self) {
        self.text = safe(&self.bare, Palette::Plain);
    }

    /// Returns the writer for text on standard output. It is buffered; callers must flush it.
    pub fn text(&self) -> &Shared {
        &self.text
    }

    /// Returns the buffered writer for documents on standard output.
    pub fn documents(&self) -> &Shared {
        &self.documents
    }

    /// Returns the writer for drawing on a terminal, which does not replace control characters.
    pub fn bare(&self) -> &Shared {
        &self.bare
    }

    /// Flushes standard output; returns its first write error, except a closed pipe.
    pub fn finish(&self) -> Option<io::Error> {
        let _ = self.bare.lock().unwrap_or_else(PoisonError::into_inner).flush();
        self.failure.take()
    }

    /// Erases `overlay` before all further output, as long as it exists.
    pub fn print_above(&self, overlay: Weak<dyn Overlay>) {
        *self.overlay.lock().unwrap_or_else(PoisonError::into_inner) = Some(overlay);
    }

    fn lift_overlay(&self) {
        let overlay = self.overlay.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade);
        if let Some(overlay) = overlay {
            overlay.lift();
        }
    }

    /// Prints text to standard output. Errors are reported when the command ends.
    pub fn print(&self, text: &str) {
        self.put(&self.text, text.as_bytes());
    }

    /// Prints a document to standard output. Errors are reported when the command ends.
    pub fn print_document(&self, document: &str) {
        self.print_document_bytes(document.as_bytes());
    }

    /// Prints a document, which need not be UTF-8, to standard output. Errors are reported when the command ends.
    pub fn print_document_bytes(&self, document: &[u8]) {
        self.put(&self.documents, document);
    }

    fn put(&self, out: &Shared, bytes: &[u8]) {
        self.lift_overlay();
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(bytes);
        let _ = out.flush();
    }

    /// Lets `write` print a document to standard output in pieces. Errors are reported when the command ends.
    pub fn print_document_with(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        self.lift_overlay();
        let mut out = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = write(&mut *out);
        let _ = out.flush();
    }

    /// Prints text to standard error, after flushing standard output to keep their order.
    pub fn print_error(&self, text: &str) {
        self.lift_overlay();
        // Standard error is not buffered, so earlier output must be written first.
        let _ = self.bare.lock().unwrap_or_else(PoisonError::into_inner).flush();
        let palette = if self.error == Device::Pipe { Palette::Plain } else { Palette::Ansi };
        let _ = SafeWriter::new(io::stderr().lock(), palette).write_all(text.as_bytes());
    }
}

/// Returns a writer to `out` that replaces control characters.
fn safe(out: &Shared, palette: Palette) -> Shared {
    Arc::new(Mutex::new(SafeWriter::new(Handle(Arc::clone(out)), palette)))
}
