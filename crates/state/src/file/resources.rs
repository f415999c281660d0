//! The value of `resources`, in pieces that can be made side by side.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use groma_address::{AbsResource, InstanceKey, Mode, ModuleInstance};

use super::in_turn::{Take, in_turn};
use super::objects::{DependencyLines, write_object};
use super::write::Members;
use crate::json::new_line;
use crate::model::{InstanceRecord, ResourceEntry, State};
use crate::object::ObjectRecord;

/// The number of instances in a piece: a hundred kilobytes to some megabytes. Smaller pieces cost more system time per byte.
const PIECE: usize = 256;

/// Passes the list of resources on, piece by piece.
pub(super) fn write(state: &State, take: &mut Take<'_>) -> io::Result<()> {
    let content = Content::of(state);
    if content.addresses.is_empty() {
        return take(b"[]");
    }
    let range = |piece: usize| piece * PIECE..content.addresses.len().min((piece + 1) * PIECE);
    let make = |piece, lines: &mut DependencyLines, out: &mut Vec<u8>| content.write(range(piece), lines, out);
    in_turn(content.addresses.len().div_ceil(PIECE), make, take)?;
    take(b"\n  ]")
}

/// Everything in the list, in the order of the file.
///
/// Resources are sorted by the *text* of their module, which is not the order of addresses: `module.a[10]` comes before
/// `module.a[2]`, and `module.a.module.b` before `module.c`.
struct Content<'a> {
    modules: Vec<String>,
    providers: Vec<String>,
    resources: Vec<Resource<'a>>,
    addresses: Vec<ObjectAddress<'a>>,
    /// Whether an object can have a provider configuration of its own.
    may_split: bool,
}

struct Resource<'a> {
    module: usize,
    provider: usize,
    address: &'a AbsResource,
    entry: &'a ResourceEntry,
    /// Whether its objects tell one by one who manages them.
    is_split: bool,
}

/// An instance; none for a resource that has no instances.
struct ObjectAddress<'a> {
    resource: usize,
    instance: Option<(&'a InstanceKey, &'a InstanceRecord)>,
}

impl<'a> Content<'a> {
    fn of(state: &'a State) -> Self {
        let mut content = Self {
            modules: Vec::new(),
            providers: Vec::new(),
            resources: Vec::with_capacity(state.resources().len()),
            addresses: Vec::with_capacity(state.len()),
            may_split: state.provider_instances().next().is_some(),
        };
        for (text, resources) in by_text_of_module(state) {
            resources.into_iter().for_each(|(address, entry)| content.add(address, entry));
            content.modules.push(text);
        }
        content
    }

    /// Adds a resource of the module that is next.
    fn add(&mut self, address: &'a AbsResource, entry: &'a ResourceEntry) {
        let is_same = |last: &Resource<'_>| Arc::ptr_eq(&last.entry.provider, &entry.provider);
        if !self.resources.last().is_some_and(is_same) {
            self.providers.push(entry.provider.to_string());
        }
        let (module, provider) = (self.modules.len(), self.providers.len() - 1);
        let resource = self.resources.len();
        let is_split = self.may_split && entry.objects().any(|object| object.provider().is_some());
        self.resources.push(Resource { module, provider, address, entry, is_split });
        let before = self.addresses.len();
        let instances = entry.instances().filter(|(_, record)| !record.is_empty());
        self.addresses.extend(instances.map(|instance| ObjectAddress { resource, instance: Some(instance) }));
        if self.addresses.len() == before {
            self.addresses.push(ObjectAddress { resource, instance: None });
        }
    }

    /// Appends a part of the list.
    fn write(&self, range: Range<usize>, lines: &mut DependencyLines, out: &mut Vec<u8>) {
        for at in range {
            let ObjectAddress { resource, instance } = &self.addresses[at];
            let is_other = |at: usize| self.addresses.get(at).is_none_or(|place| place.resource != *resource);
            let mut is_first = at == 0 || is_other(at - 1);
            if is_first {
                out.push(if at == 0 { b'[' } else { b',' });
                self.open(&self.resources[*resource], out);
            }
            for (key, deposed, object) in instance.iter().flat_map(|(key, record)| objects(key, record)) {
                if !std::mem::take(&mut is_first) {
                    out.push(b',');
                }
                new_line(INSTANCE_DEPTH, out);
                let Resource { provider, is_split, .. } = &self.resources[*resource];
                let provider = is_split.then(|| &*self.providers[*provider]);
                write_object((key, deposed), provider, object, lines, out);
            }
            if is_other(at + 1) {
                close(instance.is_some(), out);
            }
        }
    }

    /// Begins a resource, up to its instances.
    fn open(&self, resource: &Resource<'_>, out: &mut Vec<u8>) {
        new_line(2, out);
        let Resource { module, provider, address, is_split, .. } = resource;
        let mut members = Members::object(out, 2);
        if !self.modules[*module].is_empty() {
            members.string("module", &self.modules[*module]);
        }
        members.string("mode", if address.resource.mode == Mode::Data { "data" } else { "managed" });
        members.string("type", &address.resource.type_name);
        members.string("name", &address.resource.name);
        if !is_split {
            members.string("provider", &self.providers[*provider]);
        }
        members.member("instances").push(b'[');
    }
}

/// The nesting depth of instances in the file.
const INSTANCE_DEPTH: usize = 4;

/// Starts writing a range to the disk: the kernel does that at once for pages that are advised to be unneeded. They
/// stay in memory until they are written.
fn close(has_instances: bool, out: &mut Vec<u8>) {
    if has_instances {
        new_line(INSTANCE_DEPTH - 1, out);
    }
    out.push(b']');
    new_line(2, out);
    out.push(b'}');
}

/// The current object of an instance, then the deposed ones with their keys.
fn objects<'a>(
    key: &'a InstanceKey,
    record: &'a InstanceRecord,
) -> impl Iterator<Item = (&'a InstanceKey, Option<&'a str>, &'a ObjectRecord)> {
    let current = record.current.iter().map(move |object| (key, None, &**object));
    current.chain(record.deposed.iter().map(move |(deposed, object)| (key, Some(deposed.as_str()), &**object)))
}

/// The resources that a file has, by module, in the order of the text of the modules.
fn by_text_of_module(state: &State) -> Vec<(String, Vec<(&AbsResource, &ResourceEntry)>)> {
    let mut modules: Vec<(&ModuleInstance, String, Vec<_>)> = Vec::new();
    for (address, entry) in state.resources().filter(|(address, _)| address.resource.mode != Mode::Ephemeral) {
        match modules.last_mut() {
            Some((module, _, resources)) if **module == address.module => resources.push((address, entry)),
            _ => modules.push((&address.module, address.module.to_string(), vec![(address, entry)])),
        }
    }
    modules.sort_by(|(_, one, _), (_, other, _)| one.cmp(other));
    modules.into_iter().map(|(_, text, resources)| (text, resources)).collect()
}
