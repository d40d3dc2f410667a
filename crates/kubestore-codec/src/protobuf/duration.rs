//! Durations as Go writes them: `1m30s`, `1.5ms`.

use std::{borrow::Cow, fmt::Write as _};

const NANOS_A_SECOND: u64 = 1_000_000_000;

/// What Go writes.
pub(super) fn format(nanos: i64) -> Cow<'static, str> {
    let size = nanos.unsigned_abs();
    if size == 0 {
        return Cow::Borrowed("0s");
    }
    let mut out = if nanos < 0 { "-".to_owned() } else { String::new() };
    if size < NANOS_A_SECOND {
        let (unit, digits) = match size {
            ..1_000 => ("ns", 0),
            1_000..1_000_000 => ("µs", 3),
            _ => ("ms", 6),
        };
        write_fraction(&mut out, size, digits);
        out.push_str(unit);
        return Cow::Owned(out);
    }
    let minutes = size / NANOS_A_SECOND / 60;
    if minutes >= 60 {
        let _ = write!(out, "{}h", minutes / 60);
    }
    if minutes > 0 {
        let _ = write!(out, "{}m", minutes % 60);
    }
    write_fraction(&mut out, size - minutes * 60 * NANOS_A_SECOND, 9);
    out.push('s');
    Cow::Owned(out)
}

/// A number of which the last `digits` stand behind the point, without zeros at the end.
fn write_fraction(out: &mut String, value: u64, digits: u32) {
    let one = 10_u64.pow(digits);
    let _ = write!(out, "{}", value / one);
    let fraction = value % one;
    if fraction > 0 {
        let text = format!("{fraction:0width$}", width = digits as usize);
        out.push('.');
        out.push_str(text.trim_end_matches('0'));
    }
}

/// Nanoseconds of what Go reads: numbers with units, one after the other. `None` for anything else.
pub(super) fn parse(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned == "0" {
        return Some(0);
    }
    let mut total = 0_u64;
    let mut rest = unsigned;
    while !rest.is_empty() {
        let (value, after) = parse_part(rest)?;
        total = total.checked_add(value)?;
        rest = after;
    }
    if unsigned.is_empty() {
        return None;
    }
    if text.starts_with('-') { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

/// The nanoseconds of a number and its unit, and what follows.
fn parse_part(text: &str) -> Option<(u64, &str)> {
    let (whole, rest) = split(text, |c| c.is_ascii_digit());
    let (fraction, rest) =
        rest.strip_prefix('.').map_or(("", rest), |rest| split(rest, |c| c.is_ascii_digit()));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (unit, rest) = split(rest, |c| c != '.' && !c.is_ascii_digit());
    let unit: u64 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => NANOS_A_SECOND,
        "m" => 60 * NANOS_A_SECOND,
        "h" => 3_600 * NANOS_A_SECOND,
        _ => return None,
    };
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    // Digits that a nanosecond has no room for do not count.
    let mut place = u128::from(unit);
    let mut nanos = 0;
    let mut scale = 1;
    for digit in fraction.bytes().take(18) {
        nanos = nanos * 10 + u128::from(digit - b'0');
        scale *= 10;
    }
    place = place * nanos / scale;
    let value = whole.checked_mul(unit)?.checked_add(u64::try_from(place).ok()?)?;
    Some((value, rest))
}

fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::{format, parse};

    #[test]
    fn what_is_written_is_read_again() {
        let cases = [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (3_300_000_000, "3.3s"),
            (5 * 60_000_000_000 + 5_000_000_000, "5m5s"),
            (5 * 60_000_000_000 + 5_001_000_000, "5m5.001s"),
            (5 * 3_600_000_000_000 + 6 * 60_000_000_000 + 7_001_000_000, "5h6m7.001s"),
            (8 * 60_000_000_000 + 1, "8m0.000000001s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
            (-1_500_000_000, "-1.5s"),
            (3_600_000_000_000, "1h0m0s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(format(nanos), text);
            assert_eq!(parse(text), Some(nanos), "{text}");
        }
    }

    #[test]
    fn other_texts_are_read_or_refused() {
        for (text, nanos) in [
            ("0", 0),
            ("+5s", 5_000_000_000),
            ("1.5h", 5_400_000_000_000),
            (".5s", 500_000_000),
            ("1us", 1_000),
            ("1h1ns", 3_600_000_000_001),
            ("1.s", 1_000_000_000),
        ] {
            assert_eq!(parse(text), Some(nanos), "{text}");
        }
        for text in
            ["", "-", "5", "s", ".s", "1x", "1 s", "1s1", "9223372036854775808ns", "3000000h", "--1s", "1d"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
