//! Times as tags 0 and 1 hold them, in the text that Kubernetes makes of them.

use std::borrow::Cow;

/// From 0000-01-01 to the end of 9999.
const YEARS_IN_SECONDS: std::ops::Range<i64> = -62_167_219_200..253_402_300_800;
const NANOS: i64 = 1_000_000_000;

/// A moment, as text in UTC; `None` outside of the years 0 to 9999.
pub(super) fn of_seconds(seconds: i64, nanos: i64) -> Option<String> {
    let seconds = seconds.checked_add(nanos.div_euclid(NANOS))?;
    let nanos = nanos.rem_euclid(NANOS);
    if !YEARS_IN_SECONDS.contains(&seconds) {
        return None;
    }
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = fraction(&format!("{nanos:09}"));
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"))
}

/// A number of seconds with a fraction.
pub(super) fn of_float(seconds: f64) -> Option<String> {
    // Everything in range converts exactly; the fraction is cut off as the reference does.
    #[expect(clippy::cast_precision_loss, reason = "the bounds are exact in a float")]
    let bounds = YEARS_IN_SECONDS.start as f64..YEARS_IN_SECONDS.end as f64;
    #[expect(clippy::cast_possible_truncation, reason = "it is within bounds")]
    bounds
        .contains(&seconds.trunc())
        .then(|| (seconds.trunc() as i64, (seconds.fract() * 1e9) as i64))
        .and_then(|(seconds, nanos)| of_seconds(seconds, nanos))
}

/// A time in RFC 3339 in the form that Kubernetes gives it: fractions without zeros at the end and cut off after nine
/// digits, `Z` for an offset of zero. `None` when it is not such a time.
///
/// Like the reference's reader it takes an hour of one digit, a comma before the fraction, and 60 minutes of offset.
pub(super) fn normal(text: &str) -> Option<Cow<'_, str>> {
    let mut rest = text.as_bytes();
    let year = digits(&mut rest, 4)?;
    punctuation(&mut rest, b'-')?;
    let month = digits(&mut rest, 2).filter(|month| (1..=12).contains(month))?;
    punctuation(&mut rest, b'-')?;
    let day = digits(&mut rest, 2).filter(|day| (1..=days_in(year, month)).contains(day))?;
    punctuation(&mut rest, b'T')?;
    let hour = digits(&mut rest, 2).or_else(|| digits(&mut rest, 1)).filter(|hour| *hour < 24)?;
    punctuation(&mut rest, b':')?;
    let minute = digits(&mut rest, 2).filter(|minute| *minute < 60)?;
    punctuation(&mut rest, b':')?;
    let second = digits(&mut rest, 2).filter(|second| *second < 60)?;
    let mut decimals = "";
    if let [b'.' | b',', first, ..] = rest
        && first.is_ascii_digit()
    {
        let length = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let start = text.len() - rest.len() + 1;
        decimals = &text[start..start + length.min(9)];
        rest = &rest[1 + length..];
    }
    let zone = zone(rest)?;
    let fraction = fraction(decimals);
    let time = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}");
    Some(if time == text { Cow::Borrowed(text) } else { Cow::Owned(time) })
}

/// The offset at the end of a time.
fn zone(mut rest: &[u8]) -> Option<String> {
    if rest == b"Z" {
        return Some("Z".to_owned());
    }
    let sign = match rest.first()? {
        b'+' => '+',
        b'-' => '-',
        _ => return None,
    };
    rest = &rest[1..];
    let hours = digits(&mut rest, 2).filter(|hours| *hours <= 24)?;
    punctuation(&mut rest, b':')?;
    let minutes = digits(&mut rest, 2).filter(|minutes| *minutes <= 60)?;
    let minutes = hours * 60 + minutes;
    if !rest.is_empty() || minutes >= 24 * 60 {
        return None;
    }
    Some(if minutes == 0 { "Z".to_owned() } else { format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60) })
}

fn fraction(decimals: &str) -> String {
    match decimals.trim_end_matches('0') {
        "" => String::new(),
        decimals => format!(".{decimals}"),
    }
}

fn digits(rest: &mut &[u8], count: usize) -> Option<u32> {
    let (first, after) = rest.split_at_checked(count)?;
    let number = first
        .iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0')))?;
    *rest = after;
    Some(number)
}

fn punctuation(rest: &mut &[u8], byte: u8) -> Option<()> {
    let (first, after) = rest.split_first()?;
    *rest = after;
    (*first == byte).then_some(())
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The date so many days after 1970-01-01. Years are counted from March, so that the leap day is the last.
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let from_march = days + 719_468;
    let (era, day) = (from_march.div_euclid(DAYS_IN_400_YEARS), from_march.rem_euclid(DAYS_IN_400_YEARS));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::{normal, of_float, of_seconds};

    #[test]
    fn moments_become_text() {
        for (seconds, nanos, text) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (1_723_627_800, 0, "2024-08-14T09:30:00Z"),
            (951_782_400, 120_000_000, "2000-02-29T00:00:00.12Z"),
            (0, -1, "1969-12-31T23:59:59.999999999Z"),
            (-62_167_219_200, 0, "0000-01-01T00:00:00Z"),
            (253_402_300_799, 0, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(of_seconds(seconds, nanos).as_deref(), Some(text));
        }
        assert_eq!(of_seconds(253_402_300_800, 0), None);
        assert_eq!(of_seconds(i64::MIN, -1), None);
        assert_eq!(of_float(-1.5).as_deref(), Some("1969-12-31T23:59:58.5Z"));
        assert_eq!(of_float(1e300), None);
    }

    #[test]
    fn times_get_their_normal_form() {
        for (text, expected) in [
            ("2024-08-14T09:30:00Z", Some("2024-08-14T09:30:00Z")),
            ("2024-08-14T9:30:00,500+00:00", Some("2024-08-14T09:30:00.5Z")),
            ("2024-08-14T09:30:00.123456789987-05:60", Some("2024-08-14T09:30:00.123456789-06:00")),
            ("2024-02-29T00:00:00-00:00", Some("2024-02-29T00:00:00Z")),
            ("2023-02-29T00:00:00Z", None),
            ("2024-08-14T24:00:00Z", None),
            ("2024-08-14T09:30:60Z", None),
            ("2024-08-14T09:30:00+24:00", None),
            ("2024-08-14t09:30:00z", None),
            ("2024-08-14T09:30:00Zé", None),
            ("2024-08-14T09:30:00.Z", None),
            ("", None),
        ] {
            assert_eq!(normal(text).as_deref(), expected, "{text}");
        }
    }
}
