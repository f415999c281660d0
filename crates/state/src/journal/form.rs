//! The binary form of a journal's records.

use std::ops::Range;
use std::sync::Arc;

use groma_address::ResourceInstance;

use super::codec::{Decoder, Encoder};
use super::numbered::Numbered;
use super::record::{Begin, CreateRequest, Finished, ObjectAddress, Operation, Outcome, Prior, Record, RunHeader};
use crate::content::Content;
use crate::file::{parse_paths, write_paths_json};
use crate::object::{AttributesJson, DeposedKey, Fingerprint, ForeignKeys, Identity, ObjectRecord, ObjectStatus};

const RUN: u8 = 1;
const TEXT: u8 = 2;
const LIST: u8 = 3;
const BEGIN: u8 = 4;
const FINISHED: u8 = 5;
const RESOLVED: u8 = 6;
const OUTPUTS: u8 = 7;
const SNAPSHOT: u8 = 8;
const RANKED_TEXT: u8 = 9;
const UNION: u8 = 10;
const ABANDONED: u8 = 11;
const ACCEPTED: u8 = 12;
const BASE: u8 = 13;
const CHECKPOINT: u8 = 14;
const WRITTEN: u8 = 15;

/// Reads one record; nothing when it is damaged or of an unknown kind.
pub(super) fn decode<'a>(payload: &'a [u8], numbered: &Numbered) -> Option<Record<'a>> {
    let mut decoder = Decoder(payload);
    let d = &mut decoder;
    Some(match d.byte()? {
        RUN => Record::Run(RunHeader { lineage: d.text()?.into(), serial: d.number()?, from_nothing: d.byte()? != 0 }),
        TEXT => Record::Text { number: d.number()?, rank: None, text: d.text()? },
        RANKED_TEXT => {
            Record::Text { number: d.number()?, rank: Some(u32::try_from(d.number()?).ok()?), text: d.text()? }
        }
        LIST => Record::List { number: d.number()?, resources: decode_rest(d)? },
        UNION => {
            let number = d.number()?;
            let mut own = Vec::new();
            for _ in 0..d.number()? {
                own.push(d.number()?);
            }
            Record::Union { number, own, lists: decode_rest(d)? }
        }
        BEGIN => Record::Begin(Box::new(decode_begin(d, numbered)?)),
        FINISHED => Record::Finished(Box::new(decode_finished(d, numbered)?)),
        RESOLVED => Record::Settled(decode_address(d)?),
        OUTPUTS => Record::Outputs { outputs: d.text()?, check_results: d.text()? },
        SNAPSHOT => Record::Snapshot { lineage: d.text()?, serial: d.number()?, bytes: d.0 },
        ABANDONED => Record::Lost(d.number()?..d.number()?),
        ACCEPTED => Record::Accepted,
        BASE => Record::Base(d.0),
        CHECKPOINT => Record::Checkpoint(Content { length: d.number()?, checksum: u32::try_from(d.number()?).ok()? }),
        WRITTEN => Record::Written,
        _ => return None,
    })
}

pub(super) fn encode_run(header: &RunHeader, out: &mut Vec<u8>) {
    let mut e = Encoder(out);
    e.byte(RUN);
    e.text(&header.lineage);
    e.number(header.serial);
    e.byte(header.from_nothing.into());
}

pub(super) fn encode_text(number: u64, rank: Option<u32>, text: &str, out: &mut Vec<u8>) {
    let mut e = Encoder(out);
    e.byte(if rank.is_some() { RANKED_TEXT } else { TEXT });
    e.number(number);
    rank.iter().for_each(|rank| e.number((*rank).into()));
    e.text(text);
}

pub(super) fn encode_list(number: u64, resources: &[u64], out: &mut Vec<u8>) {
    let mut e = Encoder(out);
    e.byte(LIST);
    e.number(number);
    resources.iter().for_each(|resource| e.number(*resource));
}

pub(super) fn encode_union(number: u64, own: &[u64], lists: &[u64], out: &mut Vec<u8>) {
    let mut e = Encoder(out);
    e.byte(UNION);
    e.number(number);
    e.number(own.len() as u64);
    own.iter().chain(lists).for_each(|number| e.number(*number));
}

/// All numbers up to the end of the record.
fn decode_rest(d: &mut Decoder<'_>) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    while !d.0.is_empty() {
        numbers.push(d.number()?);
    }
    Some(numbers)
}

/// The numbers that a record needs for what it shares with others.
pub(super) struct Numbers {
    pub provider: u64,
    pub list: u64,
}

