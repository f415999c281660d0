//! Edits of a configuration between two runs.

use super::blocks;
use super::generate::{keys, known, resource, value};
use super::project::{Module, Repetition};
use crate::common::random::Random;

/// Something is changed, here or in what is called.
pub fn change(random: &mut Random, module: &mut Module) {
    if let Some(call) = module.call.as_mut().filter(|_| random.chance(30)) {
        return change(random, &mut call.module);
    }
    match random.below(13) {
        0 => module.variable = 3 - module.variable,
        1 | 2 => inputs(random, module),
        3 | 4 => instances(random, module),
        5 => instances_of_call(random, module),
        6 => renamed(random, module),
        7 | 8 => removed(random, module),
        9 => added(random, module),
        10 => lifecycle(random, module),
        11 => call_removed(random, module),
        _ => outputs(random, module),
    }
}

fn inputs(random: &mut Random, module: &mut Module) {
    let at = random.below(module.resources.len().max(1));
    if let Some(resource) = module.resources.get_mut(at) {
        if let Some(pieces) = &mut resource.pieces {
            return blocks::change(random, pieces);
        }
        let argument = if random.chance(60) { &mut resource.input } else { &mut resource.triggers };
        *argument = random.chance(85).then(|| value(random));
    }
}

fn other(random: &mut Random, repetition: &Repetition) -> Repetition {
    match repetition {
        Repetition::Count(_) if random.chance(70) => Repetition::Count(random.below(4)),
        Repetition::ForEach(_) if random.chance(70) => Repetition::ForEach(keys(random)),
        Repetition::Map(_) if random.chance(70) => Repetition::Map(keys(random)),
        _ => match random.below(3) {
            0 => Repetition::Single,
            1 => Repetition::Count(random.below(3)),
            _ => Repetition::ForEach(keys(random)),
        },
    }
}

/// A statement that one instance is now another.
fn moved(random: &mut Random, address: &str, from: &Repetition, to: &Repetition) -> Option<String> {
    let (before, after) = (from.keys(), to.keys());
    let (before, after) = (random.one_of(&before)?, random.one_of(&after)?);
    if before == after {
        return None;
    }
    Some(format!("moved {{\n  from = {address}{before}\n  to = {address}{after}\n}}\n"))
}

fn instances(random: &mut Random, module: &mut Module) {
    let at = random.below(module.resources.len().max(1));
    let Some(resource) = module.resources.get_mut(at) else { return };
    let now = other(random, &resource.repetition);
    if random.chance(40) {
        let address = resource.address();
        module.statements.extend(moved(random, &address, &resource.repetition, &now));
    }
    // Without repetition there is no `each` and no `count` to refer to.
    if matches!(resource.input.as_deref(), Some("each.key" | "each.value" | "each.value.n" | "count.index")) {
        resource.input = None;
    }
    let stays = |text: &str| !["each.", "count."].iter().any(|own| text.contains(own));
    resource.pieces.iter_mut().for_each(|pieces| pieces.retain(|piece| stays(&piece.text)));
    resource.repetition = now;
}

fn instances_of_call(random: &mut Random, module: &mut Module) {
    let Some(call) = &mut module.call else { return };
    let now = other(random, &call.repetition);
    if random.chance(40) {
        module.statements.extend(moved(random, "module.m", &call.repetition, &now));
    }
    call.repetition = now;
}

fn renamed(random: &mut Random, module: &mut Module) {
    let Some(resource) = random.one_of(&module.resources) else { return };
    let (ty, from) = (resource.type_name(), resource.name.clone());
    let to = format!("n{from}");
    module.rename(&from, &to);
    if random.chance(80) {
        module.statements.push(format!("moved {{\n  from = {ty}.{from}\n  to = {ty}.{to}\n}}\n"));
    }
}

fn statement_of_removal(random: &mut Random, address: &str) -> String {
    let destroy = random.pick(&["true", "false"]);
    format!("removed {{\n  from = {address}\n  lifecycle {{\n    destroy = {destroy}\n  }}\n}}\n")
}

fn removed(random: &mut Random, module: &mut Module) {
    let unused: Vec<usize> =
        (0..module.resources.len()).filter(|at| !module.mentions(&module.resources[*at])).collect();
    let Some(at) = random.one_of(&unused) else { return };
    let gone = module.resources.remove(*at);
    if random.chance(40) {
        module.statements.push(statement_of_removal(random, &gone.address()));
    }
}

fn call_removed(random: &mut Random, module: &mut Module) {
    let Some(call) = module.call.take() else { return };
    if module.to_string().contains("module.m") {
        module.call = Some(call);
    } else if random.chance(30) {
        module.statements.push(statement_of_removal(random, "module.m"));
    }
}

fn added(random: &mut Random, module: &mut Module) {
    let name = format!("x{}", random.below(100));
    if module.resources.iter().any(|resource| resource.name == name) {
        return;
    }
    let new = resource(random, name, known(module));
    module.resources.push(new);
}

fn lifecycle(random: &mut Random, module: &mut Module) {
    let at = random.below(module.resources.len().max(1));
    let Some(resource) = module.resources.get_mut(at) else { return };
    if resource.lifecycle.is_empty() {
        let line = random.pick(&["create_before_destroy = true", "ignore_changes = all", "prevent_destroy = true"]);
        resource.lifecycle.push(line.to_owned());
    } else {
        resource.lifecycle.clear();
    }
}

fn outputs(random: &mut Random, module: &mut Module) {
    let value = known(module).expression(random);
    let at = random.below(module.outputs.len().max(1));
    let Some(output) = module.outputs.get_mut(at) else { return };
    if random.chance(50) {
        output.sensitive = !output.sensitive;
    } else {
        output.value = value;
    }
}
