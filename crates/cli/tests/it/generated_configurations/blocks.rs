//! Bodies of resources whose types have blocks.

use super::generate::Known;
use super::project::Repetition;
use crate::common::random::Random;

/// An argument, a block or a dynamic block.
#[derive(Clone, Debug)]
pub struct Piece {
    pub name: &'static str,
    pub text: String,
}

/// Whether there can be several beside each other.
fn repeats(name: &str) -> bool {
    matches!(name, "item" | "tag" | "m")
}

/// Parts of objects with blocks that expressions may refer to.
pub const PARTS: &[&str] = &[
    "id",
    "id",
    "name",
    "later",
    "choice",
    "secret",
    "words",
    "table",
    "any",
    "objs",
    "cfg",
    "named",
    "several",
    "item",
    "tag",
    "one",
    "grp",
    "m",
    "item[*].k",
    "item[0].c",
    "item[0].s",
    "item[0].deep[*].n",
    "one.a",
    "one.b",
    "grp.b",
    "m[\"a\"].x",
    "cfg.p",
    "cfg.z",
    "objs[0].q",
    "named[\"a\"].q",
];

/// Values of `ignore_changes`.
pub const IGNORED: &[&str] = &[
    "all",
    "[name]",
    "[item]",
    "[item[0].k]",
    "[item[0].deep]",
    "[one]",
    "[one.a]",
    "[grp.a, grp.b]",
    "[tag]",
    "[m]",
    "[m[\"a\"].x]",
    "[table]",
    "[table[\"a\"]]",
    "[words]",
    "[words[0]]",
    "[any]",
    "[any.a]",
    "[cfg]",
    "[cfg.p]",
    "[cfg.q[\"k\"]]",
    "[objs[0].p]",
    "[named[\"a\"].p]",
    "[several]",
    "[secret, choice]",
];

/// The parts whose change may replace another object.
pub const TRIGGERS: &[&str] = &["", ".id", ".name", ".item", ".item[0].k", ".one.a", ".cfg.p", ".table", ".later"];

/// Conditions after a change.
pub const CONDITIONS: &[&str] =
    &["self.id != \"\"", "self.name != \"y\"", "length(self.item) < 2", "try(self.one.a, \"\") != \"z\""];

const TEXTS: &[&str] = &["\"x\"", "\"y\"", "\"z\"", "\"x\"", "1", "true", "null", "sensitive(\"s\")"];

const NAMES: &[&str] =
    &["\"x\"", "\"y\"", "\"drifts\"", "\"gone\"", "\"fails\"", "\"refused\"", "sensitive(\"s\")", "null"];

const COLLECTIONS: &[&str] = &[
    "[\"a\"]",
    "[\"a\", \"b\"]",
    "[]",
    "[null, \"c\"]",
    "[1, true]",
    "tolist([\"a\", \"b\"])",
    "toset([\"p\", \"q\"])",
    "{ a = \"1\", b = \"2\" }",
    "tomap({ a = \"1\" })",
    "{ a = { k = \"1\" }, b = { k = \"2\" } }",
    "sensitive([\"a\", \"b\"])",
    "sensitive({ a = \"1\" })",
    "[sensitive(\"a\"), \"b\"]",
    "{ a = sensitive(\"1\"), b = \"2\" }",
    "var.v == 1 ? [\"a\"] : []",
    "var.v == 1 ? tolist([\"a\"]) : null",
];

/// Of one element, or none: for blocks of which there can be one.
const FEW: &[&str] = &[
    "[\"a\"]",
    "[]",
    "[null]",
    "tolist([\"a\"])",
    "toset([\"p\"])",
    "{ a = \"1\" }",
    "{ a = { k = \"1\" } }",
    "sensitive([\"a\"])",
    "[sensitive(\"a\")]",
    "{ a = sensitive(\"1\") }",
    "var.v == 1 ? [\"a\"] : []",
];

/// A writer of a body.
pub struct Writer<'a, 'r> {
    pub random: &'r mut Random,
    pub known: Known<'a>,
    /// The expression that differs between instances.
    pub own: Option<&'static str>,
}

