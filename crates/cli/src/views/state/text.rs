//! A state for people.

use std::fmt::Write as _;

use groma_address::{Mode, ModuleInstance};
use groma_state::State;

use super::stored::StoredObject;
use crate::terminal::Palette;
use crate::views::difference::{Manner, Paths, Relevance, Writer, compare_objects, compare_unchanged};
use crate::views::secrecy::Secrecy;

/// The rendering of unchanged objects.
const QUIET: Manner = Manner {
    hides_null: false,
    forces_replacement: false,
    shows_unchanged: true,
    hides_symbols: true,
    signs_zero: true,
};

/// Appends one object as a block.
pub fn write_object(object: &StoredObject, palette: Palette, secrecy: Secrecy, out: &mut String) {
    let resource = &object.address.resource;
    let _ = match (&object.deposed, object.tainted) {
        (Some(key), _) => writeln!(out, "# {}: (deposed object {key})", object.address),
        (None, true) => writeln!(out, "# {}: (tainted)", object.address),
        (None, false) => writeln!(out, "# {}:", object.address),
    };
    let keyword = if resource.mode == Mode::Managed { "resource" } else { "data" };
    let _ = write!(out, "{keyword} {:?} {:?} ", &*resource.type_name, &*resource.name);
    let value = secrecy.of(&object.value);
    let difference = compare_objects(&object.schema.block, &value, &value, Paths::default(), Relevance::All);
    Writer::new(palette, out).difference(&difference, 0, QUIET);
    out.push('\n');
}

/// The whole state: its objects, module by module with what each calls right after it, and its outputs.
pub fn state_text(state: &State, objects: &[StoredObject], palette: Palette, secrecy: Secrecy) -> String {
    let mut out = String::new();
    let mut previous: Option<&ModuleInstance> = None;
    let mut in_tree: Vec<&StoredObject> = objects.iter().collect();
    in_tree.sort_by(|a, b| a.address.module.steps().cmp(b.address.module.steps()));
    for object in in_tree {
        let module = &object.address.module;
        match previous {
            None => {}
            Some(previous) if previous == module => out.push('\n'),
            Some(_) => out.push_str("\n\n"),
        }
        previous = Some(module);
        write_object(object, palette, secrecy, &mut out);
    }
    if !state.outputs.is_empty() {
        out.push_str("\n\nOutputs:\n\n");
        for (name, output) in &state.outputs {
            let value = if output.sensitive { secrecy.of_secret(&output.value) } else { secrecy.of(&output.value) };
            let _ = write!(out, "{name} = ");
            Writer::new(palette, &mut out).difference(&compare_unchanged(&value, &output.ty), 0, QUIET);
            out.push('\n');
        }
    }
    out
}
