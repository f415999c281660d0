//! The lifecycle blocks and provisioners of resources.

use super::blocks;
use super::generate::Known;
use super::project::Repetition;
use crate::common::random::Random;

/// What lifecycle blocks mention of a type.
pub struct Mentions {
    ignored: &'static [&'static str],
    conditions: &'static [&'static str],
}

pub const OF_BUILT_IN: Mentions = Mentions {
    ignored: &["[input]", "all", "[triggers_replace]", "[input.a]", "[input[0]]", "[input, triggers_replace]"],
    conditions: &["self.id != \"\"", "self.input != 1"],
};

pub const WITH_BLOCKS: Mentions = Mentions { ignored: blocks::IGNORED, conditions: blocks::CONDITIONS };

/// The lines of a lifecycle block.
pub fn lifecycle(random: &mut Random, known: Known<'_>, mentions: &Mentions) -> Vec<String> {
    let mut lines = Vec::new();
    if random.chance(20) {
        lines.push(format!("create_before_destroy = {}", random.pick(&["true", "false"])));
    }
    if random.chance(20) {
        lines.push(format!("ignore_changes = {}", random.pick(mentions.ignored)));
    }
    if let Some(trigger) = random.one_of(known.resources).filter(|_| random.chance(15)) {
        let part = match &trigger.repetition {
            Repetition::Single if trigger.pieces.is_some() => random.pick(blocks::TRIGGERS),
            Repetition::Single => random.pick(&["", ".input", ".id", ".output"]),
            _ => "",
        };
        lines.push(format!("replace_triggered_by = [{}{part}]", trigger.address()));
    }
    if random.chance(15) {
        let condition = random.pick(&["var.v != 7", "local.l != 9", "var.v == 1"]);
        lines.push(format!("precondition {{\n  condition = {condition}\n  error_message = \"before ${{var.v}}\"\n}}"));
    }
    if random.chance(10) {
        let condition = random.pick(mentions.conditions);
        lines.push(format!("postcondition {{\n  condition = {condition}\n  error_message = \"after\"\n}}"));
    }
    if random.chance(5) {
        lines.push(String::from("prevent_destroy = true"));
    }
    lines
}

/// The lines of a provisioner.
pub fn provisioner(random: &mut Random) -> Vec<String> {
    let command = format!("command = \"{}\"", random.pick(&["true", "true", "exit 1"]));
    let rest = random.one_of(&[None, Some("on_failure = continue"), Some("when = destroy")]).copied().flatten();
    std::iter::once(command).chain(rest.map(str::to_owned)).collect()
}
