//! Configurations out of numbers.

use super::blocks::{self, OF_BUILT_IN, WITH_BLOCKS, Writer, lifecycle, provisioner};
use super::project::{Call, Data, Module, Output, Repetition, Resource, Types};
use crate::common::random::Random;

/// The other state that data read, in the folder of the root module.
pub const OTHER_STATE: (&str, &str) = (
    "other.tfstate",
    r#"{
  "version": 4,
  "terraform_version": "1.15.0",
  "serial": 1,
  "lineage": "0f1d7f0e-5a8c-4d0a-9d39-4a8a4c5f6d10",
  "outputs": {
    "text": { "value": "other", "type": "string" },
    "list": { "value": ["a", "b"], "type": ["list", "string"] },
    "secret": { "value": "hush", "type": "string", "sensitive": true }
  },
  "resources": []
}
"#,
);

const VALUES: &[&str] = &[
    "1",
    "\"x\"",
    "null",
    "true",
    "[1, \"b\"]",
    "{ a = 1, b = \"c\" }",
    "tomap({ a = \"1\", b = \"2\" })",
    "toset([\"p\", \"q\"])",
    "tolist([\"m\", \"n\"])",
    "[]",
    "{}",
    "\"é\"",
    "1.5",
    "[{ k = 1 }, { k = 2 }]",
    "sensitive(\"s\")",
    "{ a = sensitive(1), b = 2 }",
];

/// What is made of something (`R`) and of something else that is written out (`V`). No sets: where an id stands in one is chance.
const COMPOSED: &[&str] = &[
    "jsonencode({ a = R, b = V })",
    "can(R.a)",
    "try(length(R), 0)",
    "try(merge({ z = 1 }, R), R)",
    "try(concat([\"z\"], R), R)",
    "\"x-${try(tostring(R), \"t\")}\"",
    "[for x in try(tolist(R), [R]) : x]",
    "{ for k, v in try(tomap(R), { k = R }) : k => v if k != \"b\" }",
    "{ for x in [R, V] : try(tostring(x), \"t\") => x... }",
    "coalesce(try(tostring(R), null), \"c\")",
    "try(R == V ? V : R, R)",
    "sensitive(R)",
    "try(nonsensitive(R), R)",
    "one([R])",
    "flatten([R, [V]])",
    "distinct([R, R])",
    "{ (try(tostring(R), \"k\")) = V }",
    "try(keys(R), [])",
    "try(values(R), R)",
    "try(element(R, 0), R)",
    "try(R[0], V)",
    "length(setunion([try(tostring(R), \"s\")], [\"b\"]))",
    "startswith(try(tostring(R), \"\"), \"x\")",
    "\"%{ if try(R > 1, false) }n%{ else }${try(tostring(R), \"s\")}%{ endif }\"",
    "\"%{ for x in try(tolist(R), [1]) }${try(tostring(x), \"u\")},%{ endfor }\"",
    "try(R + 1, R)",
    "try(length(toset([R, V])), R)",
    "try(zipmap([\"a\", \"b\"], [R, V]), R)",
    "R == R && true",
];

const ATTRIBUTES: &[&str] = &["id", "output", "input", "triggers_replace"];

/// A value that is written out.
pub fn value(random: &mut Random) -> String {
    random.pick(VALUES).to_owned()
}

/// Keys of `for_each`: some of a few.
pub fn keys(random: &mut Random) -> Vec<&'static str> {
    ["a", "b", "c", "d"].into_iter().filter(|_| random.chance(45)).collect()
}

fn repetition(random: &mut Random) -> Repetition {
    match random.below(4) {
        0 | 1 => Repetition::Single,
        2 => Repetition::Count(random.below(3)),
        _ if random.chance(60) => Repetition::ForEach(keys(random)),
        _ => Repetition::Map(keys(random)),
    }
}

/// References that are valid at a place.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    pub resources: &'a [Resource],
    data: &'a [Data],
    call: Option<&'a Call>,
    types: Types,
}

