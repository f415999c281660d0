//! Faults on demand (CC-62): calls that are throttled or fail, requests that end badly, answers in another order.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::api::{ApiError, Fault, HandlerErrorCode};
use crate::schema::{ElementOrder, NodeId, TypeSchema};

/// The injected faults of an emulator. Shares lie between 0 and 1 and are drawn from the seed in the order of calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Faults {
    /// The share of calls that are refused because there are too many.
    pub throttling: f64,
    /// The number of calls that are accepted in a second; further ones are throttled.
    pub rate: Option<f64>,
    /// The share of calls that end with an error of the service's own.
    pub server_errors: f64,
    /// The share of requests that are accepted and fail later, before they changed anything.
    pub failures: f64,
    /// The requests that fail with a certain code.
    pub requests: Vec<FailingRequests>,
    /// The hooks that run before each request.
    pub hooks: Vec<Hook>,
    /// The share of connections that are dropped without an answer; on a port only.
    pub drops: f64,
    /// The time until a call is answered.
    pub latency: Duration,
    /// The time for which a new object exists and cannot be read.
    pub consistency: Duration,
    /// Whether a creation that is cancelled leaves its object behind.
    pub cancelled_objects: bool,
    /// Whether arrays come back in another order, unless the schema says that their order is significant.
    pub shuffle: bool,
    /// The seed of the random source.
    pub seed: u64,
}

/// The next requests of a type, which fail: `AWS::S3::Bucket:ServiceInternalError:3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingRequests {
    /// The resource type.
    pub type_name: String,
    /// The code of the failure.
    pub code: HandlerErrorCode,
    /// The number of requests that fail.
    pub count: u32,
}

/// A hook that runs before each request: `Company::Storage::Encrypted:fail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The name of the hook.
    pub name: String,
    /// The result of the hook.
    pub result: HookResult,
}

/// The result of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookResult {
    /// The request continues.
    Pass,
    /// The hook fails, and the request continues.
    Warn,
    /// The request fails.
    Fail,
}

/// The error of reading a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// The text does not have the form of a fault.
    #[error("expected TYPE:CODE:COUNT, for example AWS::S3::Bucket:ServiceInternalError:3")]
    Form,
    /// The code is not one of the service.
    #[error(
        "{0:?} is not an error code of a handler; use a code such as Throttling, NotStabilized or ServiceInternalError"
    )]
    Code(String),
    /// The text does not have the form of a hook.
    #[error("expected NAME:RESULT with the result pass, warn or fail, for example Company::Storage::Encrypted:fail")]
    Hook,
}

impl std::str::FromStr for FailingRequests {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let mut parts = text.rsplitn(3, ':');
        let (Some(count), Some(code), Some(type_name)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(FaultError::Form);
        };
        let count = count.parse().map_err(|_| FaultError::Form)?;
        let known: HandlerErrorCode =
            serde_json::from_value(Json::String(code.to_owned())).unwrap_or(HandlerErrorCode::Unknown);
        if known == HandlerErrorCode::Unknown {
            return Err(FaultError::Code(code.to_owned()));
        }
        Ok(Self { type_name: type_name.to_owned(), code: known, count })
    }
}

impl std::str::FromStr for Hook {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let (name, result) = text.rsplit_once(':').ok_or(FaultError::Hook)?;
        let result = match result {
            "pass" => HookResult::Pass,
            "warn" => HookResult::Warn,
            "fail" => HookResult::Fail,
            _ => return Err(FaultError::Hook),
        };
        Ok(Self { name: name.to_owned(), result })
    }
}

/// The calls that the service would accept now.
#[derive(Debug)]
struct Bucket {
    calls: f64,
    filled: Instant,
}

/// The faults of an emulator at work.
#[derive(Debug)]
pub struct InjectedFault {
    faults: Faults,
    drawn: AtomicU64,
    /// The number of requests that failed already, for each entry of the settings.
    failed: Vec<AtomicU32>,
    bucket: Mutex<Bucket>,
}

impl InjectedFault {
    /// Returns the faults, from the first call on.
    pub fn new(faults: Faults) -> Self {
        let failed = faults.requests.iter().map(|_| AtomicU32::new(0)).collect();
        let bucket = Bucket { calls: faults.rate.unwrap_or_default().max(1.0), filled: Instant::now() };
        Self { faults, drawn: AtomicU64::new(0), failed, bucket: Mutex::new(bucket) }
    }

    /// The time until a call is answered.
    pub fn latency(&self) -> Duration {
        self.faults.latency
    }

    /// The hooks that run before each request.
    pub fn hooks(&self) -> &[Hook] {
        &self.faults.hooks
    }

    /// Refuses the call, if it is its turn.
    pub fn refuse(&self) -> Result<(), ApiError> {
        if self.exceeds_rate() || self.hits(self.faults.throttling) {
            return Err(ApiError::new(Fault::Throttling, "Rate exceeded"));
        }
        if self.hits(self.faults.server_errors) {
            return Err(ApiError::new(Fault::ServiceInternalError, "Internal error, as asked for"));
        }
        Ok(())
    }