pub(super) fn encode_begin(begin: &Begin, numbers: &Numbers, out: &mut Vec<u8>) {
    let mut e = Encoder(out);
    e.byte(BEGIN);
    encode_address(&begin.address, begin.deposed.as_ref(), &mut e);
    e.byte(begin.operation as u8);
    e.number(numbers.provider);
    e.number(numbers.list);
    e.byte(
        flag(begin.create_before_destroy, CREATED_FIRST)
            | flag(begin.is_kept, KEPT)
            | flag(begin.status == ObjectStatus::Tainted, UNFINISHED),
    );
    e.option(begin.request.as_ref(), |e, request| {
        e.number(request.schema_version);
        e.bytes(&request.planned_private);
        e.bytes(&request.planned_state);
        e.bytes(&request.config);
        e.bytes(&request.meta);
    });
}

/// The change of the object at an address, relative to `before`.
pub(super) fn encode_finished(
    (address, deposed): (&ResourceInstance, Option<&DeposedKey>),
    before: Option<&ObjectRecord>,
    outcome: &Outcome,
    numbers: &Numbers,
    out: &mut Vec<u8>,
) {
    let mut e = Encoder(out);
    e.byte(FINISHED);
    encode_address(address, deposed, &mut e);
    e.number(numbers.provider);
    e.option(before.map(Prior::of), |e, prior| {
        e.0.extend_from_slice(&prior.fingerprint.0);
        e.option(prior.id.as_deref(), Encoder::text);
    });
    let object = match outcome {
        Outcome::Present(object) => Some(object),
        Outcome::Gone => None,
    };
    e.option(object, |e, object| encode_object(object, numbers.list, e));
}

pub(super) fn encode_resolved(object_address: &ObjectAddress, out: &mut Vec<u8>) {
    let mut e = Encoder(out);
    e.byte(RESOLVED);
    encode_address(&object_address.0, object_address.1.as_ref(), &mut e);
}

pub(super) fn encode_outputs(outputs: &[u8], check_results: &[u8], out: &mut Vec<u8>) {
    let mut e = Encoder(out);
    e.byte(OUTPUTS);
    e.bytes(outputs);
    e.bytes(check_results);
}

/// Writes the record that replaces unreadable bytes in memory. No file has such a record.
pub(super) fn encode_abandoned(range: &Range<u64>, out: &mut Vec<u8>) {
    let mut e = Encoder(out);
    e.byte(ABANDONED);
    e.number(range.start);
    e.number(range.end);
}

/// Writes that the user accepted the loss of whatever cannot be read before.
pub(super) fn encode_accepted(out: &mut Vec<u8>) {
    out.push(ACCEPTED);
}

/// Returns a record of the state file's content before its first checkpoint, without the content itself.
pub(super) fn encode_base_head() -> Vec<u8> {
    vec![BASE]
}

/// Writes that the state file is about to get this content.
pub(super) fn encode_checkpoint(content: Content, out: &mut Vec<u8>) {
    let mut e = Encoder(out);
    e.byte(CHECKPOINT);
    e.number(content.length);
    e.number(content.checksum.into());
}

/// Writes that the state file has the content of the last checkpoint or snapshot.
pub(super) fn encode_written(out: &mut Vec<u8>) {
    out.push(WRITTEN);
}

/// All of a snapshot record but the bytes themselves.
pub(super) fn encode_snapshot_head(lineage: &str, serial: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut e = Encoder(&mut out);
    e.byte(SNAPSHOT);
    e.text(lineage);
    e.number(serial);
    out
}

fn encode_address(address: &ResourceInstance, deposed: Option<&DeposedKey>, e: &mut Encoder<'_>) {
    let mut text = String::with_capacity(64);
    address.push_to(&mut text);
    e.text(&text);
    e.option(deposed, |e, key| e.text(key.as_str()));
}

fn decode_address(d: &mut Decoder<'_>) -> Option<ObjectAddress> {
    Some((d.text()?.parse().ok()?, d.option(|d| DeposedKey::new(d.text()?))?))
}

fn decode_operation(code: u8) -> Option<Operation> {
    [Operation::Create, Operation::Update, Operation::Delete].into_iter().find(|operation| *operation as u8 == code)
}

// Flags of a begin record: properties of the new object.
const CREATED_FIRST: u8 = 1;
const KEPT: u8 = 2;
const UNFINISHED: u8 = 4;

