//! The objects of the cloud in a directory, with the log and the instructions of a test.
//!
//! | file | holds |
//! | --- | --- |
//! | `objects.json` | the objects and how many of each name were created |
//! | `log` | the events, one a line |
//! | `fail` | `<operation> <name> <once or always> <before or after>`: operations that fail, before or after they take place |
//! | `wait` | `<operation> <name>`: operations that wait until the line is gone |
//! | `hold` | a seed: operations take place one at a time, in an order that the seed chooses |

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::gate::{Gate, rank};
use super::log::{Event, Outcome};
use super::object::Object;

/// The longest wait of an operation, so that a failed test leaves no thread behind for good.
const MAX_WAIT: Duration = Duration::from_secs(900);
/// The name that means all objects in instructions to fail.
pub const EVERY: &str = "*";

const POLL: Duration = Duration::from_millis(3);

/// The operations on objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// The creation of an object.
    Create,
    /// The update of an object in place.
    Update,
    /// The deletion of an object.
    Delete,
    /// The read of a data source.
    Read,
    /// The opening of an ephemeral resource.
    Open,
    /// The invocation of an action.
    Invoke,
}

impl Operation {
    const ALL: [Self; 6] = [Self::Create, Self::Update, Self::Delete, Self::Read, Self::Open, Self::Invoke];

    /// Returns the word in logs and instructions.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Read => "read",
            Self::Open => "open",
            Self::Invoke => "invoke",
        }
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.as_str() == word)
    }
}

/// The number of times that an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Only the next time.
    Once,
    /// Until the instruction is taken back.
    Always,
}

/// The moment at which an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It does not take place.
    Before,
    /// It takes place, and reports an error.
    After,
}

/// An operation that took place.
#[derive(Debug)]
pub(super) struct Done<T> {
    pub(super) result: T,
    /// An error that is reported all the same.
    pub(super) problem: Option<StoreError>,
}

/// The reason why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// Existing objects refer to the object; their identifiers.
    InUse(Vec<String>),
    /// A reference names an object that does not exist.
    NotFound(String),
    /// The object that serves the provider's endpoint does not exist.
    Unreachable(String),
    /// A test injected the failure.
    Injected,
    /// The directory cannot be read or written.
    Io(String),
}

impl StoreError {
    /// Returns the summary of the provider's error.
    pub const fn summary(&self) -> &'static str {
        match self {
            Self::InUse(_) => "Object in use",
            Self::NotFound(_) => "Object not found",
            Self::Unreachable(_) => "Endpoint unreachable",
            Self::Injected => "Injected failure",
            Self::Io(_) => "Store not available",
        }
    }

    /// Returns the detail of the provider's error.
    pub fn detail(&self) -> String {
        match self {
            Self::InUse(users) => format!("used by {}", users.join(", ")),
            Self::NotFound(id) => format!("{id} does not exist"),
            Self::Unreachable(endpoint) => format!("no object serves {endpoint}"),
            Self::Injected => String::from("injected by the test"),
            Self::Io(error) => error.clone(),
        }
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    objects: BTreeMap<String, Object>,
    created: BTreeMap<String, u64>,
    operations: u64,
}

/// A directory of objects. Clones share the order of concurrent operations.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    gate: Arc<Gate>,
}

