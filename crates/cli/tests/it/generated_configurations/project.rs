//! A configuration that is made up: as data, so that it can be changed, and as the text of its files.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write as _};

use super::blocks::Piece;
use super::kit;

/// A module with what it calls.
#[derive(Clone, Debug)]
pub struct Module {
    /// The default of its variable `v`.
    pub variable: u8,
    /// Its local value `l`.
    pub local: String,
    pub resources: Vec<Resource>,
    pub data: Vec<Data>,
    pub outputs: Vec<Output>,
    /// The condition of its check block, if it has one.
    pub check: Option<String>,
    pub call: Option<Box<Call>>,
    /// Whole blocks: what has moved, what is removed, what is imported.
    pub statements: Vec<String>,
    /// The kind of its resources.
    pub types: Types,
}

/// The kind of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// Of the one type that needs nothing but the program itself.
    BuiltIn,
    /// Many are of a type with blocks.
    WithBlocks,
}

/// A resource of the one type that needs nothing but the program itself, or of one with blocks.
#[derive(Clone, Debug)]
pub struct Resource {
    pub name: String,
    /// Its body, if its type has blocks.
    pub pieces: Option<Vec<Piece>>,
    pub repetition: Repetition,
    pub input: Option<String>,
    pub triggers: Option<String>,
    pub depends_on: Option<String>,
    /// The lines of its lifecycle block.
    pub lifecycle: Vec<String>,
    /// The lines of its provisioner.
    pub provisioner: Option<Vec<String>>,
}