fn decode_begin(d: &mut Decoder<'_>, numbered: &Numbered) -> Option<Begin> {
    let (address, deposed) = decode_address(d)?;
    let operation = decode_operation(d.byte()?)?;
    let provider = numbered.provider(d)?;
    let dependencies = numbered.list(d)?;
    let flags = d.byte()?;
    let request = d.option(|d| {
        Some(CreateRequest {
            schema_version: d.number()?,
            planned_private: d.bytes()?.into(),
            planned_state: d.bytes()?.into(),
            config: d.bytes()?.into(),
            meta: d.bytes()?.into(),
        })
    })?;
    Some(Begin {
        address,
        deposed,
        operation,
        provider,
        request,
        dependencies,
        create_before_destroy: flags & CREATED_FIRST != 0,
        is_kept: flags & KEPT != 0,
        status: if flags & UNFINISHED == 0 { ObjectStatus::Ready } else { ObjectStatus::Tainted },
    })
}

fn decode_prior(d: &mut Decoder<'_>) -> Option<Prior> {
    Some(Prior { fingerprint: Fingerprint(d.array()?), id: d.option(|d| Some(d.text()?.to_owned()))? })
}

fn flag(is_set: bool, flag: u8) -> u8 {
    if is_set { flag } else { 0 }
}

const TAINTED: u8 = 1;
const CREATE_BEFORE_DESTROY: u8 = 2;
const SKIP_DESTROY: u8 = 4;

fn encode_object(object: &ObjectRecord, list: u64, e: &mut Encoder<'_>) {
    let foreign = object.foreign.as_deref();
    e.byte(
        flag(object.status == ObjectStatus::Tainted, TAINTED)
            | flag(object.create_before_destroy, CREATE_BEFORE_DESTROY)
            | flag(foreign.is_some_and(|keys| keys.skip_destroy), SKIP_DESTROY),
    );
    e.number(object.schema_version);
    e.text(object.attributes.as_str());
    e.option((!object.sensitive_attributes.is_empty()).then_some(&object.sensitive_attributes), |e, paths| {
        let mut json = Vec::new();
        write_paths_json(paths, &mut json);
        e.bytes(&json);
    });
    e.bytes(&object.private);
    e.option(object.identity.as_deref(), |e, identity| {
        e.number(identity.schema_version);
        e.option(identity.json.as_ref(), |e, json| e.text(json.as_str()));
    });
    e.number(list);
    e.option(foreign, |e, keys| {
        e.option(keys.attributes_flat.as_deref(), Encoder::text);
        // The provider configuration is encoded next to it.
        e.option(None, Encoder::text);
        e.option(keys.depends_on.as_deref(), Encoder::text);
    });
}

fn decode_finished(d: &mut Decoder<'_>, numbered: &Numbered) -> Option<Finished> {
    let object_address = decode_address(d)?;
    let provider = numbered.provider(d)?;
    let prior = d.option(decode_prior)?;
    let outcome = match d.option(|d| decode_object(d, numbered))? {
        Some(object) if provider.key.is_none() => Outcome::Present(Arc::new(object)),
        Some(object) => Outcome::Present(Arc::new(object).managed_by(Some(&Arc::new(provider.clone())))),
        None => Outcome::Gone,
    };
    Some(Finished { object_address, provider, prior, outcome })
}

fn decode_object(d: &mut Decoder<'_>, numbered: &Numbered) -> Option<ObjectRecord> {
    let flags = d.byte()?;
    let shared = |d: &mut Decoder<'_>| Some(Arc::<str>::from(d.text()?));
    Some(ObjectRecord {
        status: if flags & TAINTED == 0 { ObjectStatus::Ready } else { ObjectStatus::Tainted },
        create_before_destroy: flags & CREATE_BEFORE_DESTROY != 0,
        schema_version: d.number()?,
        attributes: AttributesJson::new(d.text()?),
        sensitive_attributes: d.option(|d| parse_paths(d.text()?).ok())?.unwrap_or_default(),
        private: match d.bytes()? {
            [] => Arc::default(),
            bytes => bytes.into(),
        },
        identity: d.option(|d| {
            let schema_version = d.number()?;
            Some(Arc::new(Identity { schema_version, json: d.option(|d| Some(AttributesJson::new(d.text()?)))? }))
        })?,
        dependencies: numbered.list(d)?,
        foreign: d.option(|d| {
            let attributes_flat = d.option(shared)?;
            d.option(|d| d.text())?;
            let depends_on = d.option(shared)?;
            let skip_destroy = flags & SKIP_DESTROY != 0;
            Some(Box::new(ForeignKeys { attributes_flat, provider: None, depends_on, skip_destroy }))
        })?,
    })
}
