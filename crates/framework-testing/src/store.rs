//! State stores, as hosts use them.

use std::sync::Arc;

use groma_provider::{
    Answer, ClientCapabilities, ConfigureStateStoreRequest, LockStateRequest, Name, Provider, ProviderDiagnostics,
    STATE_CHUNK_SIZE, StateRequest, UnlockStateRequest, ValidateRequest, WriteStateRequest,
};
use groma_value::Value;

use crate::project::Problems;
use crate::transport::{Transport, UnderTest};

/// A configured state store of a provider.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::{Arc, Mutex};
///
/// use groma_framework::{Bundle, Model, ModelStateStore, ProviderDiagnostic, States};
/// use groma_framework_testing::{Protocol, Store, Transport};
/// # use groma_value::Value;
///
/// #[derive(Model)]
/// struct Settings {
///     room: String,
/// }
///
/// struct Memory;
///
/// impl ModelStateStore for Memory {
///     type Model = Settings;
///     type States = Kept;
///
///     async fn open(&self, _: Settings) -> Result<Kept, ProviderDiagnostic> {
///         Ok(Kept::default())
///     }
/// }
///
/// #[derive(Default)]
/// struct Kept(Mutex<BTreeMap<String, Arc<[u8]>>>);
///
/// impl States for Kept {
///     async fn read(&self, id: &str) -> Result<Option<Vec<u8>>, ProviderDiagnostic> {
///         Ok(self.0.lock().unwrap().get(id).map(|content| content.to_vec()))
///     }
///     async fn write(&self, id: &str, content: Arc<[u8]>) -> Result<(), ProviderDiagnostic> {
///         self.0.lock().unwrap().insert(id.to_owned(), content);
///         Ok(())
///     }
///     async fn list(&self) -> Result<Vec<String>, ProviderDiagnostic> {
///         Ok(self.0.lock().unwrap().keys().cloned().collect())
///     }
///     async fn delete(&self, id: &str) -> Result<(), ProviderDiagnostic> {
///         self.0.lock().unwrap().remove(id);
///         Ok(())
///     }
/// }
///
/// let provider = || Arc::new(Bundle::new().state_store("office_memory", Memory).build().unwrap()) as _;
/// let settings = [("room", Value::string("cellar"))];
/// let store =
///     Store::open("example/office", provider, Transport::Protocol(Protocol::V6), "office_memory", settings).unwrap();
/// assert_eq!(store.broken_promises().unwrap(), [""; 0]);
/// ```
pub struct Store {
    provider: Arc<dyn Provider>,
    type_name: Name,
    chunk_size: u64,
    under_test: UnderTest,
}

impl Store {
    /// Opens the store `type_name` of the provider `address`, such as `example/files`, configured with these
    /// attributes.
    ///
    /// # Errors
    ///
    /// Fails if the provider rejects the configuration or has no such store, or if the operating system provides no
    /// thread or directory.
    pub fn open<'a>(
        address: &str,
        make: impl Fn() -> Arc<dyn Provider> + Send + Sync + 'static,
        transport: Transport,
        type_name: &str,
        config: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Result<Self, Problems> {
        let other = |problem| Problems(vec![problem]);
        let under_test = UnderTest::new(address, Box::new(make), transport).map_err(other)?;
        let provider = under_test.reach().map_err(other)?;
        let schema = provider.state_store_schema(type_name).map_err(|problems| problems_of(&problems))?;
        let schema = schema.ok_or_else(|| other(format!("{address} has no state store named {type_name}")))?;
        let given: Vec<(&str, Value)> = config.into_iter().collect();
        // A misspelled attribute would otherwise be ignored, and the test would use a default.
        if let Some((name, _)) =
            given.iter().find(|(name, _)| !schema.block.slots().iter().any(|slot| *slot.name == **name))
        {
            return Err(other(format!("{type_name} has no attribute named {name}")));
        }
        let value = |name: &str| given.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
        let slots = schema.block.slots().iter();
        let values = slots.map(|slot| value(&slot.name).unwrap_or_else(|| slot.item.empty_value().clone()));
        let config = schema.block.object(values.collect());
        let mut store = Self { provider, type_name: type_name.into(), chunk_size: STATE_CHUNK_SIZE, under_test };
        store.chunk_size = store.configure(config)?;
        Ok(store)
    }

