//! The few things that are done to a file, behind a trait so that tests can make them fail.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use crate::window::Window;

/// A file that is written at places of the writer's choice.
pub(crate) trait Storage: Send + Sync {
    /// Its length in bytes.
    fn length(&self) -> io::Result<u64>;
    /// Fills `bytes` with what is at `offset`, as far as the file goes; returns how much that is.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `bytes` from `offset` on.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Cuts it off, or extends it by zeros.
    fn set_length(&self, length: u64) -> io::Result<()>;
    /// Makes sure that it can grow to `length` without running out of disk or exceeding the process's limit on file sizes; may do
    /// nothing where that is unknown.
    fn reserve(&self, length: u64) -> io::Result<()>;
    /// Waits until its content is on the disk.
    fn sync(&self) -> io::Result<()>;
    /// Has the bytes of a range brought to the disk, as far as the system can do that without anybody waiting for it.
    fn start_sync(&self, _range: Range<u64>) {}

    /// The bytes from `at` on as memory, where the system can do that safely; writes to the same place go on working.
    fn window(&self, _at: u64) -> Option<Window> {
        None
    }

    /// All of its bytes.
    fn read_all(&self) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.length()?).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        // The file may have become shorter since its length was read.
        let read = self.read_at(&mut bytes, 0)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Passes all of its bytes, piece by piece, to `take`.
    fn read_pieces(&self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        let mut offset = 0;
        loop {
            let read = self.read_at(&mut piece, offset)?;
            if read == 0 {
                return Ok(());
            }
            take(&piece[..read])?;
            offset += read as u64;
        }
    }
}

/// The number of bytes that are read at once where the whole content need not be in memory.
const PIECE: usize = 1 << 18;

impl Storage for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match platform::read_at(self, rest, offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                // A signal interrupts the call without an error in the file.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        platform::write_at(self, bytes, offset)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn reserve(&self, length: u64) -> io::Result<()> {
        // Without this check the kernel would end the process with SIGXFSZ.
        platform::check_size_limit(length)?;
        platform::reserve(self, length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn start_sync(&self, range: Range<u64>) {
        platform::start_sync(self, range);
    }

    fn window(&self, at: u64) -> Option<Window> {
        Window::of(self, at)
    }
}

/// Brings the names in the folder of `path` to the disk, where the system can do that.
pub(crate) fn sync_folder(path: &Path) {
    let folder = match path.parent() {
        // A path without a directory names a file in the working directory.
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // Not every file system can; the content itself is synced.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(unix)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::ops::Range;
    use std::os::unix::fs::FileExt;

    pub fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(bytes, offset)
    }

    pub fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    /// Fails where a file of `length` exceeds the limit on file sizes (`ulimit -f`), which reserving blocks does not observe.
    pub fn check_size_limit(length: u64) -> io::Result<()> {
        use nix::sys::resource::{Resource, getrlimit};
        match getrlimit(Resource::RLIMIT_FSIZE) {
            Ok((limit, _)) if length > limit => Err(nix::errno::Errno::EFBIG.into()),
            _ => Ok(()),
        }
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn reserve(file: &File, length: u64) -> io::Result<()> {
        use nix::errno::Errno;
        use nix::fcntl::{FallocateFlags, fallocate};
        let length = i64::try_from(length).map_err(io::Error::other)?;
        match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, length) {
            // Not every file system can reserve; then a full disk shows when writing.
            Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::EINVAL | Errno::ENODEV | Errno::EINTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Starts writing a range to the disk: the kernel does that at once for pages that are advised to be unneeded.
    /// They stay in memory until they are written.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn start_sync(file: &File, range: Range<u64>) {
        use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
        if let (Ok(start), Ok(length)) = (i64::try_from(range.start), i64::try_from(range.end - range.start)) {
            // Without it the last sync takes longer, and that is all.
            let _ = posix_fadvise(file, start, length, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn start_sync(_: &File, _: Range<u64>) {}

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn reserve(_: &File, _: u64) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(windows)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::ops::Range;
    use std::os::windows::fs::FileExt;

    pub fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        file.seek_read(bytes, offset)
    }

    pub fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = file.seek_write(bytes, offset)?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[written..];
            offset += written as u64;
        }
        Ok(())
    }

    pub fn check_size_limit(_: u64) -> io::Result<()> {
        Ok(())
    }

    pub fn reserve(_: &File, _: u64) -> io::Result<()> {
        Ok(())
    }

    pub fn start_sync(_: &File, _: Range<u64>) {}
}

#[cfg(test)]
pub(crate) mod faulty {
    use std::sync::{Arc, Mutex};

    use super::{Storage, io};

    /// A file in memory whose disk fills up, or whose process is killed, after a number of bytes and steps.
    #[derive(Clone, Default)]
    pub struct Faulty(pub Arc<Mutex<Inner>>);

    #[derive(Default)]
    pub struct Inner {
        pub bytes: Vec<u8>,
        /// The number of bytes that can still be written; `None` means no limit.
        pub room: Option<usize>,
        /// Whether `reserve` knows about the room.
        pub reserves: bool,
    }

    impl Faulty {
        pub fn with(bytes: &[u8], room: Option<usize>) -> Self {
            Self(Arc::new(Mutex::new(Inner { bytes: bytes.to_vec(), room, reserves: false })))
        }

        pub fn bytes(&self) -> Vec<u8> {
            self.0.lock().unwrap().bytes.clone()
        }

        pub fn set_room(&self, room: Option<usize>) {
            self.0.lock().unwrap().room = room;
        }
    }

    impl Storage for Faulty {
        fn length(&self) -> io::Result<u64> {
            Ok(self.0.lock().unwrap().bytes.len() as u64)
        }

        fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
            let inner = self.0.lock().unwrap();
            let there = inner.bytes.get(offset as usize..).unwrap_or_default();
            let length = there.len().min(bytes.len());
            bytes[..length].copy_from_slice(&there[..length]);
            Ok(length)
        }

        fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            let mut inner = self.0.lock().unwrap();
            let offset = offset as usize;
            let fits = inner.room.unwrap_or(usize::MAX).min(bytes.len());
            if inner.bytes.len() < offset + fits {
                inner.bytes.resize(offset + fits, 0);
            }
            inner.bytes[offset..offset + fits].copy_from_slice(&bytes[..fits]);
            if let Some(room) = &mut inner.room {
                *room -= fits;
            }
            if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn set_length(&self, length: u64) -> io::Result<()> {
            let mut inner = self.0.lock().unwrap();
            if inner.room == Some(0) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            inner.bytes.resize(length as usize, 0);
            Ok(())
        }

        fn reserve(&self, length: u64) -> io::Result<()> {
            let inner = self.0.lock().unwrap();
            let needed = (length as usize).saturating_sub(inner.bytes.len());
            let full = inner.reserves && inner.room.is_some_and(|room| room < needed);
            if full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }
}
