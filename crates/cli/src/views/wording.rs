//! Names that texts use.

/// The name of the program and of its commands in output.
///
/// Scripts look for the sentences that people know, so that the product keeps its familiar name in them; commands that a
/// reader should type carry the name that the program was started by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording {
    /// The name in sentences: `Terraform will perform the following actions`.
    pub product: String,
    /// The name in commands: `groma apply`.
    pub command: String,
}

impl Default for Wording {
    fn default() -> Self {
        Self { product: "Terraform".to_owned(), command: "groma".to_owned() }
    }
}