    /// Configures the store, and returns the chunk size.
    fn configure(&self, config: Value) -> Result<u64, Problems> {
        let (type_name, client_capabilities) = (self.type_name.clone(), ClientCapabilities::default());
        let request = ValidateRequest { type_name: type_name.clone(), config: config.clone(), client_capabilities };
        // In the order of a host: validation first, and no configuration after errors.
        good(&self.answer(self.provider.validate_state_store(request)))?;
        let request = ConfigureStateStoreRequest { type_name, config, chunk_size: STATE_CHUNK_SIZE };
        let response = self.answer(self.provider.configure_state_store(request));
        good(&response.diagnostics).map(|()| response.chunk_size)
    }

    /// Reads the state `id`; empty if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns the errors of the provider.
    pub fn read(&self, id: &str) -> Result<Vec<u8>, Problems> {
        let response = self.answer(self.provider.read_state(self.about(id)));
        good(&response.diagnostics).map(|()| response.bytes)
    }

    /// Writes `content` as the state `id`.
    ///
    /// # Errors
    ///
    /// Returns the errors of the provider.
    pub fn write(&self, id: &str, content: &[u8]) -> Result<(), Problems> {
        let StateRequest { type_name, state_id } = self.about(id);
        let request = WriteStateRequest { type_name, state_id, bytes: content.into(), chunk_size: self.chunk_size };
        good(&self.answer(self.provider.write_state(request)))
    }

    /// Returns the identifiers of the stored states.
    ///
    /// # Errors
    ///
    /// Returns the errors of the provider.
    pub fn list(&self) -> Result<Vec<String>, Problems> {
        let response = self.answer(self.provider.states(self.type_name.clone()));
        good(&response.diagnostics).map(|()| response.state_ids)
    }

    /// Deletes the state `id`.
    ///
    /// # Errors
    ///
    /// Returns the errors of the provider.
    pub fn delete(&self, id: &str) -> Result<(), Problems> {
        good(&self.answer(self.provider.delete_state(self.about(id))))
    }

    /// Locks the state `id`, and returns the ID that releases the lock; `None` if the store has no locks.
    ///
    /// # Errors
    ///
    /// Returns the errors of the provider, for example that the state is locked.
    pub fn lock(&self, id: &str, operation: &str) -> Result<Option<String>, Problems> {
        let StateRequest { type_name, state_id } = self.about(id);
        let request = LockStateRequest { type_name, state_id, operation: operation.to_owned() };
        let response = self.answer(self.provider.lock_state(request));
        good(&response.diagnostics).map(|()| Some(response.lock_id).filter(|lock_id| !lock_id.is_empty()))
    }

    /// Releases the lock with the ID that [`Store::lock`] returned.
    ///
    /// # Errors
    ///
    /// Returns the errors of the provider, for example that this is not the current lock.
    pub fn unlock(&self, id: &str, lock_id: &str) -> Result<(), Problems> {
        let StateRequest { type_name, state_id } = self.about(id);
        let request = UnlockStateRequest { type_name, state_id, lock_id: lock_id.to_owned() };
        good(&self.answer(self.provider.unlock_state(request)))
    }

    /// Returns the chunk size in bytes.
    pub(crate) fn chunk_size(&self) -> u64 {
        self.chunk_size
    }

    fn about(&self, id: &str) -> StateRequest {
        StateRequest { type_name: self.type_name.clone(), state_id: id.to_owned() }
    }

    fn answer<T: Unpin>(&self, answer: Answer<'_, T>) -> T {
        self.under_test.runtime.block_on(answer)
    }
}

/// Returns the errors, if there are any.
fn good(diagnostics: &ProviderDiagnostics) -> Result<(), Problems> {
    if diagnostics.has_errors() { Err(problems_of(diagnostics)) } else { Ok(()) }
}

fn problems_of(diagnostics: &ProviderDiagnostics) -> Problems {
    Problems(diagnostics.iter().map(|problem| format!("{}: {}", problem.summary, problem.detail)).collect())
}
