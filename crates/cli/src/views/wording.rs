//! Product and command names in texts.

/// Names of the program in sentences and in suggested commands.
///
/// Scripts match familiar sentences, so the product keeps its familiar name in them. Suggested commands use the name that the
/// program was started by, so that users can run them unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording {
    /// Product name in sentences: `Terraform will perform the following actions`.
    pub product: String,
    /// Program name in commands: `groma apply`.
    pub command: String,
}

impl Default for Wording {
    fn default() -> Self {
        Self { product: "Terraform".to_owned(), command: "groma".to_owned() }
    }
}
