//! Delays between retries.

use std::time::Duration;

use reqwest::StatusCode;

/// The longest pause between two attempts.
const LONGEST: Duration = Duration::from_secs(30);

/// Whether asking again may help: the server is overloaded or broken. 501 says that it never will.
pub(super) fn may_pass(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

/// Returns the delay after attempt number `attempt`, from 0: doubled each time, or as the server asks.
pub(super) fn pause(attempt: u32, first: Duration, retry_after: Option<&str>) -> Duration {
    if let Some(seconds) = retry_after.and_then(|text| text.trim().parse::<u64>().ok()) {
        return Duration::from_secs(seconds).min(LONGEST);
    }
    first.saturating_mul(1_u32.checked_shl(attempt).unwrap_or(u32::MAX)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_half_a_minute_and_follow_the_server() {
        let second = Duration::from_secs(1);
        assert_eq!(pause(0, second, None), second);
        assert_eq!(pause(3, second, None), Duration::from_secs(8));
        assert_eq!(pause(99, second, None), LONGEST);
        assert_eq!(pause(0, second, Some("7")), Duration::from_secs(7));
        assert_eq!(pause(0, second, Some("9999")), LONGEST);
    }

    #[test]
    fn only_what_may_pass_is_asked_again() {
        assert!(may_pass(StatusCode::SERVICE_UNAVAILABLE) && may_pass(StatusCode::TOO_MANY_REQUESTS));
        assert!(!may_pass(StatusCode::NOT_FOUND) && !may_pass(StatusCode::NOT_IMPLEMENTED));
    }
}
