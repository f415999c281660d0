//! Standard output of the process, and whether everything written to it arrived.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The first error of writing to standard output, kept until the command ends.
///
/// Renderers ignore errors of their output, because a broken output must not stop an apply. The command fails at its end instead.
#[derive(Clone, Debug, Default)]
pub struct WriteFailure(Arc<Mutex<Option<io::Error>>>);

impl WriteFailure {
    /// Records `error`. A reader that closed its end of the pipe wants no more: that is no failure.
    fn record(&self, error: &io::Error) {
        if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted) {
            return;
        }
        let copy = || match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => error.kind().into(),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(copy);
    }

    /// Takes the error out, if there was one.
    pub fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A writer that records its errors.
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

/// A view of a shared writer that can be owned: writes lock it.
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
    fn only_a_closed_pipe_is_no_failure() {
        let failure = |kind| {
            let failure = WriteFailure::default();
            let _ = Recorded::new(Failing(kind), failure.clone()).write_all(b"a");
            failure.take().map(|error| error.kind())
        };
        assert_eq!(failure(ErrorKind::BrokenPipe), None);
        assert_eq!(failure(ErrorKind::StorageFull), Some(ErrorKind::StorageFull));
    }
}