impl Writer<'_, '_> {
    /// A whole body.
    pub fn body(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for _ in 0..1 + self.random.below(6) {
            self.add_to(&mut pieces);
        }
        pieces
    }

    /// One more, in the place of one that keeps it out.
    pub fn add_to(&mut self, pieces: &mut Vec<Piece>) {
        let piece = self.piece();
        let heads = |text: &str| text.lines().next().map(str::to_owned);
        let is_replacement = |other: &Piece| match piece.name {
            // Labels are there once.
            "m" => heads(&other.text) == heads(&piece.text),
            name => !repeats(name) && other.name == name,
        };
        pieces.retain(|other| !is_replacement(other));
        pieces.push(piece);
    }

    fn piece(&mut self) -> Piece {
        if self.random.chance(45) {
            let name = self.random_name(&["item", "item", "item", "tag", "tag", "one", "grp", "m"]);
            let text = self.block(name);
            return Piece { name, text };
        }
        let name =
            self.random_name(&["name", "choice", "secret", "words", "table", "any", "objs", "cfg", "named", "several"]);
        let value = self.argument(name);
        Piece { name, text: format!("{name} = {value}") }
    }

    fn random_name(&mut self, names: &[&'static str]) -> &'static str {
        self.random.one_of(names).copied().unwrap_or_default()
    }

    fn argument(&mut self, name: &str) -> String {
        match name {
            "name" if self.random.chance(60) => self.random.pick(NAMES).to_owned(),
            "words" => match self.random.below(4) {
                0 => format!("try(tolist({}), [\"u\"])", self.known.reference(self.random)),
                1 => format!("[for x in {} : try(tostring(x), \"t\")]", self.random.pick(COLLECTIONS)),
                _ => format!("[{}, {}]", self.text(), self.text()),
            },
            "table" => match self.random.below(4) {
                0 => format!("try(tomap({}), {{ a = \"u\" }})", self.known.reference(self.random)),
                _ => format!("{{ a = {}, b = {} }}", self.text(), self.text()),
            },
            "any" => self.known.expression(self.random),
            "cfg" => match self.random.below(6) {
                0 => String::from("null"),
                _ => format!("{{ p = {}, q = {{ k = {} }}, z = {} }}", self.text(), self.text(), self.text()),
            },
            "objs" => match self.random.below(4) {
                0 => format!("[for x in {} : {{ p = try(tostring(x), \"t\") }}]", self.random.pick(COLLECTIONS)),
                1 => format!("[{{ p = {} }}, {{ q = 2, z = {} }}]", self.text(), self.text()),
                _ => format!("[{{ p = {} }}]", self.text()),
            },
            "named" => format!("{{ a = {{ p = {} }}, b = {{ q = {} }} }}", self.text(), self.text()),
            // Where an id stands in a set is chance.
            "several" => match self.random.below(3) {
                0 => format!("[{{ p = {} }}]", self.text()),
                _ => format!("[{{ p = {}, z = {} }}, {{ q = \"2\" }}]", self.written(), self.written()),
            },
            _ => self.text(),
        }
    }

    /// A text that is written out.
    fn written(&mut self) -> String {
        self.random.pick(TEXTS).to_owned()
    }

    fn text(&mut self) -> String {
        match self.random.below(10) {
            0..6 => self.written(),
            6 => format!("\"p-${{{}}}\"", self.random.pick(&["1", "var.v", "local.l"])),
            7 if self.own.is_some() => format!("try(tostring({}), \"o\")", self.own.unwrap_or_default()),
            _ => format!("try(tostring({}), \"t\")", self.known.reference(self.random)),
        }
    }

    /// What a dynamic block is made over; of how many elements may be known later.
    fn collection(&mut self, kind: &str) -> String {
        if !repeats(kind) && kind != "sub" && self.random.chance(90) {
            return match self.random.below(4) {
                0 => format!("try({}, null) == \"x\" ? [] : [\"a\"]", self.known.reference(self.random)),
                _ => self.random.pick(FEW).to_owned(),
            };
        }
        match self.random.below(10) {
            // Labels have to be known.
            _ if kind == "m" => self.random.pick(COLLECTIONS).to_owned(),
            0 => format!("try({}, null) == \"x\" ? [\"a\"] : [\"a\", \"b\"]", self.known.reference(self.random)),
            1 => format!("[for x in [\"a\", \"b\"] : x if {} != null]", self.known.reference(self.random)),
            2 => format!("try(toset(keys({})), [\"a\"])", self.known.reference(self.random)),
            _ => self.random.pick(COLLECTIONS).to_owned(),
        }
    }

    /// One block of a kind, or a dynamic one.
    fn block(&mut self, kind: &str) -> String {
        let label = self.random.pick(&["a", "b", "c"]).to_owned();
        if self.random.chance(50) {
            let body = self.content(kind, None);
            let label = if kind == "m" { format!(" \"{label}\"") } else { String::new() };
            return format!("{kind}{label} {{\n{body}\n}}");
        }
        let iterator = if self.random.chance(15) { "it" } else { kind };
        let mut lines = vec![format!("for_each = {}", self.collection(kind))];
        if iterator != kind {
            lines.push(format!("iterator = {iterator}"));
        }
        if kind == "m" {
            lines.push(format!("labels = [\"{label}${{{iterator}.key}}\"]"));
        }
        let body = self.content(kind, Some(iterator));
        format!("dynamic \"{kind}\" {{\n{}\ncontent {{\n{body}\n}}\n}}", lines.join("\n"))
    }

    /// A text within a block, which may be of the element that it is made for.
    fn inner(&mut self, kind: &str, iterator: Option<&str>) -> String {
        match iterator {
            Some(iterator) if self.random.chance(60) => {
                let part = self.random.pick(&["value", "value", "key", "value.k"]);
                format!("try(tostring({iterator}.{part}), \"e\")")
            }
            _ if matches!(kind, "tag" | "sub") => self.written(),
            _ => self.text(),
        }
    }

    fn content(&mut self, kind: &str, iterator: Option<&str>) -> String {
        let mut lines = Vec::new();
        let arguments: &[&str] = match kind {
            "item" => &["k", "v", "s"],
            "tag" => &["key", "value"],
            "one" | "grp" => &["a", "b"],
            _ => &["x", "n"],
        };
        for (at, argument) in arguments.iter().enumerate() {
            let value = match *argument {
                "n" => self.random.pick(&["1", "2", "null", "var.v"]).to_owned(),
                // These are required.
                "k" | "key" => format!("coalesce({}, \"n\")", self.inner(kind, iterator)),
                _ => self.inner(kind, iterator),
            };
            if at == 0 || self.random.chance(50) {
                lines.push(format!("{argument} = {value}"));
            }
        }
        if kind == "item" && self.random.chance(50) {
            let nested = self.random_name(&["sub", "deep"]);
            lines.push(self.block(nested));
        }
        lines.join("\n")
    }
}

/// Something is changed, without mentioning anything.
pub fn change(random: &mut Random, pieces: &mut Vec<Piece>) {
    if random.chance(35) && !pieces.is_empty() {
        pieces.remove(random.below(pieces.len()));
    } else if random.chance(30) && !pieces.is_empty() {
        let at = random.below(pieces.len());
        let piece = pieces.swap_remove(at);
        pieces.push(piece);
    } else {
        Writer { random, known: Known::nothing(), own: None }.add_to(pieces);
    }
}

/// Attributes of a type that lifecycle blocks refer to.
pub struct Mentions {
    ignored: &'static [&'static str],
    conditions: &'static [&'static str],
}

pub const OF_BUILT_IN: Mentions = Mentions {
    ignored: &["[input]", "all", "[triggers_replace]", "[input.a]", "[input[0]]", "[input, triggers_replace]"],
    conditions: &["self.id != \"\"", "self.input != 1"],
};

pub const WITH_BLOCKS: Mentions = Mentions { ignored: IGNORED, conditions: CONDITIONS };

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
            Repetition::Single if trigger.pieces.is_some() => random.pick(TRIGGERS),
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
