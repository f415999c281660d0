//! Generated histories: a program, and what people do to it from run to run.

use super::program::{Keys, KubeConfigurations, Module, Program, Provider, Relation, Resource, Target, Use};
use crate::common::random::Random;
use groma_scripted::cloud::{Moment, Operation};

/// The failure of a step.
#[derive(Clone, Debug)]
pub enum Fault {
    /// An operation fails.
    Fails { operation: Operation, name: String, moment: Moment },
    /// Groma is killed while an operation goes on, which takes place all the same or not at all.
    Killed { operation: Operation, name: String, takes_place: bool },
}

/// A run of a history.
#[derive(Clone, Debug)]
pub struct Step {
    pub program: Program,
    pub options: Vec<String>,
    pub fault: Option<Fault>,
}

const KEYS: &[&str] = &["a", "b", "c"];

/// Returns the history of that number. Every step with a fault is followed by one that repeats it without.
pub fn history(seed: u64) -> Vec<Step> {
    // The seed determines everything, so a difference can be repeated.
    let mut random = Random::new(seed);
    let mut program = program(&mut random);
    let mut steps = vec![Step { program: program.clone(), options: Vec::new(), fault: None }];
    for _ in 0..1 + random.below(3) {
        // Labels of the previous step count too: its objects are the ones to be destroyed.
        let before = program.labels();
        program.statements.clear();
        for _ in 0..1 + random.below(4) {
            change(&mut random, &mut program);
        }
        let options = options(&mut random, &program);
        let fault = fault(&mut random, &before, &program.labels());
        // A partial run leaves work for a complete one, which must end in the state that the program describes.
        let repeated = fault.is_some() || options.iter().any(|option| option.starts_with("-target"));
        steps.push(Step { program: program.clone(), options, fault });
        if repeated {
            steps.push(Step { program: program.clone(), options: Vec::new(), fault: None });
        }
    }
    if random.chance(30) {
        // A full destroy tests the order of all remaining objects at once.
        steps.push(Step { program, options: vec![String::from("-destroy")], fault: None });
    }
    steps
}

fn keys(random: &mut Random) -> Keys {
    match random.below(10) {
        0..5 => Keys::Single,
        5 | 6 => Keys::Count(1 + random.below(2)),
        _ => Keys::ForEach(some_keys(random)),
    }
}

fn some_keys(random: &mut Random) -> Vec<&'static str> {
    let mut keys: Vec<&str> = KEYS.iter().copied().filter(|_| random.chance(55)).collect();
    // An empty for_each would remove the resource, which `removed` does anyway.
    if keys.is_empty() {
        keys.push(random.pick(KEYS));
    }
    keys
}

fn program(random: &mut Random) -> Program {
    let kube = if random.chance(40) { KubeConfigurations::DefaultAndAlias } else { KubeConfigurations::Default };
    let mut program = Program { kube, ..empty_program() };
    let count = 2 + random.below(5);
    for at in 0..count {
        // In the middle, so that the module uses some resources and others use the module.
        if at == count / 2 && random.chance(40) {
            program.module = Some(module(random, &program));
        }
        let resource = resource(random, &format!("r{at}"), &program);
        program.resources.push(resource);
        if program.cluster.is_none() && random.chance(25) {
            // The cluster must be a single object of the cloud, because the provider has one endpoint.
            let suits = |one: &&Resource| one.keys == Keys::Single && one.provider == Provider::Cloud;
            program.cluster = program.resources.last().filter(suits).map(|one| one.name.clone());
        }
    }
    program
}

fn empty_program() -> Program {
    let kube = KubeConfigurations::Default;
    Program { resources: Vec::new(), module: None, cluster: None, kube, statements: Vec::new() }
}

fn provider(random: &mut Random, program: &Program) -> Provider {
    if program.cluster.is_none() || random.chance(40) {
        return Provider::Cloud;
    }
    kube_provider(random, program)
}

fn kube_provider(random: &mut Random, program: &Program) -> Provider {
    match program.kube {
        KubeConfigurations::DefaultAndAlias if random.chance(60) => Provider::KubeAlias,
        KubeConfigurations::DefaultAndAlias | KubeConfigurations::Default => Provider::Kube,
    }
}

fn resource(random: &mut Random, name: &str, program: &Program) -> Resource {
    let provider = provider(random, program);
    let keys = keys(random);
    let mut uses: Vec<Use> = Vec::new();
    for _ in 0..random.below(4) {
        uses.extend(a_use(random, &keys, program));
    }
    Resource {
        name: name.to_owned(),
        label: name.to_owned(),
        provider,
        keys,
        // Creating first is frequent here, because most rules about the order concern it.
        create_before_destroy: match random.below(10) {
            0..4 => Some(true),
            4 => Some(false),
            _ => None,
        },
        value: 0,
        replace: 0,
        uses,
        events: random.chance(15).then(|| random.pick(EVENTS)),
    }
}

