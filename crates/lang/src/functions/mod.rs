//! The built-in functions: those of Terraform 1.15 and those that only OpenTofu has.

mod assume;
mod cidr;
mod conversion;
mod crypto;
mod digits;
mod encoding;
mod filesystem;
mod format;
mod glob;
mod mapping;
mod network;
mod number;
mod paths;
mod pattern;
mod sequence;
mod set;
mod signature;
mod string;
mod template;
mod time;
mod timestamp;
mod yaml;
mod yaml_scalar;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use signature::Function;
pub use signature::FunctionError;
pub use template::TemplateCache;

struct Table {
    functions: Vec<Function>,
    positions: HashMap<&'static str, usize>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let themes = [
        assume::functions,
        conversion::functions,
        crypto::functions,
        encoding::functions,
        filesystem::functions,
        format::functions,
        mapping::functions,
        network::functions,
        number::functions,
        pattern::functions,
        sequence::functions,
        set::functions,
        string::functions,
        template::functions,
        time::functions,
    ];
    let functions: Vec<Function> = themes.iter().flat_map(|theme| theme()).collect();
    let positions = functions.iter().enumerate().map(|(position, function)| (function.name, position)).collect();
    Table { functions, positions }
});

/// The functions that are evaluated in a way of their own: their arguments are expressions, not values.
const SPECIAL: [&str; 3] = ["can", "convert", "try"];

/// The function of the given name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    let table = &*TABLE;
    table.functions.get(*table.positions.get(name)?)
}

/// The names of all functions, sorted.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = TABLE.functions.iter().map(|function| function.name).chain(SPECIAL).collect();
    names.sort_unstable();
    names
}
