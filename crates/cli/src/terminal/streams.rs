//! Standard input, output and error of the process, and detection of failed writes.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError, Weak};

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
        // Buffered, because progress and documents are written in many small pieces.
        let bare: Shared = Arc::new(Mutex::new(BufWriter::with_capacity(1 << 16, stdout)));
        Self {
            output,
            error: device(io::stderr().is_terminal()),
            input_is_terminal: io::stdin().is_terminal(),
            text: safe(&bare, output.palette(Colors::Allowed)),
            documents: match output {
                // On a terminal even documents are made safe, because nobody parses them there.
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
        // The lock is released before lifting, because the overlay itself prints.
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
        // Errors are recorded by the writer below, and reported at the end of the command.
        let _ = out.write_all(bytes);
        let _ = out.flush();
    }

    /// Lets `write` print a document to standard output in pieces. Errors are reported when the command ends.
    pub fn print_document_with(&self, write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) {
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

/// First error of writing to standard output, reported when the command ends.
///
/// Renderers ignore write errors, because broken output must not stop an apply. The command fails at its end instead.
#[derive(Clone, Debug, Default)]
pub struct WriteFailure(Arc<Mutex<Option<io::Error>>>);

impl WriteFailure {
    /// Records `error`, except a closed pipe: a reader that has seen enough is no failure.
    fn record(&self, error: &io::Error) {
        // The writer already retries interrupted writes.
        if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted) {
            return;
        }
        // io::Error cannot be cloned.
        let copy = || match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => error.kind().into(),
        };
        // Only the first error is kept: the others follow from it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(copy);
    }

    /// Takes the recorded error, if any.
    pub fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Writer that records its errors.
pub(super) struct Recorded<W> {
    inner: W,
    failure: WriteFailure,
}

impl<W> Recorded<W> {
    pub(super) fn new(inner: W, failure: WriteFailure) -> Self {
        Self { inner, failure }
    }

    fn recorded<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| self.failure.record(error))
    }
}

impl<W: Write> Write for Recorded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.recorded(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.recorded(result)
    }
}

/// Owned handle of a shared writer, which each write locks.
pub(super) struct Handle<W: ?Sized>(pub(super) Arc<Mutex<W>>);

impl<W: Write + ?Sized> Write for Handle<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn records_all_errors_except_closed_pipe() {
        let failure = |kind| {
            let failure = WriteFailure::default();
            let _ = Recorded::new(Failing(kind), failure.clone()).write_all(b"a");
            failure.take().map(|error| error.kind())
        };
        assert_eq!(failure(ErrorKind::BrokenPipe), None);
        assert_eq!(failure(ErrorKind::StorageFull), Some(ErrorKind::StorageFull));
    }
}