impl Known<'_> {
    /// There is nothing else.
    pub fn nothing() -> Self {
        Self { resources: &[], data: &[], call: None, types: Types::WithBlocks }
    }

    /// Something that depends on something else, if there is anything.
    pub fn reference(self, random: &mut Random) -> String {
        match random.below(10) {
            0 | 1 => self.of_data(random),
            2 => self.of_module(random),
            _ => self.of_resource(random),
        }
        .unwrap_or_else(|| value(random))
    }

    fn of_data(self, random: &mut Random) -> Option<String> {
        let data = random.one_of(self.data)?;
        let address = format!("data.terraform_remote_state.{}", data.name);
        let output = random.pick(&["text", "list", "secret"]);
        Some(match data.repetition.keys().first() {
            _ if random.chance(20) => format!("{address}[*].outputs"),
            Some(key) => format!("{address}{key}.outputs.{output}"),
            None => format!("length({address})"),
        })
    }

    fn of_module(self, random: &mut Random) -> Option<String> {
        let call = self.call?;
        let output = random.one_of(&call.module.outputs)?;
        Some(match call.repetition.keys().first() {
            _ if random.chance(15) => String::from("module.m"),
            Some(key) => format!("module.m{key}.{}", output.name),
            None => String::from("length(module.m)"),
        })
    }

    fn of_resource(self, random: &mut Random) -> Option<String> {
        let resource = random.one_of(self.resources)?;
        let address = resource.address();
        let is_plain = resource.pieces.is_none();
        let attribute = random.pick(if is_plain { ATTRIBUTES } else { blocks::PARTS });
        // There need not be such a part of a block.
        let is_part = attribute.contains(['.', '[']);
        let all = |random: &mut Random| match &resource.repetition {
            Repetition::Single if is_part => format!("try({address}.{attribute}, \"w\")"),
            Repetition::Single => format!("{address}.{attribute}"),
            Repetition::Count(_) if random.chance(20) => format!("length({address})"),
            _ if is_part => format!("[for x in {address} : try(x.{attribute}, \"w\")]"),
            Repetition::Count(_) => format!("{address}[*].{attribute}"),
            Repetition::ForEach(_) | Repetition::Map(_) => format!("{{ for k, v in {address} : k => v.{attribute} }}"),
        };
        let keys = resource.repetition.keys();
        Some(match random.one_of(&keys) {
            Some(key) if random.chance(60) => match is_part {
                true => format!("try({address}{key}.{attribute}, \"w\")"),
                false => format!("{address}{key}.{attribute}"),
            },
            _ => all(random),
        })
    }

    /// A whole resource, as `depends_on` and `replace_triggered_by` name it.
    fn resource(self, random: &mut Random) -> Option<String> {
        Some(random.one_of(self.resources)?.address())
    }

    fn composed(self, random: &mut Random) -> String {
        let (something, other) = (self.reference(random), value(random));
        let pieces = random.pick(COMPOSED).split_inclusive(|character: char| !character.is_alphanumeric());
        let filled = pieces.map(|piece| match piece.strip_suffix(|character: char| !character.is_alphanumeric()) {
            Some("R") => piece.replacen('R', &something, 1),
            Some("V") => piece.replacen('V', &other, 1),
            _ => piece.to_owned(),
        });
        filled.collect()
    }

    pub fn expression(self, random: &mut Random) -> String {
        match random.below(24) {
            0..7 => value(random),
            7..14 => self.reference(random),
            20.. => self.composed(random),
            14 | 15 => format!("\"p-${{{}}}\"", random.pick(&["1", "var.v", "local.l"])),
            16 | 17 => format!("try({0}.a, {0}, \"d\")", self.reference(random)),
            18 => format!("var.v == 1 ? {} : null", self.reference(random)),
            _ => format!("[{}, {}]", self.reference(random), value(random)),
        }
    }
}

/// References that are valid anywhere in a module.
pub fn known(module: &Module) -> Known<'_> {
    Known { resources: &module.resources, data: &module.data, call: module.call.as_deref(), types: module.types }
}

