//! Descriptions of modules for messages.

use crate::model::Module;

/// Describes a module in the middle of a sentence.
pub(super) fn describe(module: &Module) -> String {
    if module.path.is_root() { "the root module".to_owned() } else { module.path.to_string() }
}
