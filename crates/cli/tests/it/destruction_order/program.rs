//! A generated configuration and how it is written.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use super::script::REQUIREMENTS;

/// The instances of a resource or of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keys {
    Single,
    Count(usize),
    ForEach(Vec<&'static str>),
}

impl Keys {
    /// Returns the keys as they stand in addresses: `["a"]`.
    pub fn indexes(&self) -> Vec<String> {
        match self {
            Self::Single => vec![String::new()],
            Self::Count(count) => (0..*count).map(|index| format!("[{index}]")).collect(),
            Self::ForEach(keys) => keys.iter().map(|key| format!("[{key:?}]")).collect(),
        }
    }

    /// Returns what the keys add to labels of objects: `-a`.
    fn suffixes(&self) -> Vec<String> {
        match self {
            Self::Single => vec![String::new()],
            Self::Count(count) => (0..*count).map(|index| format!("-{index}")).collect(),
            Self::ForEach(keys) => keys.iter().map(|key| format!("-{key}")).collect(),
        }
    }

    /// Returns the argument that says so, and the template that ends an object's label.
    fn arguments(&self) -> (String, &'static str) {
        match self {
            Self::Single => (String::new(), ""),
            Self::Count(count) => (format!("  count = {count}\n"), "-${count.index}"),
            Self::ForEach(keys) => (format!("  for_each = toset({keys:?})\n"), "-${each.key}"),
        }
    }
}

/// How a resource uses another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The cloud knows: the object refers to the other ones.
    Refs,
    /// The cloud knows, and a change of the identifier forces replacement.
    Parent,
    /// An argument contains the identifiers; the cloud does not know.
    Value,
    /// Each instance uses the instance with its own key.
    Keyed,
    /// `depends_on`.
    DependsOn,
    /// `replace_triggered_by`.
    Triggers,
}

/// The target of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Resource(String),
    Module,
}

#[derive(Clone, Debug)]
pub struct Use {
    pub relation: Relation,
    pub target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    Cloud,
    Kube,
    /// The configuration of `kube` with the alias `b`.
    KubeAlias,
}

/// The configurations of the provider `kube`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KubeConfigurations {
    Default,
    /// A second one with the alias `b` and the same endpoint.
    DefaultAndAlias,
}

#[derive(Clone, Debug)]
pub struct Resource {
    /// The name of the block.
    pub name: String,
    /// The start of its objects' labels, which stays when the block is renamed.
    pub label: String,
    pub provider: Provider,
    pub keys: Keys,
    pub create_before_destroy: Option<bool>,
    pub value: usize,
    pub replace: usize,
    pub uses: Vec<Use>,
    /// The events that trigger the action.
    pub events: Option<&'static str>,
}

impl Resource {
    fn type_name(&self) -> &'static str {
        match self.provider {
            Provider::Cloud => "cloud_object",
            Provider::Kube | Provider::KubeAlias => "kube_object",
        }
    }

    pub fn address(&self) -> String {
        format!("{}.{}", self.type_name(), self.name)
    }

    /// Returns an expression for the list of its objects' identifiers.
    fn ids(&self) -> String {
        let address = self.address();
        match self.keys {
            Keys::Single => format!("[{address}.id]"),
            Keys::Count(_) => format!("{address}[*].id"),
            Keys::ForEach(_) => format!("[for o in {address} : o.id]"),
        }
    }
}

/// The module `m`, which is called once.
#[derive(Clone, Debug)]
pub struct Module {
    pub keys: Keys,
    /// The root resource whose identifiers it is given.
    pub input: Option<String>,
    /// The configuration that is passed to the module as `kube`.
    pub kube: Provider,
    pub resources: Vec<Resource>,
}

/// A configuration. Resources use only those before them; the module uses `input` and is used after `position`.
#[derive(Clone, Debug)]
pub struct Program {
    pub resources: Vec<Resource>,
    pub module: Option<Module>,
    /// The resource that serves the endpoint of the provider `kube`.
    pub cluster: Option<String>,
    pub kube: KubeConfigurations,
    /// Moved and removed blocks of this step.
    pub statements: Vec<String>,
}