const EVENTS: &[&str] = &["before_create", "after_create", "before_create, before_update", "after_update"];

/// A use of something that is there already.
fn a_use(random: &mut Random, keys: &Keys, program: &Program) -> Option<Use> {
    if program.module.is_some() && random.chance(30) {
        let relation = [Relation::Refs, Relation::Value, Relation::DependsOn][random.below(3)];
        return Some(Use { relation, target: Target::Module });
    }
    let used = random.one_of(&program.resources)?;
    let relation = relation(random, keys, used);
    Some(Use { relation, target: Target::Resource(used.name.clone()) })
}

/// The cloud refuses to replace destroy first what others merely refer to, so most references are to what is created first.
fn relation(random: &mut Random, keys: &Keys, used: &Resource) -> Relation {
    let each = matches!((keys, &used.keys), (Keys::ForEach(_), Keys::ForEach(_)));
    match random.below(20) {
        0..3 => Relation::DependsOn,
        3 => Relation::Triggers,
        4..8 => Relation::Parent,
        8..12 => Relation::Value,
        12..14 if each => Relation::Keyed,
        _ if used.create_before_destroy == Some(true) || random.chance(10) => Relation::Refs,
        _ => Relation::Value,
    }
}

fn module(random: &mut Random, caller: &Program) -> Module {
    // The module has no configuration of its own: its objects of `kube` use the one that is passed or inherited.
    let mut within = Program { cluster: caller.cluster.clone(), ..empty_program() };
    for at in 0..1 + random.below(2) {
        let mut one = resource(random, &format!("m{at}"), &within);
        // Actions are declared in the root module only.
        one.events = None;
        within.resources.push(one);
    }
    if let Some(first) = within.resources.first_mut() {
        // A target that the module does not have stands for its input.
        first.uses = vec![Use { relation: Relation::Refs, target: Target::Module }];
    }
    let keys = if random.chance(30) { Keys::Single } else { Keys::ForEach(some_keys(random)) };
    let input = random.one_of(&caller.resources).map(|one| one.name.clone());
    Module { keys, input, kube: kube_provider(random, caller), resources: within.resources }
}

/// Something is changed.
fn change(random: &mut Random, program: &mut Program) {
    match random.below(17) {
        0..2 => updated(random, program),
        2..6 => replaced(random, program),
        6..8 => instances(random, program),
        8 => module_instances(random, program),
        9 | 10 => removed(random, program),
        11 => added(random, program),
        12 => renamed(random, program),
        13 => create_before_destroy(random, program),
        14 => module_removed(random, program),
        15 => other_provider(random, program),
        _ => used_no_more(random, program),
    }
}

/// Returns some resource, of the root or of the module.
fn any<'a>(random: &mut Random, program: &'a mut Program) -> Option<&'a mut Resource> {
    let module = program.module.as_mut().filter(|_| random.chance(25));
    let resources = module.map_or(&mut program.resources, |module| &mut module.resources);
    let at = random.below(resources.len().max(1));
    resources.get_mut(at)
}

fn updated(random: &mut Random, program: &mut Program) {
    any(random, program).into_iter().for_each(|one| one.value += 1);
}

fn replaced(random: &mut Random, program: &mut Program) {
    // A new value of `replace` forces a replacement.
    any(random, program).into_iter().for_each(|one| one.replace += 1);
}

fn other_keys(random: &mut Random, keys: &Keys) -> Keys {
    match keys {
        Keys::Count(_) if random.chance(80) => Keys::Count(random.below(3)),
        Keys::ForEach(_) if random.chance(80) => Keys::ForEach(some_keys(random)),
        _ => match random.below(3) {
            0 => Keys::Single,
            1 => Keys::Count(1 + random.below(2)),
            _ => Keys::ForEach(some_keys(random)),
        },
    }
}

fn instances(random: &mut Random, program: &mut Program) {
    let cluster = program.cluster.clone();
    let at = random.below(program.resources.len().max(1));
    // The cluster must stay a single object.
    let Some(one) = program.resources.get_mut(at).filter(|one| Some(&one.name) != cluster.as_ref()) else { return };
    let (old, new) = (one.keys.clone(), other_keys(random, &one.keys));
    let address = one.address();
    one.keys = new.clone();
    // A keyed use needs equal keys on both sides, which are about to differ.
    one.uses.retain(|one| one.relation != Relation::Keyed);
    let name = one.name.clone();
    for user in &mut program.resources {
        user.uses.retain(|one| one.relation != Relation::Keyed || one.target != Target::Resource(name.clone()));
    }
    let moved = moved(random, &address, &old, &new);
    program.statements.extend(moved);
}

/// Now and then an instance that is gone becomes one that is new.
fn moved(random: &mut Random, address: &str, old: &Keys, new: &Keys) -> Option<String> {
    let (old, new) = (old.indexes(), new.indexes());
    let gone = old.iter().find(|index| !new.contains(index))?;
    let added = new.iter().find(|index| !old.contains(index))?;
    let text = format!("moved {{\n  from = {address}{gone}\n  to   = {address}{added}\n}}\n");
    random.chance(30).then_some(text)
}

