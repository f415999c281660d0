//! RFC 3339 instants, to compare two of them.

/// The instant of a timestamp: seconds since 1970 and the fraction's digits, without trailing zeros.
pub fn instant(text: &str) -> Option<(i64, &str)> {
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let clock_end = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(clock_end);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut clock = clock.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if !(0..=9_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset(zone)?;
    Some((seconds, fraction.trim_end_matches('0')))
}

fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    Some(sign * (hours.parse::<i64>().ok()? * 3_600 + minutes.parse::<i64>().ok()? * 60))
}

/// Days since 1970 of a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = if month <= 2 { month + 9 } else { month - 3 };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * month + 2) / 5 + day - 1 - 719_468
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
        assert_eq!(instant("1970-01-01T00:00:00Z"), Some((0, "")));
        assert_eq!(instant("2000-02-29T12:34:56Z"), Some((951_827_696, "")));
    }
}