/// Another state that is read.
#[derive(Clone, Debug)]
pub struct Data {
    pub name: String,
    pub repetition: Repetition,
    /// Where the state is.
    pub path: String,
    pub depends_on: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Output {
    pub name: String,
    pub value: String,
    pub sensitive: bool,
    pub depends_on: Option<String>,
}

/// A call of the module `m` of the folder of that name.
#[derive(Clone, Debug)]
pub struct Call {
    pub repetition: Repetition,
    pub v: String,
    pub depends_on: Option<String>,
    pub module: Module,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repetition {
    Single,
    Count(usize),
    /// A set of keys.
    ForEach(Vec<&'static str>),
    /// Keys with a value each.
    Map(Vec<&'static str>),
}

impl Repetition {
    /// The keys of the instances, as they are written behind an address.
    pub fn keys(&self) -> Vec<String> {
        match self {
            Self::Single => vec![String::new()],
            Self::Count(count) => (0..*count).map(|at| format!("[{at}]")).collect(),
            Self::ForEach(keys) | Self::Map(keys) => keys.iter().map(|key| format!("[\"{key}\"]")).collect(),
        }
    }
}

impl Resource {
    pub fn type_name(&self) -> &'static str {
        if self.pieces.is_some() { "kit_thing" } else { "terraform_data" }
    }

    pub fn address(&self) -> String {
        format!("{}.{}", self.type_name(), self.name)
    }
}

impl Module {
    /// The files of it and of what it calls, by their names.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        self.add_files("", &mut files);
        files
    }

    fn add_files(&self, folder: &str, files: &mut BTreeMap<String, String>) {
        files.insert(format!("{folder}main.tf"), self.to_string());
        if let Some(call) = &self.call {
            call.module.add_files(&format!("{folder}m/"), files);
        }
    }

    /// A resource has another name, and so has whatever mentions it in this module.
    pub fn rename(&mut self, from: &str, to: &str) {
        let Some(ty) = self.resources.iter().find(|one| one.name == from).map(Resource::type_name) else { return };
        let (old, new) = (format!("{ty}.{from}"), format!("{ty}.{to}"));
        let again = |text: &mut String| *text = text.replace(&old, &new);
        for resource in &mut self.resources {
            if resource.name == from {
                to.clone_into(&mut resource.name);
            }
            resource.lifecycle.iter_mut().for_each(again);
            resource.provisioner.iter_mut().flatten().for_each(again);
            resource.pieces.iter_mut().flatten().for_each(|piece| again(&mut piece.text));
            [&mut resource.input, &mut resource.triggers, &mut resource.depends_on]
                .into_iter()
                .flatten()
                .for_each(again);
        }
        for data in &mut self.data {
            again(&mut data.path);
            data.depends_on.iter_mut().for_each(again);
        }
        for output in &mut self.outputs {
            again(&mut output.value);
            output.depends_on.iter_mut().for_each(again);
        }
        if let Some(call) = &mut self.call {
            again(&mut call.v);
            call.depends_on.iter_mut().for_each(again);
        }
        self.check.iter_mut().for_each(again);
    }

    /// Whether anything but a resource itself mentions it.
    pub fn mentions(&self, resource: &Resource) -> bool {
        let mut others = self.clone();
        others.resources.retain(|other| other.name != resource.name);
        others.to_string().contains(&resource.address())
    }

    /// The addresses of the instances of resources, here and below.
    pub fn instances(&self, prefix: &str) -> Vec<String> {
        let mut found = Vec::new();
        for resource in &self.resources {
            let keys = resource.repetition.keys();
            found.extend(keys.into_iter().map(|key| format!("{prefix}{}{key}", resource.address())));
        }
        if let Some(call) = &self.call {
            for key in call.repetition.keys() {
                found.extend(call.module.instances(&format!("{prefix}module.m{key}.")));
            }
        }
        found
    }
}

/// An argument, if there is one.
fn argument(f: &mut Formatter<'_>, name: &str, value: Option<&String>) -> fmt::Result {
    value.map_or(Ok(()), |value| writeln!(f, "  {name} = {value}"))
}

fn depends_on(f: &mut Formatter<'_>, on: Option<&String>) -> fmt::Result {
    on.map_or(Ok(()), |on| writeln!(f, "  depends_on = [{on}]"))
}

fn nested(f: &mut Formatter<'_>, header: &str, lines: &[String]) -> fmt::Result {
    let mut body = String::new();
    lines.iter().flat_map(|line| line.lines()).try_for_each(|line| writeln!(body, "    {line}"))?;
    writeln!(f, "  {header} {{\n{body}  }}")
}

impl Display for Repetition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => Ok(()),
            Self::Count(count) => writeln!(f, "  count = {count}"),
            Self::ForEach(keys) => writeln!(f, "  for_each = toset({keys:?})"),
            Self::Map(keys) => {
                writeln!(f, "  for_each = {{ for k in {keys:?} : k => {{ n = \"${{k}}-${{var.v}}\" }} }}")
            }
        }
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.types == Types::WithBlocks {
            f.write_str(kit::REQUIREMENT)?;
        }
        writeln!(f, "variable \"v\" {{\n  default = {}\n}}\n\nlocals {{\n  l = {}\n}}\n", self.variable, self.local)?;
        self.resources.iter().try_for_each(|resource| writeln!(f, "{resource}"))?;
        self.data.iter().try_for_each(|data| writeln!(f, "{data}"))?;
        if let Some(call) = &self.call {
            writeln!(f, "module \"m\" {{\n  source = \"./m\"\n{}  v = {}", call.repetition, call.v)?;
            depends_on(f, call.depends_on.as_ref())?;
            writeln!(f, "}}\n")?;
        }
        if let Some(condition) = &self.check {
            let rule = format!("condition = {condition}\nerror_message = \"checked\"");
            writeln!(f, "check \"k\" {{")?;
            nested(f, "assert", &[rule])?;
            writeln!(f, "}}\n")?;
        }
        self.outputs.iter().try_for_each(|output| writeln!(f, "{output}"))?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "{statement}"))
    }
}

impl Display for Resource {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "resource \"{}\" \"{}\" {{\n{}", self.type_name(), self.name, self.repetition)?;
        self.pieces.iter().flatten().try_for_each(|piece| writeln!(f, "{}", piece.text))?;
        argument(f, "input", self.input.as_ref())?;
        argument(f, "triggers_replace", self.triggers.as_ref())?;
        depends_on(f, self.depends_on.as_ref())?;
        if !self.lifecycle.is_empty() {
            nested(f, "lifecycle", &self.lifecycle)?;
        }
        if let Some(lines) = &self.provisioner {
            nested(f, "provisioner \"local-exec\"", lines)?;
        }
        writeln!(f, "}}")
    }
}

impl Display for Data {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "data \"terraform_remote_state\" \"{}\" {{\n{}", self.name, self.repetition)?;
        writeln!(f, "  backend = \"local\"\n  config = {{ path = {} }}", self.path)?;
        depends_on(f, self.depends_on.as_ref())?;
        writeln!(f, "}}")
    }
}

impl Display for Output {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "output \"{}\" {{\n  value = {}", self.name, self.value)?;
        if self.sensitive {
            writeln!(f, "  sensitive = true")?;
        }
        depends_on(f, self.depends_on.as_ref())?;
        writeln!(f, "}}")
    }
}
