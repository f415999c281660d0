//! AWS keys, and providers of keys that renew them in time.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use tokio::sync::Mutex;

use crate::secret::Secret;

/// Keys are renewed this long before they expire, so that they are still valid when a request arrives.
const RENEW_BEFORE: Duration = Duration::from_secs(300);

/// The access keys of an AWS account. `Debug` prints the access key ID only.
#[derive(Clone, PartialEq, Eq)]
pub struct AwsKeys {
    /// The access key ID.
    pub id: String,
    /// The secret access key.
    pub secret: Secret,
    /// The session token, which temporary keys have.
    pub session: Option<Secret>,
}

impl AwsKeys {
    /// Creates static or temporary keys.
    pub fn new(id: impl Into<String>, secret: impl Into<String>, session: Option<String>) -> Self {
        Self { id: id.into(), secret: Secret::new(secret), session: session.map(Secret::new) }
    }

    pub(super) fn credentials(&self, source: &'static str) -> Credentials {
        let session = self.session.as_ref().map(|token| token.reveal().to_owned());
        Credentials::new(&*self.id, self.secret.reveal(), session, None, source)
    }
}

impl fmt::Debug for AwsKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AwsKeys({})", self.id)
    }
}

/// A provider that keeps the keys of another one until shortly before they expire.
///
/// Waiting requests share one renewal. While a renewal fails, keys that are still valid stay in use.
#[derive(Clone)]
pub(super) struct Cached {
    shared: Arc<Shared>,
}

struct Shared {
    source: Box<dyn ProvideCredentials>,
    kept: Mutex<Option<Credentials>>,
}

impl Cached {
    pub(super) fn new(source: impl ProvideCredentials + 'static) -> Self {
        Self { shared: Arc::new(Shared { source: Box::new(source), kept: Mutex::new(None) }) }
    }

    /// Returns valid keys at the time `now`, which is that of AWS.
    pub(super) async fn get(&self, now: SystemTime) -> Result<Credentials, CredentialsError> {
        let mut kept = self.shared.kept.lock().await;
        let valid_for = |margin: Duration| {
            kept.as_ref().filter(|keys| keys.expiry().is_none_or(|expiry| expiry > now + margin)).cloned()
        };
        // Static keys have no expiry and are asked for once.
        if let Some(keys) = valid_for(RENEW_BEFORE) {
            return Ok(keys);
        }
        match self.shared.source.provide_credentials().await {
            Ok(keys) => {
                *kept = Some(keys.clone());
                Ok(keys)
            }
            // The source may be down for a moment, and the keys are good for up to `RENEW_BEFORE` more.
            Err(error) => valid_for(Duration::ZERO).ok_or(error),
        }
    }

    /// Forgets keys that the service calls expired, unless they have been renewed already.
    pub(super) async fn reject(&self, keys: &Credentials) {
        let mut kept = self.shared.kept.lock().await;
        // Several requests may fail with the same keys; only the first one drops them.
        if kept.as_ref().is_some_and(|kept| kept.access_key_id() == keys.access_key_id()) {
            *kept = None;
        }
    }
}

impl fmt::Debug for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cached").field(&self.shared.source).finish()
    }
}

impl ProvideCredentials for Cached {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.get(SystemTime::now()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Provides keys with this lifetime, each time others, and fails from the third time on.
    #[derive(Debug)]
    struct Counting(AtomicU32, Duration);

    impl ProvideCredentials for Counting {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            let expiry = SystemTime::now() + self.1;
            future::ProvideCredentials::ready(if number < 2 {
                Ok(Credentials::new(format!("AKID{number}"), "s", None, Some(expiry), "test"))
            } else {
                Err(CredentialsError::provider_error("down"))
            })
        }
    }

    #[test]
    fn keys_are_renewed_before_they_expire_and_kept_while_renewal_fails() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let now = SystemTime::now();
            let cached = Cached::new(Counting(AtomicU32::new(0), Duration::from_secs(3600)));
            let id =
                |keys: Result<Credentials, CredentialsError>| keys.map(|keys| keys.access_key_id().to_owned()).ok();
            assert_eq!(id(cached.get(now).await).as_deref(), Some("AKID0"));
            assert_eq!(id(cached.get(now).await).as_deref(), Some("AKID0"));
            let later = now + Duration::from_secs(3400);
            assert_eq!(id(cached.get(later).await).as_deref(), Some("AKID1"));
            assert_eq!(id(cached.get(later).await).as_deref(), Some("AKID1"), "a failed renewal keeps valid keys");
            // AKID1 has expired as well, so the failure of its renewal can no longer be covered up.
            assert_eq!(id(cached.get(now + Duration::from_secs(3700)).await), None);
        });
    }

    #[test]
    fn rejected_keys_are_requested_again() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let cached = Cached::new(Counting(AtomicU32::new(0), Duration::from_secs(3600)));
            let first = cached.get(SystemTime::now()).await.unwrap();
            // First rejection: the keys are dropped.
            cached.reject(&first).await;
            let second = cached.get(SystemTime::now()).await.unwrap();
            assert_eq!(second.access_key_id(), "AKID1");
            // A late rejection of the old keys, as from a request that was in flight, does not drop the renewed ones.
            cached.reject(&first).await;
            assert_eq!(cached.get(SystemTime::now()).await.unwrap().access_key_id(), "AKID1");
        });
    }
}
