//! The emulator itself: schemas, the log and what it adds up to. Operations are in [`super::operations`].

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::computed::Source;
use super::faults::{Faults, InjectedFault};
use super::index::{Index, Kind, Record};
use super::log::{Exclusive, Log, LogError, News};
use super::view;
use crate::Name;
use crate::api::{ApiError, Fault};
use crate::names::{self, Meaning};
use crate::schema::validate;
use crate::schema::{Catalogue, TypeSchema};

/// Settings of an emulator.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The account all objects are in: twelve digits.
    pub account: String,
    /// The duration of a request.
    pub delay: Duration,
    /// The seed of generated values, for a new file.
    pub seed: u64,
    /// The injected faults.
    pub faults: Faults,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            account: "123456789012".to_owned(),
            delay: Duration::ZERO,
            seed: 0x6772_6f6d_6121,
            faults: Faults::default(),
        }
    }
}

impl Settings {
    fn consistency(&self) -> u64 {
        u64::try_from(self.faults.consistency.as_millis()).unwrap_or(u64::MAX)
    }
}

/// An emulator of Cloud Control, kept in one file. Several of them, in several processes, can use the same file.
#[derive(Debug)]
pub struct Store {
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) settings: Settings,
    pub(super) damage_cases: InjectedFault,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    log: Log,
    index: Index,
}

/// One turn of exclusive work on the store.
pub(super) struct Turn<'a> {
    exclusive: Exclusive<'a>,
    pub index: &'a mut Index,
    /// The time of this turn, in milliseconds since 1970.
    pub now: u64,
}

/// The location of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The region of the object.
    pub region: Name,
    /// The resource type.
    pub type_name: Name,
    /// The primary identifier.
    pub identifier: Name,
}

impl Store {
    /// Opens the emulator in a file, or creates the file.
    pub fn open(path: &Path, catalogue: Arc<Catalogue>, settings: Settings) -> Result<Self, LogError> {
        Self::start(Log::open(path)?, catalogue, settings)
    }

    /// An emulator that is gone when it is dropped.
    pub fn in_memory(catalogue: Arc<Catalogue>, settings: Settings) -> Result<Self, LogError> {
        Self::start(Log::in_memory(), catalogue, settings)
    }

    fn start(log: Log, catalogue: Arc<Catalogue>, settings: Settings) -> Result<Self, LogError> {
        let damage_cases = InjectedFault::new(settings.faults.clone());
        let index = Index::new(settings.consistency());
        let store = Self { catalogue, settings, damage_cases, inner: Mutex::new(Inner { log, index }) };
        store.turn(|_| Ok(())).map_err(TurnError::into_log)?;
        Ok(store)
    }

    /// The schemas it acts on.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// The account its objects are in.
    pub fn account(&self) -> &str {
        &self.settings.account
    }