impl Program {
    pub fn find(&self, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.name == name)
    }

    /// Returns the files.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::from([(String::from("main.tf"), self.to_string())]);
        if let Some(module) = &self.module {
            files.insert(String::from("m/main.tf"), module.to_string());
        }
        files
    }

    /// Returns the labels of all objects that the program asks for.
    pub fn labels(&self) -> Vec<String> {
        let of = |resource: &Resource, suffix: &str| -> Vec<String> {
            let suffixes = resource.keys.suffixes().into_iter();
            // The label stays when a resource is renamed, so it identifies the object across steps.
            suffixes.map(|own| format!("{}{suffix}{own}", resource.label)).collect()
        };
        let mut labels: Vec<String> = self.resources.iter().flat_map(|resource| of(resource, "")).collect();
        if let Some(module) = &self.module {
            for suffix in module.keys.suffixes() {
                labels.extend(module.resources.iter().flat_map(|resource| of(resource, &suffix)));
            }
        }
        labels
    }

    /// Returns the addresses of all instances.
    pub fn addresses(&self) -> Vec<String> {
        let of = |resource: &Resource, prefix: &str| -> Vec<String> {
            resource.keys.indexes().into_iter().map(|index| format!("{prefix}{}{index}", resource.address())).collect()
        };
        let mut all: Vec<String> = self.resources.iter().flat_map(|resource| of(resource, "")).collect();
        if let Some(module) = &self.module {
            for index in module.keys.indexes() {
                all.extend(module.resources.iter().flat_map(|resource| of(resource, &format!("module.m{index}."))));
            }
        }
        all
    }

    /// Removes a resource and everything that uses it; nothing is left of a provider whose cluster it was.
    pub fn remove(&mut self, name: &str) {
        self.resources.retain(|resource| resource.name != name);
        // References to a removed resource would be errors.
        for resource in &mut self.resources {
            resource.uses.retain(|one| one.target != Target::Resource(name.to_owned()));
        }
        if let Some(module) = &mut self.module {
            module.input = module.input.take().filter(|input| input != name);
        }
        if self.cluster.as_deref() == Some(name) {
            self.cluster = None;
        }
    }

    /// Renames a resource wherever it is named.
    pub fn rename(&mut self, from: &str, to: &str) {
        let renamed = |name: &mut String| {
            if name == from {
                to.clone_into(name);
            }
        };
        for resource in &mut self.resources {
            renamed(&mut resource.name);
            for one in &mut resource.uses {
                if let Target::Resource(name) = &mut one.target {
                    renamed(name);
                }
            }
        }
        self.module.iter_mut().filter_map(|module| module.input.as_mut()).for_each(renamed);
        self.cluster.iter_mut().for_each(renamed);
    }

    /// Removes the call of the module and everything that uses it.
    pub fn remove_module(&mut self) {
        self.module = None;
        self.resources.iter_mut().for_each(|resource| resource.uses.retain(|one| one.target != Target::Module));
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REQUIREMENTS)?;
        let cluster = self.cluster.as_ref().and_then(|name| self.find(name));
        let endpoint = cluster.map(|cluster| format!("  endpoint = {}.id\n", cluster.address()));
        if let Some(endpoint) = &endpoint {
            writeln!(f, "provider \"kube\" {{\n{endpoint}}}\n")?;
        }
        // It stays without a cluster, because objects that it created are still in the state.
        if self.kube == KubeConfigurations::DefaultAndAlias {
            let endpoint = endpoint.unwrap_or_default();
            writeln!(f, "provider \"kube\" {{\n  alias = \"b\"\n{endpoint}}}\n")?;
        }
        if self.resources.iter().any(|resource| resource.events.is_some()) {
            f.write_str(ACTION)?;
        }
        for resource in &self.resources {
            let ids = |target: &Target| match target {
                // The list of identifiers has one form for each kind of instances.
                Target::Resource(name) => self.find(name).map(Resource::ids),
                Target::Module => self.module.as_ref().map(|module| match module.keys {
                    Keys::Single => String::from("module.m.ids"),
                    // Instances of the module are flattened into one list.
                    _ => String::from("flatten([for m in module.m : m.ids])"),
                }),
            };
            let address = |target: &Target| match target {
                Target::Resource(name) => self.find(name).map(Resource::address),
                Target::Module => self.module.as_ref().map(|_| String::from("module.m")),
            };
            f.write_str(&block(resource, "", &ids, &address))?;
        }
        if let Some(module) = &self.module {
            let (keys, suffix) = module.keys.arguments();
            let input = module.input.as_ref().and_then(|name| self.find(name));
            let input = input.map_or(String::from("[]"), Resource::ids);
            let providers = match module.kube {
                Provider::KubeAlias => "  providers = {\n    kube = kube.b\n  }\n",
                Provider::Kube | Provider::Cloud => "",
            };
            let arguments = format!("{keys}{providers}  key = \"{suffix}\"\n  ids = {input}\n");
            writeln!(f, "module \"m\" {{\n  source = \"./m\"\n{arguments}}}\n")?;
        }
        self.statements.iter().try_for_each(|statement| f.write_str(statement))
    }
}

