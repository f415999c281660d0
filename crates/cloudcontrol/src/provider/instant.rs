//! RFC 3339 instants, to compare two of them.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The instant of a timestamp, to the nanosecond.
pub fn instant(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

/// Whether two texts are the same instant.
pub fn same_instant(left: &str, right: &str) -> bool {
    left == right || matches!((instant(left), instant(right)), (Some(left), Some(right)) if left == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cc_11_instants_compare_across_zones() {
        assert!(same_instant("2026-01-01T00:00:00Z", "2026-01-01T01:00:00.000+01:00"));
        assert!(!same_instant("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z"));
        assert!(!same_instant("2026-01-01", "yesterday"));
        let seconds = |text| instant(text).map(OffsetDateTime::unix_timestamp);
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T12:34:56Z"), Some(951_827_696));
    }

    #[test]
    fn cc_11_what_is_no_instant_is_none() {
        for text in
            ["2026-02-30T00:00:00Z", "2026-01-01T9223372036854775807:00:00Z", "2026-01-01T00:00:00+9999999999999999:00"]
        {
            assert_eq!(instant(text), None, "{text}");
        }
    }
}