    /// Returns the failure of a request that is about to start, if it is to fail.
    pub fn failure(&self, type_name: &str) -> Option<(HandlerErrorCode, String)> {
        for (wanted, failed) in self.faults.requests.iter().zip(&self.failed) {
            let counted = |failed: u32| (wanted.type_name == type_name && failed < wanted.count).then_some(failed + 1);
            if failed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, counted).is_ok() {
                return Some((wanted.code, "A failure, as asked for".to_owned()));
            }
        }
        let by_chance = self.hits(self.faults.failures);
        by_chance.then(|| (HandlerErrorCode::GeneralServiceException, "A failure, as asked for".to_owned()))
    }

    /// Whether the connection of a call is dropped.
    pub fn drops(&self) -> bool {
        self.hits(self.faults.drops)
    }

    /// Puts the elements of arrays in another order.
    pub fn shuffle(&self, schema: &TypeSchema, model: &mut Json) {
        if self.faults.shuffle {
            self.shuffle_node(schema, schema.root_id(), model);
        }
    }

    fn shuffle_node(&self, schema: &TypeSchema, id: NodeId, value: &mut Json) {
        let node = schema.node(id);
        match value {
            Json::Object(members) => {
                for (name, member) in members {
                    if let Some(below) = node.property(name) {
                        self.shuffle_node(schema, below, member);
                    }
                }
            }
            Json::Array(elements) => {
                if let Some(items) = node.items {
                    elements.iter_mut().for_each(|element| self.shuffle_node(schema, items, element));
                }
                if node.order != ElementOrder::Significant {
                    for last in (1..elements.len()).rev() {
                        let other = self.draw() % (last as u64 + 1);
                        elements.swap(last, usize::try_from(other).unwrap_or(last));
                    }
                }
            }
            _ => {}
        }
    }

    fn exceeds_rate(&self) -> bool {
        let Some(rate) = self.faults.rate else { return false };
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let passed = now.duration_since(bucket.filled).as_secs_f64();
        bucket.calls = (bucket.calls + passed * rate).min(rate.max(1.0));
        bucket.filled = now;
        if bucket.calls < 1.0 {
            return true;
        }
        bucket.calls -= 1.0;
        false
    }

    fn hits(&self, share: f64) -> bool {
        if share <= 0.0 {
            return false;
        }
        let drawn = (self.draw() >> 11) as f64 / (1u64 << 53) as f64;
        drawn < share
    }

    /// SplitMix64: well spread over consecutive numbers.
    fn draw(&self) -> u64 {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        let mut mixed = self.faults.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Default for InjectedFault {
    fn default() -> Self {
        Self::new(Faults::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Catalogue;
    use serde_json::json;

    #[test]
    fn cc_62_faults_come_at_their_rate_and_the_same_each_time() {
        let count = |seed| {
            let damage_cases = InjectedFault::new(Faults { throttling: 0.25, seed, ..Faults::default() });
            (0..4_000).map(|_| damage_cases.refuse().is_err()).collect::<Vec<_>>()
        };
        let hits = count(1).into_iter().filter(|hit| *hit).count();
        assert!((900..1_100).contains(&hits), "{hits}");
        assert_eq!(count(2), count(2));
        assert!(InjectedFault::default().refuse().is_ok());
    }

    #[test]
    fn cc_62_calls_beyond_the_rate_are_throttled() {
        let limited = InjectedFault::new(Faults { rate: Some(5.0), ..Faults::default() });
        let accepted = (0..50).filter(|_| limited.refuse().is_ok()).count();
        assert!((5..8).contains(&accepted), "{accepted}");
    }

    #[test]
    fn cc_62_the_next_requests_of_a_type_fail() {
        let fault: FailingRequests = "AWS::S3::Bucket:NotStabilized:2".parse().unwrap();
        let faults = InjectedFault::new(Faults { requests: vec![fault], ..Faults::default() });
        assert_eq!(faults.failure("AWS::SQS::Queue"), None);
        let codes: Vec<bool> = (0..3).map(|_| faults.failure("AWS::S3::Bucket").is_some()).collect();
        assert_eq!(codes, [true, true, false]);
        assert_eq!("AWS::S3::Bucket:2".parse::<FailingRequests>(), Err(FaultError::Code("Bucket".to_owned())));
        assert_eq!("x".parse::<FailingRequests>(), Err(FaultError::Form));
        assert_eq!("A::B::C:maybe".parse::<Hook>(), Err(FaultError::Hook));
    }

    #[test]
    fn cc_62_shuffled_arrays_keep_their_elements() {
        let schema = Catalogue::shipped().get("AWS::EC2::VPC").unwrap().unwrap();
        let faults = InjectedFault::new(Faults { shuffle: true, ..Faults::default() });
        let tags: Vec<Json> = (0..9).map(|number| json!({"Key": number.to_string(), "Value": "v"})).collect();
        let mut model = json!({"CidrBlock": "10.0.0.0/16", "Tags": tags});
        faults.shuffle(&schema, &mut model);
        let mut shuffled = model["Tags"].as_array().unwrap().clone();
        assert_ne!(shuffled, tags);
        shuffled.sort_by_key(|tag| tag["Key"].as_str().map(str::to_owned));
        assert_eq!(shuffled, tags);
    }
}
