//! Quantities in the form that Kubernetes gives them: `0.5` is `500m`, `1024Mi` is `1Gi`.

use std::borrow::Cow;

/// The form of a quantity that the reference writes; `None` for what is no quantity, or above what its suffixes reach.
///
/// The reference keeps some texts as they are that are not the shortest, as `1.500`. So does this.
pub(super) fn canonical(text: &str) -> Option<Cow<'_, str>> {
    if text == "0" {
        return Some(Cow::Borrowed(text));
    }
    let parts = Parts::split(text)?;
    let unit = Unit::parse(parts.suffix)?;
    if parts.is_kept(unit) {
        return Some(Cow::Borrowed(text));
    }
    let mut amount = Amount::new(&parts);
    let unit = match unit {
        Unit::Binary(bits) => {
            (0..bits).for_each(|_| amount.double());
            amount.round_up(NANO);
            amount.cap();
            if amount.is_below_1024() || amount.exponent < 0 { Unit::Decimal(0) } else { unit }
        }
        Unit::Decimal(exponent) | Unit::Exponent(exponent) => {
            amount.exponent += i64::from(exponent);
            amount.round_up(NANO);
            unit
        }
    };
    if amount.digits.is_empty() {
        return Some(Cow::Borrowed("0"));
    }
    let written = match unit {
        Unit::Binary(_) => amount.write_binary(parts.negative)?,
        Unit::Decimal(_) | Unit::Exponent(_) => amount.write_decimal(unit, parts.negative)?,
    };
    Some(if written == text { Cow::Borrowed(text) } else { Cow::Owned(written) })
}

/// Nothing smaller is kept; what is not nothing is rounded up to it.
const NANO: i64 = -9;
/// The most digits that an integer of 64 bits always has room for.
const SAFE_DIGITS: usize = 18;

/// What a suffix means.
#[derive(Clone, Copy)]
enum Unit {
    /// So many times ten to this.
    Decimal(i32),
    /// The same, written as `e3`.
    Exponent(i32),
    /// So many bits to the left.
    Binary(u8),
}

const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, u8); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

impl Unit {
    fn parse(suffix: &str) -> Option<Self> {
        if let Some((_, exponent)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
            return Some(Self::Decimal(*exponent));
        }
        if let Some((_, bits)) = BINARY.iter().find(|(known, _)| *known == suffix) {
            return Some(Self::Binary(*bits));
        }
        suffix.strip_prefix(['e', 'E'])?.parse().ok().map(Self::Exponent)
    }
}

