//! Keys of services that sign requests with a secret: Alibaba Cloud and Tencent Cloud.

use std::future::Future;
use std::time::{Duration, SystemTime};

use tokio::sync::Mutex;

use crate::error::TokenError;
use crate::secret::Secret;

/// The time before their end at which keys are renewed.
const RENEW_BEFORE: Duration = Duration::from_secs(300);

/// A key, perhaps a temporary one.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub id: String,
    pub key: Secret,
    /// The token of temporary keys.
    pub token: Option<Secret>,
    pub expires: Option<SystemTime>,
}

impl Keys {
    /// Whether the keys can be used for some time yet. Those without a known end are used until the end of the run.
    fn are_fresh(&self) -> bool {
        self.expires.is_none_or(|expires| expires > SystemTime::now() + RENEW_BEFORE)
    }
}

/// The keys of one identity, kept until shortly before they expire.
#[derive(Debug, Default)]
pub(crate) struct KeyCache(Mutex<Option<Keys>>);

impl KeyCache {
    /// Returns the kept keys, or else those that `load` returns.
    pub async fn keys(&self, load: impl Future<Output = Result<Keys, TokenError>>) -> Result<Keys, TokenError> {
        // The lock is held during the requests, so that parallel callers do not renew the keys twice.
        let mut kept = self.0.lock().await;
        if let Some(keys) = kept.as_ref().filter(|keys| keys.are_fresh()) {
            return Ok(keys.clone());
        }
        let keys = load.await?;
        *kept = Some(keys.clone());
        Ok(keys)
    }
}

/// Returns the bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the HMAC of a text.
pub(crate) fn hmac(algorithm: aws_lc_rs::hmac::Algorithm, key: &[u8], text: &str) -> Vec<u8> {
    aws_lc_rs::hmac::sign(&aws_lc_rs::hmac::Key::new(algorithm, key), text.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
impl Keys {
    pub fn fixed(id: &str, key: &str) -> Self {
        Self { id: id.to_owned(), key: Secret::new(key), token: None, expires: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_until_shortly_before_they_expire() {
        let cache = KeyCache::default();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let loaded = |id: &str, seconds| {
            let expires = Some(SystemTime::now() + Duration::from_secs(seconds));
            let load = std::future::ready(Ok(Keys { expires, ..Keys::fixed(id, "key") }));
            runtime.block_on(cache.keys(load)).unwrap().id
        };
        assert_eq!(loaded("short", 200), "short");
        assert_eq!(loaded("long", 900), "long");
        assert_eq!(loaded("later", 900), "long");
    }
}