    /// Does something with exclusive use of the file, on top of everything that others did before.
    fn turn<T>(&self, work: impl FnOnce(&mut Turn<'_>) -> Result<T, ApiError>) -> Result<T, TurnError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Inner { log, index } = &mut *inner;
        // Other processes use the same file, so each operation first reads what they have appended.
        let mut exclusive = log.exclusive()?;
        let bytes = match exclusive.news()? {
            News::Continued(bytes) => bytes,
            News::Replaced(bytes) => {
                // The file is another one now, so nothing in the index is valid.
                *index = Index::new(self.settings.consistency());
                bytes
            }
        };
        exclusive.replay(&bytes, |record| {
            let record = serde_json::from_str(record).map_err(|error| format!("is no record: {error}"))?;
            index.apply(record)
        })?;
        // A clock may be set back, but a request that has ended must not be unfinished again.
        let now = index.no_earlier_than_seen(clock());
        index.settle(now);
        let mut turn = Turn { exclusive, index, now };
        if turn.index.seed().is_none() {
            turn.record(Record::Header { format: 1, seed: self.settings.seed }).map_err(TurnError::Api)?;
        }
        work(&mut turn).map_err(TurnError::Api)
    }

    pub(super) fn work<T>(&self, work: impl FnOnce(&mut Turn<'_>) -> Result<T, ApiError>) -> Result<T, ApiError> {
        self.turn(work).map_err(TurnError::into_api)
    }

    pub(super) fn schema(&self, type_name: &str) -> Result<Arc<TypeSchema>, ApiError> {
        match self.catalogue.get(type_name) {
            Ok(Some(schema)) => Ok(schema),
            Ok(None) => Err(ApiError::new(Fault::TypeNotFound, format!("The type '{type_name}' cannot be found."))),
            Err(error) => Err(ApiError::new(Fault::Other, error.to_string())),
        }
    }

    /// All objects, or those of one type, sorted. A type may be named in either way: `AWS::EC2::VPC`, `awscc_ec2_vpc`.
    pub fn objects(&self, type_name: Option<&str>) -> Result<Vec<Location>, ApiError> {
        let wanted = type_name.map(|name| self.resolve_type(name)).transpose()?;
        self.work(|turn| {
            let kinds = turn
                .index
                .kinds()
                .into_iter()
                .filter(|kind| wanted.as_ref().is_none_or(|name| *name == kind.type_name));
            let locations = kinds.flat_map(|kind| {
                turn.index.objects_after(kind, None).map(|(identifier, _)| Location {
                    region: kind.region.clone(),
                    type_name: kind.type_name.clone(),
                    identifier: identifier.clone(),
                })
            });
            Ok(locations.collect())
        })
    }

    /// The properties of an object as they are read: without write-only ones.
    pub fn show(&self, type_name: &str, identifier: &str) -> Result<Json, ApiError> {
        let type_name = self.resolve_type(type_name)?;
        let schema = self.schema(&type_name)?;
        let mut model = self.work(|turn| Ok(turn.find(&type_name, identifier)?.1))?;
        view::strip(&schema.write_only, &mut model);
        Ok(model)
    }

    /// Returns all properties of an object, write-only ones included: for tests.
    pub fn stored(&self, type_name: &str, identifier: &str) -> Result<Json, ApiError> {
        let type_name = self.resolve_type(type_name)?;
        self.work(|turn| turn.find(&type_name, identifier).map(|(_, model)| model))
    }

    /// Changes an object out of band, by a JSON Patch on all its properties. The result must
    /// obey the type's schema. Returns the properties as they are read.
    pub fn patch(&self, type_name: &str, identifier: &str, patch: &str) -> Result<Json, ApiError> {
        let type_name = self.resolve_type(type_name)?;
        let schema = self.schema(&type_name)?;
        let patch: json_patch::Patch = serde_json::from_str(patch)
            .map_err(|error| ApiError::new(Fault::Validation, format!("this is no JSON Patch: {error}")))?;
        self.work(|turn| {
            let (region, before) = turn.find(&type_name, identifier)?;
            let mut model = before.clone();
            json_patch::patch(&mut model, &patch)
                .map_err(|error| ApiError::new(Fault::Validation, format!("the patch does not fit: {error}")))?;
            let problems = validate::model(&schema, &model);
            if !problems.is_empty() {
                return Err(ApiError::new(
                    Fault::Validation,
                    format!("Model validation failed ({})", problems.join("; ")),
                ));
            }
            if schema.identifier_of(&model) != schema.identifier_of(&before) {
                return Err(ApiError::new(Fault::Validation, "the patch would change the primary identifier"));
            }
            turn.record(Record::Put {
                region: region.to_string(),
                type_name: type_name.to_string(),
                identifier: identifier.to_owned(),
                model: raw(&model)?,
                at: turn.now,
            })?;
            view::strip(&schema.write_only, &mut model);
            Ok(model)
        })
    }

    /// Deletes an object out of band.
    pub fn delete(&self, type_name: &str, identifier: &str) -> Result<(), ApiError> {
        let type_name = self.resolve_type(type_name)?;
        self.work(|turn| {
            let (region, _) = turn.find(&type_name, identifier)?;
            turn.record(Record::Remove {
                region: region.to_string(),
                type_name: type_name.to_string(),
                identifier: identifier.to_owned(),
                at: turn.now,
            })
        })
    }

    fn resolve_type(&self, name: &str) -> Result<Name, ApiError> {
        if self.catalogue.contains(name) {
            return Ok(name.into());
        }
        match names::find(&self.catalogue, name) {
            Some(Meaning::One(type_name)) => Ok(type_name),
            _ => Err(ApiError::new(Fault::TypeNotFound, format!("The type '{name}' cannot be found."))),
        }
    }
}

impl Turn<'_> {
    /// Writes a record down and takes it in.
    pub fn record(&mut self, record: Record) -> Result<(), ApiError> {
        let text = serde_json::to_string(&record).map_err(|error| ApiError::new(Fault::Other, error.to_string()))?;
        // The log first: an operation that is not in the file has not happened.
        self.exclusive.append(&text).map_err(|error| ApiError::new(Fault::Other, error.to_string()))?;
        self.index.apply(record).map_err(|problem| ApiError::new(Fault::Other, problem))?;
        self.index.settle(self.now);
        Ok(())
    }

    /// Returns the random source for the next record's generated values.
    pub fn source(&self) -> Source {
        Source::new(self.index.seed().unwrap_or_default(), self.index.counter())
    }

    /// An object of any region.
    fn find(&self, type_name: &Name, identifier: &str) -> Result<(Name, Json), ApiError> {
        let mut found =
            self.index.kinds().into_iter().filter(|kind| kind.type_name == *type_name).filter_map(|kind| {
                self.index.object(kind, identifier).map(|model| (kind.region.clone(), model.clone()))
            });
        let (region, model) = found.next().ok_or_else(|| not_found(type_name, identifier))?;
        Ok((region, parse(&model)?))
    }
}

/// The error for an object that is not there, in the service's words.
pub(super) fn not_found(type_name: &str, identifier: &str) -> ApiError {
    let message = format!("Resource of type '{type_name}' with identifier '{identifier}' was not found.");
    ApiError::new(Fault::ResourceNotFound, message)
}

pub(super) fn parse(model: &str) -> Result<Json, ApiError> {
    serde_json::from_str(model).map_err(|error| ApiError::new(Fault::Other, error.to_string()))
}

pub(super) fn raw(model: &Json) -> Result<Box<RawValue>, ApiError> {
    serde_json::value::to_raw_value(model).map_err(|error| ApiError::new(Fault::Other, error.to_string()))
}

pub(super) fn kind(region: &str, type_name: &str) -> Kind {
    Kind { region: region.into(), type_name: type_name.into() }
}

fn clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A turn ends early because of the file, or because of the operation.
enum TurnError {
    Log(LogError),
    Api(ApiError),
}

impl From<LogError> for TurnError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl TurnError {
    fn into_api(self) -> ApiError {
        match self {
            Self::Log(error) => ApiError::new(Fault::Other, error.to_string()),
            Self::Api(error) => error,
        }
    }

    fn into_log(self) -> LogError {
        match self {
            Self::Log(error) => error,
            Self::Api(error) => LogError::Damaged { path: "".into(), line: 1, problem: error.message },
        }
    }
}
