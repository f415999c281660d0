//! A part of a file as memory: what is put there is with the operating system at once, without a call to it.

use std::fs::File;
#[cfg(target_os = "linux")]
use std::sync::atomic::{Ordering, fence};

/// A stretch of a file whose blocks are there already, so that putting bytes into it cannot fail.
pub(crate) struct Window {
    #[cfg(target_os = "linux")]
    memory: memmap2::MmapMut,
    /// The offset of the window in the file.
    start: u64,
}

/// Number of bytes that are reserved and mapped at once. Few, because each page in memory when the file is synced is
/// protected one by one, for which all processors are stopped.
pub(crate) const WINDOW: usize = 1 << 17;

/// The number of bytes at the beginning of a write that are stored last.
#[cfg(target_os = "linux")]
const HEAD: usize = 16;

impl Window {
    /// A window that holds the bytes from `at` on; the file is at least as long as that then.
    ///
    /// None where the blocks cannot be reserved for good, because of the file system or since the disk is full: there a
    /// write has to say what is wrong, while touching memory without a block behind it would end the process.
    #[cfg(target_os = "linux")]
    pub fn of(file: &File, at: u64) -> Option<Self> {
        use nix::fcntl::{FallocateFlags, fallocate};
        // Copy-on-write file systems allocate a new block for each write, so a reserved one does not help there.
        if !keeps_reserved_blocks(file) {
            return None;
        }
        let (offset, length) = (i64::try_from(at).ok()?, i64::try_from(WINDOW).ok()?);
        fallocate(file, FallocateFlags::empty(), offset, length).ok()?;
        let mut options = memmap2::MmapOptions::new();
        options.offset(at).len(WINDOW);
        // The memory is written by this process alone, which holds the file's lock; code that truncates the file
        // drops its window before.
        #[allow(unsafe_code, reason = "what is in a file that others could change is never borrowed")]
        let memory = unsafe { options.map_mut(file) }.ok()?;
        if at >= WINDOW as u64 {
            // A run that fills one window will fill the next one, and faulting its pages in at once is cheaper than one by one.
            // Where the system cannot do that they come one by one.
            let _ = memory.advise(memmap2::Advice::PopulateWrite);
        }
        Some(Self { memory, start: at })
    }

    #[cfg(not(target_os = "linux"))]
    pub fn of(_: &File, _: u64) -> Option<Self> {
        None
    }

    /// Puts `bytes` at `at` in the file; says whether they are within the window, and does nothing otherwise.
    #[cfg(target_os = "linux")]
    pub fn put(&mut self, bytes: &[u8], at: u64) -> bool {
        let from = at.checked_sub(self.start).and_then(|from| usize::try_from(from).ok());
        let slice = from.and_then(|from| self.memory.get_mut(from..from.checked_add(bytes.len())?));
        let Some((slice, (head, rest))) = slice.map(|slice| (slice, bytes.split_at(HEAD.min(bytes.len())))) else {
            return false;
        };
        // The first bytes announce the rest: a concurrent reader, or the next run after a kill, must not find them alone.
        slice[head.len()..].copy_from_slice(rest);
        // The processor must not reorder the two copies, or a reader could see the head before the rest.
        fence(Ordering::Release);
        slice[..head.len()].copy_from_slice(head);
        true
    }

    #[cfg(not(target_os = "linux"))]
    pub fn put(&mut self, _: &[u8], _: u64) -> bool {
        false
    }
}

/// Whether a reserved block stays the file's own: file systems that copy on write, and those of a network, may need
/// room again when a page is written a second time.
#[cfg(target_os = "linux")]
fn keeps_reserved_blocks(file: &File) -> bool {
    use nix::sys::statfs::{EXT4_SUPER_MAGIC, TMPFS_MAGIC, XFS_SUPER_MAGIC, fstatfs};
    let kind = fstatfs(file).map(|found| found.filesystem_type());
    kind.is_ok_and(|kind| [EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, TMPFS_MAGIC].contains(&kind))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn bytes_written_to_a_window_are_in_the_file() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(b"begin", 0).unwrap();
        let Some(mut window) = Window::of(&file, 5) else { return println!("skipped: no such file system") };
        assert!(window.put(b" and end", 5));
        assert!(!window.put(b"before", 4));
        assert!(window.put(b"to the end", WINDOW as u64 - 5));
        assert!(!window.put(b"too far", WINDOW as u64 - 1));
        assert!(!window.put(b"too far", u64::MAX));
        let mut found = [0; 15];
        assert_eq!(file.read_at(&mut found, 0).unwrap(), 15);
        assert_eq!(&found, b"begin and end\0\0");
        let far = 3 * WINDOW as u64 + 7;
        let mut window = Window::of(&file, far).unwrap();
        assert!(!window.put(b"before", far - 1) && window.put(b"far", far));
        assert_eq!(file.metadata().unwrap().len(), far + WINDOW as u64);
    }
}
