//! Spans of time as kubectl writes them.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// How long ago `time` was, as text of RFC 3339; `<unknown>` when it is no such text.
pub(super) fn since(time: &str, now: Timestamp) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => span(now.as_second() - time.as_second()),
        Err(_) => "<unknown>".to_owned(),
    }
}

/// The time from `start` to `end`, if both are times.
pub(super) fn between(start: &str, end: &str) -> Option<String> {
    let (start, end) = (start.parse::<Timestamp>().ok()?, end.parse::<Timestamp>().ok()?);
    Some(span(end.as_second() - start.as_second()))
}

/// A number of seconds in two units at most, fewer the longer it is.
pub(crate) fn span(seconds: i64) -> String {
    let two = |unit: i64, name: &str, part: i64, part_name: &str| {
        let (whole, rest) = (seconds / unit, seconds % unit / part);
        if rest == 0 { format!("{whole}{name}") } else { format!("{whole}{name}{rest}{part_name}") }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(MINUTE, "m", 1, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(HOUR, "h", MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(DAY, "d", HOUR, "h"),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => two(YEAR, "y", DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_get_coarser() {
        for (seconds, wanted) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (7 * HOUR + 59 * MINUTE, "7h59m"),
            (8 * HOUR, "8h"),
            (47 * HOUR, "47h"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR + 3 * DAY, "2y3d"),
            (9 * YEAR, "9y"),
        ] {
            assert_eq!(span(seconds), wanted, "{seconds}");
        }
    }

    #[test]
    fn times_are_read_with_and_without_fractions() {
        let now: Timestamp = "2024-01-01T00:10:00Z".parse().unwrap();
        assert_eq!(since("2024-01-01T00:00:00Z", now), "10m");
        assert_eq!(since("2024-01-01T00:09:59.999999Z", now), "1s");
        assert_eq!(since("yesterday", now), "<unknown>");
        assert_eq!(between("2024-01-01T00:00:00Z", "2024-01-01T00:00:07Z").as_deref(), Some("7s"));
        assert_eq!(between("", "2024-01-01T00:00:07Z"), None);
    }
}