fn module_instances(random: &mut Random, program: &mut Program) {
    let Some(module) = &mut program.module else { return };
    let (old, new) = (module.keys.clone(), other_keys(random, &module.keys));
    module.keys = new.clone();
    let moved = moved(random, "module.m", &old, &new);
    program.statements.extend(moved);
}

fn removed(random: &mut Random, program: &mut Program) {
    let cluster = program.cluster.clone();
    let needed = |one: &Resource| {
        // Removing the cluster would leave the objects of its provider unreachable, which no order can avoid.
        let serves = program.resources.iter().any(|other| other.provider == Provider::Kube);
        serves && Some(&one.name) == cluster.as_ref()
    };
    let candidates: Vec<&Resource> = program.resources.iter().filter(|one| !needed(one)).collect();
    let Some((name, address)) = random.one_of(&candidates).map(|one| (one.name.clone(), one.address())) else { return };
    // A program without resources has nothing to compare.
    if program.resources.len() > 1 {
        program.remove(&name);
        program.statements.extend(random.chance(25).then(|| removal(random, &address)));
    }
}

fn removal(random: &mut Random, address: &str) -> String {
    let destroy = random.chance(70);
    format!("removed {{\n  from = {address}\n  lifecycle {{\n    destroy = {destroy}\n  }}\n}}\n")
}

fn module_removed(random: &mut Random, program: &mut Program) {
    if program.module.is_some() {
        program.remove_module();
        program.statements.extend(random.chance(25).then(|| removal(random, "module.m")));
    }
}

/// A resource gets the other configuration of its provider.
fn other_provider(random: &mut Random, program: &mut Program) {
    if program.kube == KubeConfigurations::Default {
        return;
    }
    let at = random.below(program.resources.len().max(1));
    if let Some(one) = program.resources.get_mut(at) {
        one.provider = match one.provider {
            Provider::Kube => Provider::KubeAlias,
            Provider::KubeAlias => Provider::Kube,
            Provider::Cloud => Provider::Cloud,
        };
    }
}

fn added(random: &mut Random, program: &mut Program) {
    let name = format!("x{}", random.below(100));
    if program.find(&name).is_none() {
        let new = resource(random, &name, program);
        program.resources.push(new);
    }
}

fn renamed(random: &mut Random, program: &mut Program) {
    let Some(one) = random.one_of(&program.resources) else { return };
    let (from, old) = (one.name.clone(), one.address());
    let to = format!("{from}n");
    // A new name with a moved block, so that the object stays.
    program.rename(&from, &to);
    let new = program.find(&to).map(Resource::address).unwrap_or_default();
    program.statements.push(format!("moved {{\n  from = {old}\n  to   = {new}\n}}\n"));
}

fn create_before_destroy(random: &mut Random, program: &mut Program) {
    if let Some(one) = any(random, program) {
        one.create_before_destroy = if one.create_before_destroy == Some(true) { None } else { Some(true) };
    }
}

fn used_no_more(random: &mut Random, program: &mut Program) {
    let users: Vec<String> =
        program.resources.iter().filter(|one| !one.uses.is_empty()).map(|one| one.name.clone()).collect();
    let Some(name) = random.one_of(&users) else { return };
    if let Some(user) = program.resources.iter_mut().find(|one| one.name == *name) {
        let at = random.below(user.uses.len());
        user.uses.remove(at);
    }
}

fn options(random: &mut Random, program: &Program) -> Vec<String> {
    let addresses = program.addresses();
    // One address at most: several options would hide which one caused a difference.
    let Some(address) = random.one_of(&addresses) else { return Vec::new() };
    match random.below(14) {
        0 => vec![format!("-target={address}")],
        1 => vec![format!("-replace={address}")],
        2 => vec![String::from("-refresh=false")],
        // A targeted destroy leaves dependencies behind, which the next steps must handle.
        3 if random.chance(30) => vec![String::from("-destroy"), format!("-target={address}")],
        _ => Vec::new(),
    }
}

fn fault(random: &mut Random, before: &[String], after: &[String]) -> Option<Fault> {
    let labels = [before, after].concat();
    let name = random.one_of(&labels)?.clone();
    // Creations fail twice as often, because they leave deposed and tainted objects.
    let operation = *random.one_of(&[Operation::Create, Operation::Create, Operation::Update, Operation::Delete])?;
    match random.below(20) {
        0..4 => Some(Fault::Fails { operation, name, moment: Moment::Before }),
        // An operation that fails after it took place matters for creations: the object exists, but is not known to be
        // complete.
        4..6 if operation == Operation::Create => Some(Fault::Fails { operation, name, moment: Moment::After }),
        6..8 => Some(Fault::Killed { operation, name, takes_place: random.chance(60) }),
        _ => None,
    }
}