impl Store {
    /// Opens the store in `directory`, which is created when something is first written.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), gate: Arc::default() }
    }

    /// The directory of the store.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the objects by identifier.
    ///
    /// # Errors
    ///
    /// The directory cannot be read.
    pub fn objects(&self) -> Result<BTreeMap<String, Object>, StoreError> {
        self.locked(|content| Ok(content.objects.clone()))
    }

    /// Returns the events so far.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub fn events(&self) -> Result<Vec<Event>, StoreError> {
        Ok(self.read("log")?.lines().filter_map(Event::parse).collect())
    }

    /// Removes all events from the log.
    ///
    /// # Errors
    ///
    /// The log cannot be written.
    pub fn forget_events(&self) -> Result<(), StoreError> {
        self.write("log", "")
    }

    /// Lets operations on objects called `name` fail, or on all objects for [`EVERY`].
    ///
    /// # Errors
    ///
    /// The instruction cannot be written.
    pub fn fail(&self, operation: Operation, name: &str, times: Times, moment: Moment) -> Result<(), StoreError> {
        let times = if times == Times::Once { "once" } else { "always" };
        let moment = if moment == Moment::Before { "before" } else { "after" };
        // Appended, so that several instructions can hold at the same time.
        let lines = self.read("fail")?;
        self.write("fail", &format!("{lines}{} {name} {times} {moment}\n", operation.as_str()))
    }

    /// Lets operations on objects called `name` wait until [`resume`](Self::resume).
    ///
    /// # Errors
    ///
    /// The instruction cannot be written.
    pub fn wait(&self, operation: Operation, name: &str) -> Result<(), StoreError> {
        let lines = self.read("wait")?;
        self.write("wait", &format!("{lines}{} {name}\n", operation.as_str()))
    }

    /// Lets all waiting operations go on.
    ///
    /// # Errors
    ///
    /// The instruction cannot be written.
    pub fn resume(&self) -> Result<(), StoreError> {
        self.write("wait", "")
    }

    /// Takes back all instructions to fail.
    ///
    /// # Errors
    ///
    /// The instruction cannot be written.
    pub fn heal(&self) -> Result<(), StoreError> {
        self.write("fail", "")
    }

    /// Lets concurrent operations take place one at a time, in an order that `seed` chooses.
    ///
    /// # Errors
    ///
    /// The instruction cannot be written.
    pub fn hold(&self, seed: u64) -> Result<(), StoreError> {
        self.write("hold", &seed.to_string())
    }

    /// Creates an object, which gets an identifier.
    pub(super) fn create(&self, mut object: Object) -> Result<Done<Object>, StoreError> {
        let name = object.name.clone();
        self.operate(Operation::Create, &name, object.endpoint.clone(), |content| {
            known(content, &object)?;
            // Numbers are never reused, so a recreated object has another identifier.
            let count = content.created.entry(object.name.clone()).or_default();
            *count += 1;
            object.id = format!("{}#{count}", object.name);
            content.objects.insert(object.id.clone(), object.clone());
            Ok((object.id.clone(), object))
        })
    }

    /// Updates an object in place.
    pub(super) fn update(&self, object: Object) -> Result<Done<Object>, StoreError> {
        self.operate(Operation::Update, &object.id.clone(), object.endpoint.clone(), |content| {
            known(content, &object)?;
            let existing =
                content.objects.get_mut(&object.id).ok_or_else(|| StoreError::NotFound(object.id.clone()))?;
            existing.clone_from(&object);
            Ok((object.id.clone(), object))
        })
    }

    /// Deletes an object; one that does not exist is deleted already.
    pub(super) fn delete(&self, id: &str, endpoint: Option<String>) -> Result<Done<()>, StoreError> {
        self.operate(Operation::Delete, id, endpoint, |content| {
            let others = content.objects.values().filter(|other| other.id != id);
            let users = others.filter(|other| other.references().any(|used| used == id));
            let users: Vec<String> = users.map(|user| user.id.clone()).collect();
            if !users.is_empty() {
                return Err(StoreError::InUse(users));
            }
            content.objects.remove(id);
            Ok((id.to_owned(), ()))
        })
    }

    /// Returns the identifiers of the objects called `name`, for which `of`, if given, must exist.
    pub(super) fn find(&self, name: &str, of: Option<&str>) -> Result<Done<Vec<String>>, StoreError> {
        self.operate(Operation::Read, name, None, |content| {
            exists(content, of)?;
            let found = content.objects.values().filter(|object| object.name == name);
            Ok((name.to_owned(), found.map(|object| object.id.clone()).collect()))
        })
    }

    /// Does something that leaves no object: an operation that needs `target` to exist.
    pub(super) fn touch(&self, operation: Operation, name: &str, target: Option<&str>) -> Result<Done<()>, StoreError> {
        self.operate(operation, name, None, |content| {
            exists(content, target)?;
            Ok((name.to_owned(), ()))
        })
    }

    /// Records an operation, lets it wait, fail or take its turn as instructed, and carries it out.
    fn operate<T>(
        &self,
        operation: Operation,
        object: &str,
        endpoint: Option<String>,
        change: impl FnOnce(&mut Content) -> Result<(String, T), StoreError>,
    ) -> Result<Done<T>, StoreError> {
        let event = |number, object: &str, outcome| Event { number, operation, object: object.to_owned(), outcome };
        // Logged before anything is checked, because the order of calls is what tests examine.
        let number = self.locked(|content| {
            content.operations += 1;
            self.log(&event(content.operations, object, Outcome::Begun))?;
            Ok(content.operations)
        })?;
        let name = object.split('#').next().unwrap_or_default();
        // Waiting happens without the lock, so that other operations can go on.
        self.wait_as_instructed(operation, name)?;
        self.in_gate_order(operation, object, || {
            self.locked(|content| {
                // After the wait, so that a test can still change its mind.
                let instruction = self.take_instruction(operation, name)?;
                let result = match instruction {
                    Some(Moment::Before) => Err(StoreError::Injected),
                    _ => reachable(content, endpoint).and_then(|()| change(content)),
                };
                let (end, result) = match result {
                    Ok((id, result)) => (
                        event(number, &id, Outcome::Done),
                        Ok(Done { result, problem: instruction.map(|_| StoreError::Injected) }),
                    ),
                    Err(error) => {
                        let reason = format!("{}: {}", error.summary(), error.detail());
                        (event(number, object, Outcome::Failed(reason)), Err(error))
                    }
                };
                self.log(&end)?;
                Ok(result)
            })
        })??
    }

    /// Runs `change` when the gate lets it through, if operations are held.
    fn in_gate_order<T>(
        &self,
        operation: Operation,
        object: &str,
        change: impl FnOnce() -> T,
    ) -> Result<T, StoreError> {
        // Without a seed operations run as they arrive.
        let Ok(seed) = self.read("hold")?.trim().parse::<u64>() else { return Ok(change()) };
        let text = format!("{} {object}", operation.as_str());
        Ok(self.gate.pass(rank(seed, operation == Operation::Delete, &text), change))
    }

    fn wait_as_instructed(&self, operation: Operation, name: &str) -> Result<(), StoreError> {
        let line = format!("{} {name}", operation.as_str());
        let polls = MAX_WAIT.as_millis() / POLL.as_millis();
        for _ in 0..polls {
            if !self.read("wait")?.lines().any(|waiting| waiting == line) {
                break;
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Returns when the operation is to fail, if it is, and strikes out an instruction that holds once.
    fn take_instruction(&self, operation: Operation, name: &str) -> Result<Option<Moment>, StoreError> {
        let lines = self.read("fail")?;
        let starts = [name, EVERY].map(|name| format!("{} {name} ", operation.as_str()));
        let is_meant = |line: &&str| starts.iter().any(|start| line.starts_with(start));
        let Some(instruction) = lines.lines().find(is_meant) else { return Ok(None) };
        if instruction.contains(" once ") {
            self.write("fail", &lines.replacen(&format!("{instruction}\n"), "", 1))?;
        }
        Ok(Some(if instruction.ends_with(" after") { Moment::After } else { Moment::Before }))
    }

    /// Runs `work` on the content while no other thread or process does, and writes what it changed.
    fn locked<T>(&self, work: impl FnOnce(&mut Content) -> Result<T, StoreError>) -> Result<T, StoreError> {
        std::fs::create_dir_all(&self.directory)?;
        // A file lock, because the provider may run in several processes.
        let lock = File::create(self.path("lock"))?;
        lock.lock()?;
        let text = self.read("objects.json")?;
        let mut content: Content = match text.is_empty() {
            true => Content::default(),
            false => serde_json::from_str(&text).map_err(|error| StoreError::Io(error.to_string()))?,
        };
        // A failed operation writes nothing, so a refusal leaves the objects as they are.
        let result = work(&mut content)?;
        let text = serde_json::to_string_pretty(&content).map_err(|error| StoreError::Io(error.to_string()))?;
        self.write("objects.json", &text)?;
        Ok(result)
    }

    fn log(&self, event: &Event) -> Result<(), StoreError> {
        // Appending needs no lock and survives a kill of the process.
        let mut log = OpenOptions::new().create(true).append(true).open(self.path("log"))?;
        Ok(log.write_all(format!("{event}\n").as_bytes())?)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn read(&self, name: &str) -> Result<String, StoreError> {
        match std::fs::read_to_string(self.path(name)) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a file whole, so that a reader without the lock never sees a part.
    fn write(&self, name: &str, text: &str) -> Result<(), StoreError> {
        std::fs::create_dir_all(&self.directory)?;
        let new = self.path(&format!("{name}.new"));
        std::fs::write(&new, text)?;
        Ok(std::fs::rename(new, self.path(name))?)
    }
}

/// Checks that the object exists that serves the provider's endpoint.
fn reachable(content: &Content, endpoint: Option<String>) -> Result<(), StoreError> {
    exists(content, endpoint.as_deref()).map_err(|_| StoreError::Unreachable(endpoint.unwrap_or_default()))
}

/// Checks that everything exists that the object refers to.
fn known(content: &Content, object: &Object) -> Result<(), StoreError> {
    object.references().try_for_each(|id| exists(content, Some(id)))
}

fn exists(content: &Content, id: Option<&str>) -> Result<(), StoreError> {
    match id {
        Some(id) if !content.objects.contains_key(id) => Err(StoreError::NotFound(id.to_owned())),
        _ => Ok(()),
    }
}
