//! Sources of configuration text: directories on disk, or a snapshot in a saved plan.

mod directory;
mod disk;
mod files;
mod memory;
mod path;

pub use disk::DiskFiles;
pub use files::{Entry, Files};
pub use memory::MemoryFiles;

pub(crate) use directory::{Syntax, mock_files, module_files, test_files};
pub(crate) use path::{display, normalize};
