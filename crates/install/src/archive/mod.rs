//! Extraction of untrusted archives: nothing is written outside of the target directory.

mod limits;
mod links;
mod zipped;

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;

pub use limits::Limits;
pub(crate) use limits::readable;
use limits::too_large;
pub use links::Links;
pub(crate) use zipped::check_entries;
use zipped::{unpack_tar, unpack_zip};

/// The format of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archive {
    /// A zip archive, which has its own compression.
    Zip,
    /// A tar file, compressed or not.
    Tar(Packing),
    /// A single compressed file.
    Single(Packing),
}

/// The compression of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// A file that is not compressed.
    None,
    /// gzip, with concatenated members.
    Gzip,
    /// bzip2, with concatenated streams.
    Bzip2,
    /// xz, whose ratio needs the limits most.
    Xz,
    /// Zstandard, with concatenated frames.
    Zstandard,
}

/// File name extensions, the longest first.
const ENDINGS: [(&str, Archive); 14] = [
    ("tar.bz2", Archive::Tar(Packing::Bzip2)),
    ("tar.gz", Archive::Tar(Packing::Gzip)),
    ("tar.xz", Archive::Tar(Packing::Xz)),
    ("tar.zst", Archive::Tar(Packing::Zstandard)),
    ("tbz2", Archive::Tar(Packing::Bzip2)),
    ("tgz", Archive::Tar(Packing::Gzip)),
    ("txz", Archive::Tar(Packing::Xz)),
    ("tzst", Archive::Tar(Packing::Zstandard)),
    ("tar", Archive::Tar(Packing::None)),
    ("zip", Archive::Zip),
    ("bz2", Archive::Single(Packing::Bzip2)),
    ("gz", Archive::Single(Packing::Gzip)),
    ("xz", Archive::Single(Packing::Xz)),
    ("zst", Archive::Single(Packing::Zstandard)),
];

impl Archive {
    /// Parses the value of `?archive=`.
    pub fn named(name: &str) -> Option<Self> {
        ENDINGS.iter().find(|(ending, _)| *ending == name).map(|(_, archive)| *archive)
    }

    /// Detects the format by the extension of a path.
    pub fn of_path(path: &str) -> Option<Self> {
        // The dot is required: a directory named "zip" is no archive.
        let fits = |ending: &str| path.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.'));
        ENDINGS.iter().find(|(ending, _)| fits(ending)).map(|(_, archive)| *archive)
    }

    /// Extracts `file` into `target`; a single file gets `name`.
    ///
    /// # Errors
    /// Fails if the archive is invalid, damaged or too large, or has an entry outside of the directory or a refused
    /// link. Then `target` may have been extracted partially.
    pub fn unpack(self, file: File, target: &Path, name: &str, links: Links, limits: Limits) -> io::Result<()> {
        fs::create_dir_all(target)?;
        match self {
            Self::Zip => unpack_zip(file, target, links, limits),
            Self::Tar(packing) => unpack_tar(packing.open(file)?, target, links, limits),
            Self::Single(packing) => {
                let mut out = File::create(target.join(name))?;
                // One byte more than allowed, to detect a larger file.
                let mut content = packing.open(file)?.take(limits.bytes.saturating_add(1));
                match io::copy(&mut content, &mut out)? {
                    written if written > limits.bytes => Err(too_large(limits, Some(name))),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl Packing {
    fn open(self, file: File) -> io::Result<Box<dyn Read>> {
        let file = BufReader::new(file);
        Ok(match self {
            Self::None => Box::new(file),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(file)),
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(file)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new(file, true)),
            Self::Zstandard => Box::new(zstd::Decoder::with_buffer(file)?),
        })
    }
}

#[cfg(test)]
mod tests;
