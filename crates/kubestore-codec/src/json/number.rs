//! Numbers between text and value.

use crate::value::Value;

/// The value of a number; `None` when it is beyond a float.
pub(super) fn parse_number(text: &str, integer: bool) -> Option<Value> {
    if integer && let Ok(number) = text.parse() {
        return Some(Value::Integer(number));
    }
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(Value::Float(number))
}

/// Whether [`parse_number`] would give a value.
pub(super) fn is_in_range(text: &str, integer: bool) -> bool {
    // The largest float has 309 digits.
    (integer && text.len() < 309) || parse_number(text, integer).is_some()
}

/// Appends a finite float as Kubernetes writes it: the fewest digits that give the same number again, of these the nearest
/// and of two equally near the even one; in full from 1e-6 up to 1e21, else with an exponent.
pub(super) fn write_float(out: &mut Vec<u8>, number: f64) {
    let magnitude = number.abs();
    if number.is_sign_negative() {
        out.push(b'-');
    }
    if magnitude == 0.0 {
        out.push(b'0');
        return;
    }
    // The standard library rounds up where two are equally near.
    let mut buffer = zmij::Buffer::new();
    let (digits, point) = significant_digits(buffer.format_finite(magnitude));
    if (1e-6..1e21).contains(&magnitude) {
        write_in_full(out, &digits, point);
    } else {
        write_with_exponent(out, &digits, point - 1);
    }
}

/// The digits without zeros on either side, and where the point is: `0.<digits>` times ten to that.
fn significant_digits(text: &str) -> (Vec<u8>, i32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = [whole, fraction].concat().into_bytes();
    let leading = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.drain(..leading);
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    // A float has at most 325 digits before its point.
    let places = i32::try_from(whole.len()).unwrap_or(0) - i32::try_from(leading).unwrap_or(0);
    (digits, places + exponent.parse::<i32>().unwrap_or(0))
}

fn write_in_full(out: &mut Vec<u8>, digits: &[u8], point: i32) {
    let before = usize::try_from(point).unwrap_or(0);
    if before == 0 {
        out.extend_from_slice(b"0.");
        out.extend((point..0).map(|_| b'0'));
        out.extend_from_slice(digits);
        return;
    }
    let (whole, fraction) = digits.split_at(before.min(digits.len()));
    out.extend_from_slice(whole);
    out.extend((whole.len()..before).map(|_| b'0'));
    if !fraction.is_empty() {
        out.push(b'.');
        out.extend_from_slice(fraction);
    }
}

fn write_with_exponent(out: &mut Vec<u8>, digits: &[u8], exponent: i32) {
    let (first, rest) = digits.split_at(1);
    out.extend_from_slice(first);
    if !rest.is_empty() {
        out.push(b'.');
        out.extend_from_slice(rest);
    }
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    out.extend_from_slice(itoa::Buffer::new().format(exponent.unsigned_abs()).as_bytes());
}
