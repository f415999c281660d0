//! The record that identifies the holder of a state lock.

use std::time::SystemTime;

pub use groma_state::LockInfo;
use groma_state::{LockRequest, random_bits};
use time::{OffsetDateTime, UtcDateTime, format_description::well_known::Rfc3339};

/// The ID under which a lock without valid info is shown, and released by force: it has none of its own, so its store accepts
/// any.
pub(crate) const NAMELESS: &str = "unknown";

/// Reads the stored info of another run's lock. One that is unreadable or without an ID gets [`NAMELESS`].
pub(crate) fn read_holder(stored: &[u8]) -> LockInfo {
    let info: LockInfo = serde_json::from_slice(stored).unwrap_or_default();
    if info.id.is_empty() { LockInfo { id: NAMELESS.to_owned(), ..info } } else { info }
}

/// Returns the reason why a lock cannot be taken, with the holder and the `evidence`: `the lock file exists`.
pub(crate) fn held_reason(holder: &LockInfo, evidence: &str) -> String {
    match (&*holder.who, &*holder.id) {
        ("", NAMELESS) => format!("the state is locked, but the lock has no valid info ({evidence})"),
        ("", _) => format!("the state is locked ({evidence})"),
        (who, _) => format!("the state is locked by {who} ({evidence})"),
    }
}

/// Creates the info of a new lock: a fresh ID and the current time. The store sets the path.
pub fn new_lock(request: &LockRequest) -> LockInfo {
    LockInfo { created: now_rfc3339(), ..LockInfo::new(request, new_lock_id(), SystemTime::now()) }
}

/// Returns the identifier of a new lock: 16 random bytes as 8-4-4-4-12 hexadecimal digits, without the version bits of a UUID, like
/// Terraform and OpenTofu.
pub(crate) fn new_lock_id() -> String {
    let hex = format!("{:016x}{:016x}", random_bits(), random_bits());
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Returns the current time in UTC as RFC 3339, with up to nine digits of the fraction and without trailing zeros.
pub fn now_rfc3339() -> String {
    rfc3339(UtcDateTime::now())
}

fn rfc3339(moment: UtcDateTime) -> String {
    moment.format(&Rfc3339).unwrap_or_default()
}

/// Returns a time of a lock info in the form in which Terraform and OpenTofu print it: `2026-11-28 00:51:41.383009111 +0000 UTC`.
/// Text that is not a time is returned as it is.
pub fn go_time(created: &str) -> String {
    let Ok(moment) = OffsetDateTime::parse(created, &Rfc3339) else { return created.to_owned() };
    let text = rfc3339(moment.into());
    format!("{} +0000 UTC", text.trim_end_matches('Z').replacen('T', " ", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_info_has_the_json_form_of_the_peers() {
        let info = LockInfo {
            id: "a".to_owned(),
            operation: "OperationTypeApply".to_owned(),
            who: "me@host".to_owned(),
            version: "1.15.5".to_owned(),
            created: "2026-11-28T00:51:41.3Z".to_owned(),
            ..LockInfo::default()
        };
        let json = serde_json::to_string(&info).unwrap();
        let expected = r#"{"ID":"a","Operation":"OperationTypeApply","Info":"","Who":"me@host","Version":"1.15.5","Created":"2026-11-28T00:51:41.3Z","Path":""}"#;
        assert_eq!(json, expected);
        // Records of other versions may have fewer or more fields.
        let partial: LockInfo = serde_json::from_str(r#"{"ID":"b","Deadline":"x","Other":1}"#).unwrap();
        assert_eq!((&*partial.id, &*partial.deadline), ("b", "x"));
    }

    #[test]
    fn times_drop_trailing_zeros_of_the_fraction() {
        let at = |nanoseconds| rfc3339(UtcDateTime::from_unix_timestamp_nanos(nanoseconds).unwrap());
        assert_eq!(at(1_795_257_000_000_000_000), "2026-11-21T10:30:00Z");
        assert_eq!(at(1_795_257_000_120_000_000), "2026-11-21T10:30:00.12Z");
        assert_eq!(at(1_795_257_000_000_000_005), "2026-11-21T10:30:00.000000005Z");
        assert_eq!(go_time("2026-11-28T01:51:41.383009111+01:00"), "2026-11-28 00:51:41.383009111 +0000 UTC");
        assert_eq!(go_time("yesterday"), "yesterday");
    }

    #[test]
    fn lock_ids_have_the_form_of_the_peers_and_differ() {
        let (one, other) = (new_lock_id(), new_lock_id());
        assert_ne!(one, other);
        let lengths: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
    }
}
