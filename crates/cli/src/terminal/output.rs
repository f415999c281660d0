//! Standard output of the process, and detection of failed writes.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// First error of writing to standard output, reported when the command ends.
///
/// Renderers ignore write errors, because broken output must not stop an apply. The command fails at its end instead.
#[derive(Clone, Debug, Default)]
pub struct WriteFailure(Arc<Mutex<Option<io::Error>>>);

impl WriteFailure {
    /// Records `error`, except a closed pipe: a reader that has seen enough is no failure.
    fn record(&self, error: &io::Error) {
        if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted) {
            return;
        }
        // io::Error cannot be cloned.
        let copy = || match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => error.kind().into(),
        };
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
