//! The values of `count`, `each`, `path` and `terraform`, which depend on the block of an expression.

use std::path::Path;

use groma_config::Module;
use groma_diagnostics::Diagnostic;
use groma_lang::{Referenced, Resolved};
use groma_value::{Marks, Type, Value};

use super::{Repetition, SharedContext};

/// The value of `count` in a block of `config`.
pub fn count(
    repetition: &Repetition,
    config: &Module,
    attribute: &str,
    found: &Referenced,
) -> Result<Resolved, Diagnostic> {
    if attribute != "index" {
        let detail = format!("The \"count\" object has no attribute \"{attribute}\"; it has only \"index\".");
        return Err(Diagnostic::error("Invalid \"count\" attribute", detail).at(found.span));
    }
    let value = match repetition {
        Repetition::Count(index) => Value::number(*index),
        Repetition::Unknown => Value::unknown(Type::Number),
        Repetition::None | Repetition::Each(..) | Repetition::Element(..) => {
            let detail = "\"count.index\" is valid only inside a block with the \"count\" argument.";
            let problem = Diagnostic::error("Reference to \"count\" in non-counted context", detail);
            return Err(groma_config::attribute_to_typo(problem.at(found.span), config, "count"));
        }
    };
    Ok(Resolved { value, consumed: 1 })
}

/// The value of an attribute of `each` in a block of `config`.
pub fn each(
    repetition: &Repetition,
    config: &Module,
    attribute: &str,
    found: &Referenced,
) -> Result<Resolved, Diagnostic> {
    let value = match (repetition, attribute) {
        (_, other) if other != "key" && other != "value" => {
            let detail = format!("The \"each\" object has no attribute \"{other}\"; it has \"key\" and \"value\".");
            return Err(Diagnostic::error("Invalid \"each\" attribute", detail).at(found.span));
        }
        (Repetition::Each(key, _), "key") => Value::string(key),
        (Repetition::Element(key, _), "key") => key.clone(),
        (Repetition::Each(_, value) | Repetition::Element(_, value), _) => value.clone(),
        (Repetition::Unknown, "key") => Value::unknown(Type::String),
        (Repetition::Unknown, _) => Value::DYNAMIC,
        _ => {
            let detail = "\"each\" is valid only inside a block with the \"for_each\" argument.";
            let problem = Diagnostic::error("Reference to \"each\" in context without for_each", detail);
            return Err(groma_config::attribute_to_typo(problem.at(found.span), config, "for_each"));
        }
    };
    Ok(Resolved { value, consumed: 1 })
}

/// The value of an attribute of `path` in the module `config`.
pub fn path(
    shared_context: &SharedContext,
    config: &Module,
    attribute: &str,
    found: &Referenced,
) -> Result<Resolved, Diagnostic> {
    let text = match attribute {
        "cwd" => display(&shared_context.working_directory),
        "root" => display(&shared_context.root_directory),
        "module" => match display(&config.directory).as_str() {
            "" | "." => display(&shared_context.root_directory),
            directory if shared_context.root_directory == Path::new(".") => directory.to_owned(),
            directory => display(&shared_context.root_directory.join(directory)),
        },
        other => {
            let detail =
                format!("The \"path\" object has no attribute \"{other}\"; it has \"module\", \"root\" and \"cwd\".");
            return Err(Diagnostic::error("Invalid \"path\" attribute", detail).at(found.span));
        }
    };
    Ok(Resolved { value: Value::string(text), consumed: 1 })
}

/// The value of an attribute of `terraform`.
pub fn terraform(shared_context: &SharedContext, attribute: &str, found: &Referenced) -> Result<Resolved, Diagnostic> {
    let value = match attribute {
        "workspace" => Value::string(&shared_context.workspace),
        // The value differs between plan and apply, so no stored value may depend on it.
        "applying" => Value::bool(shared_context.applying).with_marks(&Marks::EPHEMERAL),
        other => {
            let detail = format!(
                "The \"terraform\" object has no attribute \"{other}\"; it has \"workspace\" and \"applying\"."
            );
            return Err(Diagnostic::error("Invalid \"terraform\" attribute", detail).at(found.span));
        }
    };
    Ok(Resolved { value, consumed: 1 })
}

fn display(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