/// A text taken apart.
struct Parts<'a> {
    negative: bool,
    /// Without zeros before it.
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, rest) = split_digits(unsigned.trim_start_matches('0'));
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let exponent = letters.strip_prefix(['-', '+']).unwrap_or(letters);
        let is_suffix = exponent.bytes().all(|byte| byte.is_ascii_digit());
        is_suffix.then_some(Self { negative: text.starts_with('-'), whole, fraction, suffix })
    }

    /// Whether the reference takes the text for canonical as it is.
    fn is_kept(&self, unit: Unit) -> bool {
        let (whole, fraction) = (self.whole.len().max(1), self.fraction.len());
        match unit {
            Unit::Binary(bits) => {
                // It estimates how many digits the product has: three for ten bits.
                let product = whole + usize::from(bits) * 3 / 10;
                let ends_in_ones = self.whole.parse::<i64>().is_ok_and(|value| value & 7 != 0);
                fraction == 0 && product < 15 && ends_in_ones
            }
            Unit::Decimal(exponent) | Unit::Exponent(exponent) => {
                let scale = i64::from(exponent) - i64::try_from(fraction).unwrap_or(i64::MAX);
                let zeros = self.fraction.bytes().rev().chain(self.whole.bytes().rev());
                let zeros = zeros.take_while(|digit| *digit == b'0').count();
                whole + fraction <= SAFE_DIGITS
                    && scale >= NANO
                    && scale % 3 == 0
                    && zeros < 3
                    && !self.whole.is_empty()
            }
        }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// A number as its decimal digits, the first of which is not 0, times ten to the exponent.
struct Amount {
    digits: Vec<u8>,
    exponent: i64,
}

impl Amount {
    fn new(parts: &Parts<'_>) -> Self {
        let digits = parts.whole.bytes().chain(parts.fraction.bytes());
        let digits = digits.map(|digit| digit - b'0').skip_while(|digit| *digit == 0).collect();
        let mut amount = Self { digits, exponent: -i64::try_from(parts.fraction.len()).unwrap_or(i64::MAX) };
        amount.trim();
        amount
    }

    /// Moves zeros at the end into the exponent.
    fn trim(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent += 1;
        }
    }

    fn double(&mut self) {
        let mut carry = 0;
        for digit in self.digits.iter_mut().rev() {
            let doubled = *digit * 2 + carry;
            *digit = doubled % 10;
            carry = doubled / 10;
        }
        if carry > 0 {
            self.digits.insert(0, carry);
        }
        self.trim();
    }

    /// Rounds away from zero where there are digits below this exponent.
    fn round_up(&mut self, lowest: i64) {
        if self.exponent >= lowest || self.digits.is_empty() {
            return;
        }
        let below = usize::try_from(lowest.saturating_sub(self.exponent)).unwrap_or(usize::MAX);
        self.digits.truncate(self.digits.len().saturating_sub(below));
        self.exponent = lowest;
        // The last digit that was cut off was not 0.
        let mut place = self.digits.len();
        loop {
            match place.checked_sub(1) {
                None => break self.digits.insert(0, 1),
                Some(last) if self.digits[last] < 9 => break self.digits[last] += 1,
                Some(last) => {
                    self.digits[last] = 0;
                    place = last;
                }
            }
        }
        self.trim();
    }

    /// The integer, if it is one of up to 64 bits.
    fn integer(&self) -> Option<u64> {
        let zeros = u32::try_from(self.exponent).ok().filter(|zeros| *zeros < 20)?;
        let digits = self
            .digits
            .iter()
            .try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(*digit)))?;
        digits.checked_mul(10_u64.checked_pow(zeros)?)
    }

    /// How many digits stand before the point.
    fn whole_digits(&self) -> i64 {
        self.exponent.saturating_add(i64::try_from(self.digits.len()).unwrap_or(i64::MAX))
    }

    fn is_below_1024(&self) -> bool {
        match self.whole_digits() {
            ..4 => true,
            4 => {
                self.digits
                    .iter()
                    .chain([&0; 4])
                    .take(4)
                    .fold(0, |value, digit| value * 10 + u32::from(*digit))
                    < 1024
            }
            5.. => false,
        }
    }

    /// Binary quantities end at the greatest integer of 64 bits.
    fn cap(&mut self) {
        let is_beyond = match self.whole_digits() {
            ..19 => false,
            19 => {
                let first = self.digits.iter().chain([&0; 19]).take(19);
                let whole = first.fold(0_u64, |value, digit| value * 10 + u64::from(*digit));
                // With a fraction the greatest integer is passed, too.
                whole > i64::MAX.cast_unsigned() || (whole == i64::MAX.cast_unsigned() && self.exponent < 0)
            }
            20.. => true,
        };
        if is_beyond {
            self.digits = i64::MAX.to_string().bytes().map(|digit| digit - b'0').collect();
            self.exponent = 0;
        }
    }

    fn write_binary(&self, negative: bool) -> Option<String> {
        let mut value = self.integer()?;
        let mut bits = 0;
        while value % 1024 == 0 {
            value /= 1024;
            bits += 10;
        }
        let suffix = BINARY.iter().find(|(_, of)| *of == bits).map_or("", |(suffix, _)| suffix);
        let sign = if negative { "-" } else { "" };
        Some(format!("{sign}{value}{suffix}"))
    }

    fn write_decimal(&self, unit: Unit, negative: bool) -> Option<String> {
        let zeros = self.exponent.rem_euclid(3);
        let exponent = self.exponent - zeros;
        let mut out = String::with_capacity(self.digits.len() + 8);
        if negative {
            out.push('-');
        }
        out.extend(self.digits.iter().map(|digit| char::from(b'0' + digit)));
        out.extend((0..zeros).map(|_| '0'));
        match unit {
            Unit::Exponent(_) if exponent == 0 => {}
            Unit::Exponent(_) => {
                out.push('e');
                out.push_str(itoa::Buffer::new().format(exponent));
            }
            _ => out.push_str(DECIMAL.iter().find(|(_, of)| i64::from(*of) == exponent)?.0),
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::canonical;

    /// What `ParseQuantity` and `String` of apimachinery give. Of decimal quantities that are too great for a suffix they lose
    /// the exponent; here these are none.
    #[test]
    fn quantities_are_those_of_the_reference() {
        let cases: Vec<(String, Option<String>)> =
            serde_json::from_str(include_str!("../../tests/data/quantities.json")).unwrap_or_default();
        assert_eq!(cases.len(), 400);
        let mut wrong = Vec::new();
        for (text, expected) in cases {
            let ours = canonical(&text).map(|text| text.into_owned());
            let has_lost = text.ends_with(['G', 'T', 'P', 'E'])
                && expected.as_ref().is_some_and(|text| text.ends_with(|c: char| c.is_ascii_digit()));
            if ours != expected && !(ours.is_none() && has_lost) {
                wrong.push((text, ours, expected));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    proptest! {
        #[test]
        fn the_canonical_form_is_its_own(text in "[+-]?[0-9]{0,22}(\\.[0-9]{0,12})?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?") {
            if let Some(once) = canonical(&text) {
                let twice = canonical(&once);
                prop_assert_eq!(twice.as_deref(), Some(&*once), "{}", text);
            }
        }

        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,12}") {
            let _ = canonical(&text);
        }
    }
}
