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

/// Appends a finite float as Kubernetes writes it: the fewest digits that give the same number again; in full from 1e-6 up
/// to 1e21, else with an exponent.
pub(super) fn write_float(out: &mut Vec<u8>, number: f64) {
    let magnitude = number.abs();
    if number.is_sign_negative() {
        out.push(b'-');
    }
    if magnitude == 0.0 {
        out.push(b'0');
        return;
    }
    // Rust gives the same shortest digits, as `d.ddde-x`.
    let scientific = format!("{magnitude:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    if !(1e-6..1e21).contains(&magnitude) {
        out.extend_from_slice(mantissa.as_bytes());
        out.push(b'e');
        if !exponent.starts_with('-') {
            out.push(b'+');
        }
        out.extend_from_slice(exponent.as_bytes());
        return;
    }
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = mantissa.bytes().filter(|byte| *byte != b'.');
    let before_point = exponent + 1;
    if before_point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend((before_point..0).map(|_| b'0'));
        out.extend(digits);
        return;
    }
    let mut written = 0;
    for digit in digits {
        if written == before_point {
            out.push(b'.');
        }
        out.push(digit);
        written += 1;
    }
    out.extend((written..before_point).map(|_| b'0'));
}
