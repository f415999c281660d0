//! The built-in functions: those of Terraform 1.15 and those that only OpenTofu has.

mod cidr;
mod mapping;
mod pattern;
mod sequence;
mod set;
mod signature;
mod string;
mod timestamp;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use signature::Function;
pub use signature::FunctionError;

struct Table {
    functions: Vec<Function>,
    positions: HashMap<&'static str, usize>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let themes = [mapping::functions, pattern::functions, sequence::functions, set::functions, string::functions];
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
