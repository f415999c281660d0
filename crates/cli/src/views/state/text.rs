//! States as text.

use std::fmt::Write as _;

use groma_address::{Mode, ModuleInstance};
use groma_state::State;

use super::json::StoredObject;
use crate::terminal::Palette;
use crate::views::difference::{Paths, Relevance, RenderOptions, Writer, compare_objects, compare_unchanged};
use crate::views::redaction::Redaction;

/// Options for rendering unchanged objects.
const UNCHANGED: RenderOptions = RenderOptions {
    hides_null: false,
    forces_replacement: false,
    shows_unchanged: true,
    hides_symbols: true,
    signs_zero: true,
};

/// Appends an object as a resource block.
pub fn write_object(object: &StoredObject, palette: Palette, redaction: Redaction, out: &mut String) {
    let resource = &object.address.resource;
    let _ = match (&object.deposed, object.tainted) {
        (Some(key), _) => writeln!(out, "# {}: (deposed object {key})", object.address),
        (None, true) => writeln!(out, "# {}: (tainted)", object.address),
        (None, false) => writeln!(out, "# {}:", object.address),
    };
    let keyword = if resource.mode == Mode::Managed { "resource" } else { "data" };
    let _ = write!(out, "{keyword} {:?} {:?} ", &*resource.type_name, &*resource.name);
    let value = redaction.of(&object.value);
    let difference = compare_objects(&object.schema.block, &value, &value, Paths::default(), Relevance::All);
    Writer::new(palette, out).difference(&difference, 0, UNCHANGED);
    out.push('\n');
}

/// Returns the text of a state: its objects, in depth-first order of their modules, and its outputs.
pub fn state_text(state: &State, objects: &[StoredObject], palette: Palette, redaction: Redaction) -> String {
    let mut out = String::new();
    let mut previous: Option<&ModuleInstance> = None;
    let mut in_tree: Vec<&StoredObject> = objects.iter().collect();
    // Depth-first order: each module directly precedes its children.
    in_tree.sort_by(|a, b| a.address.module.steps().cmp(b.address.module.steps()));
    for object in in_tree {
        let module = &object.address.module;
        match previous {
            None => {}
            Some(previous) if previous == module => out.push('\n'),
            Some(_) => out.push_str("\n\n"),
        }
        previous = Some(module);
        write_object(object, palette, redaction, &mut out);
    }
    if !state.outputs.is_empty() {
        out.push_str("\n\nOutputs:\n\n");
        for (name, output) in &state.outputs {
            let value =
                if output.sensitive { redaction.of_sensitive(&output.value) } else { redaction.of(&output.value) };
            let _ = write!(out, "{name} = ");
            Writer::new(palette, &mut out).difference(&compare_unchanged(&value, &output.ty), 0, UNCHANGED);
            out.push('\n');
        }
    }
    out
}