const ACTION: &str = "action \"cloud_action\" \"note\" {\n  config {\n    name = \"note\"\n  }\n}\n\n";

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{REQUIREMENTS}variable \"key\" {{}}\nvariable \"ids\" {{}}\n\n")?;
        // A target outside of the module means its input.
        let find = |target: &Target| match target {
            Target::Resource(name) => self.resources.iter().find(|resource| resource.name == *name),
            Target::Module => None,
        };
        for resource in &self.resources {
            let ids = |target: &Target| Some(find(target).map_or(String::from("var.ids"), Resource::ids));
            let address = |target: &Target| find(target).map(Resource::address);
            f.write_str(&block(resource, "${var.key}", &ids, &address))?;
        }
        let all: Vec<String> = self.resources.iter().map(Resource::ids).collect();
        writeln!(f, "output \"ids\" {{\n  value = concat({})\n}}", all.join(", "))
    }
}

/// Finds an expression for a target.
type Find<'a> = dyn Fn(&Target) -> Option<String> + 'a;

/// Returns the block of a resource.
fn block(resource: &Resource, suffix: &str, ids: &Find<'_>, address: &Find<'_>) -> String {
    let (keys, own_suffix) = resource.keys.arguments();
    let mut text = format!("resource {:?} {:?} {{\n{keys}", resource.type_name(), resource.name);
    if resource.provider == Provider::KubeAlias {
        text.push_str("  provider = kube.b\n");
    }
    writeln!(text, "  name = \"{}{suffix}{own_suffix}\"", resource.label).unwrap();
    let of = |relation: Relation, find: &Find<'_>| -> Vec<String> {
        let uses = resource.uses.iter().filter(|one| one.relation == relation);
        uses.filter_map(|one| find(&one.target)).collect()
    };
    // The counter changes the value, for an update.
    let mut values = vec![format!("[\"v{}\"]", resource.value)];
    values.extend(of(Relation::Value, ids));
    writeln!(text, "  value = join(\" \", concat({}))", values.join(", ")).unwrap();
    writeln!(text, "  replace = \"{}\"", resource.replace).unwrap();
    let mut refs = of(Relation::Refs, ids);
    let keyed = of(Relation::Keyed, address).into_iter();
    // A key that only one side has refers to nothing.
    refs.extend(keyed.map(|address| format!("compact([try({address}[each.key].id, \"\")])")));
    if !refs.is_empty() {
        writeln!(text, "  refs = concat({})", refs.join(", ")).unwrap();
    }
    if let Some(parent) = of(Relation::Parent, ids).first() {
        // A parent without instances is null.
        writeln!(text, "  parent = try(element({parent}, 0), null)").unwrap();
    }
    let depends_on = of(Relation::DependsOn, address);
    if !depends_on.is_empty() {
        writeln!(text, "  depends_on = [{}]", depends_on.join(", ")).unwrap();
    }
    text.push_str(&lifecycle(resource, &of(Relation::Triggers, address)));
    text.push_str("}\n\n");
    text
}

fn lifecycle(resource: &Resource, triggers: &[String]) -> String {
    let mut lines = String::new();
    if let Some(first) = resource.create_before_destroy {
        writeln!(lines, "    create_before_destroy = {first}").unwrap();
    }
    if !triggers.is_empty() {
        writeln!(lines, "    replace_triggered_by = [{}]", triggers.join(", ")).unwrap();
    }
    if let Some(events) = resource.events {
        let trigger = format!(
            "    action_trigger {{\n      events  = [{events}]\n      actions = [action.cloud_action.note]\n    }}"
        );
        writeln!(lines, "{trigger}").unwrap();
    }
    if lines.is_empty() { lines } else { format!("  lifecycle {{\n{lines}  }}\n") }
}