/// A resource that may mention what is known.
pub fn resource(random: &mut Random, name: String, known: Known<'_>) -> Resource {
    let repetition = repetition(random);
    let own = match &repetition {
        Repetition::Single => None,
        Repetition::Count(_) => Some("count.index"),
        Repetition::ForEach(_) => Some("each.key"),
        Repetition::Map(_) => Some(random.pick(&["each.value", "each.value.n", "each.key"])),
    };
    if known.types == Types::WithBlocks && random.chance(75) {
        return any_resource(random, name, known, repetition, own);
    }
    let input = match own {
        Some(own) if random.chance(40) => Some(own.to_owned()),
        _ => random.chance(80).then(|| known.expression(random)),
    };
    Resource {
        name,
        pieces: None,
        repetition,
        input,
        triggers: random.chance(40).then(|| known.expression(random)),
        depends_on: known.resource(random).filter(|_| random.chance(15)),
        lifecycle: lifecycle(random, known, &OF_BUILT_IN),
        provisioner: random.chance(10).then(|| provisioner(random)),
    }
}

/// The same of a type with blocks.
fn any_resource(
    random: &mut Random,
    name: String,
    known: Known<'_>,
    repetition: Repetition,
    own: Option<&'static str>,
) -> Resource {
    Resource {
        name,
        pieces: Some(Writer { random, known, own }.body()),
        repetition,
        input: None,
        triggers: None,
        depends_on: known.resource(random).filter(|_| random.chance(15)),
        lifecycle: lifecycle(random, known, &WITH_BLOCKS),
        provisioner: random.chance(10).then(|| provisioner(random)),
    }
}

fn data(random: &mut Random, name: String, known: Known<'_>) -> Data {
    let path = format!("\"${{path.root}}/{}\"", OTHER_STATE.0);
    let waits = known.of_resource(random).filter(|_| random.chance(30));
    Data {
        name,
        repetition: repetition(random),
        path: waits.map_or(path.clone(), |value| format!("try({value}.nothing, {path})")),
        depends_on: known.resource(random).filter(|_| random.chance(25)),
    }
}

fn output(random: &mut Random, name: String, known: Known<'_>) -> Output {
    Output {
        name,
        value: known.reference(random),
        sensitive: random.chance(if known.types == Types::WithBlocks { 75 } else { 40 }),
        depends_on: known.resource(random).filter(|_| random.chance(10)),
    }
}

/// A module that calls others to that depth at most.
pub fn module(random: &mut Random, depth: usize, types: Types) -> Module {
    let mut module = Module {
        variable: 1 + u8::from(random.chance(50)),
        local: random.pick(&["var.v", "3"]).to_owned(),
        resources: Vec::new(),
        data: Vec::new(),
        outputs: Vec::new(),
        check: None,
        call: None,
        statements: Vec::new(),
        types,
    };
    let resources = 1 + random.below(4);
    for at in 0..resources {
        // In the middle, so that some resources mention the call, and the call some of them.
        if depth > 0 && at == resources / 2 && random.chance(55) {
            module.call = Some(Box::new(call(random, &module, depth - 1)));
        }
        if random.chance(12) {
            let data = data(random, format!("d{at}"), known(&module));
            module.data.push(data);
        }
        let resource = resource(random, format!("r{at}"), known(&module));
        module.resources.push(resource);
    }
    for at in 0..random.below(3) {
        let output = output(random, format!("o{at}"), known(&module));
        module.outputs.push(output);
    }
    if random.chance(30) {
        module.outputs.push(Output {
            name: String::from("v"),
            value: String::from("var.v"),
            sensitive: false,
            depends_on: None,
        });
    }
    if random.chance(20) {
        let of_resource = format!("{} != null", known(&module).of_resource(random).unwrap_or_default());
        module.check = Some(random.pick(&["var.v == 1", "local.l != 3", &of_resource]).to_owned());
    }
    module
}

fn call(random: &mut Random, caller: &Module, depth: usize) -> Call {
    let known = known(caller);
    Call {
        repetition: repetition(random),
        v: match random.below(4) {
            0 => String::from("2"),
            1 => String::from("local.l"),
            _ => known.reference(random),
        },
        depends_on: known.resource(random).filter(|_| random.chance(20)),
        module: module(random, depth, caller.types),
    }
}
