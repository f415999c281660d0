//! Errors of module source addresses.

use thiserror::Error;

/// The reason why a string is not the address of a module.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SourceAddressError {
    /// The address is empty.
    #[error(
        "The source is empty. Specify a directory that begins with ./ or ../, or the address of a module to install."
    )]
    Empty,
    /// The address has a port that is not a number.
    #[error("The port in {0:?} is not a number. Write HOST:PORT/PATH, or HOST/PATH for the default port.")]
    Port(String),
    /// The address has no known form.
    #[error(
        "Cannot determine how to install {0:?}. If it is a directory, write \"./{0}\": a leading dot makes the path relative to the \
         calling module."
    )]
    Unknown(String),
    /// The path of a repository is incomplete.
    #[error("{address:?} is not a valid repository address. Write {host}/OWNER/NAME.")]
    Repository {
        /// The whole address.
        address: String,
        /// The host, which has addresses of a known form.
        host: &'static str,
    },
    /// The address of an S3 object is incomplete.
    #[error("{0:?} is not a valid S3 object address. Write BUCKET.s3.REGION.amazonaws.com/KEY.")]
    Bucket(String),
    /// The address of a Cloud Storage object is incomplete.
    #[error("{0:?} is not a valid Cloud Storage object address. Write www.googleapis.com/storage/v1/BUCKET/OBJECT.")]
    GoogleBucket(String),
    /// The subdirectory leads out of the package.
    #[error("The subdirectory {0:?} is outside of the package. After //, name a directory inside of it.")]
    Outside(String),
}
