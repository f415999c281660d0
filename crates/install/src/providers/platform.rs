//! Platforms of provider packages, in the spelling of Go.

use std::fmt;
use std::str::FromStr;

/// A platform in Go's spelling: `linux_amd64`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Platform {
    /// `linux`, `darwin`, `windows`, …
    pub os: String,
    /// `amd64`, `arm64`, `386`, …
    pub arch: String,
}

/// The error for a string that is not a platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be two words separated by an underscore, such as linux_amd64")]
pub struct InvalidPlatform;

impl Platform {
    /// Returns the platform of this program.
    pub fn current() -> Self {
        let os = match std::env::consts::OS {
            // Rust's and Go's names differ for some systems and processors.
            "macos" => "darwin",
            other => other,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            other => other,
        };
        Self { os: os.to_owned(), arch: arch.to_owned() }
    }
}

impl FromStr for Platform {
    type Err = InvalidPlatform;

    fn from_str(text: &str) -> Result<Self, InvalidPlatform> {
        let (os, arch) = text.split_once('_').ok_or(InvalidPlatform)?;
        // The name becomes part of a path, so it must not contain separators or periods.
        let is_word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric());
        if !is_word(os) || !is_word(arch) {
            return Err(InvalidPlatform);
        }
        Ok(Self { os: os.to_owned(), arch: arch.to_owned() })
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}
