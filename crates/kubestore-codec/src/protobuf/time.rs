//! Points in time as RFC 3339 has them, in UTC.

use super::{
    error::ProtobufError,
    wire::{Payload, Reader},
};

/// Seconds since 1970 of the first moment of the year 1, which stands for no time at all.
const NO_TIME: i64 = -62_135_596_800;
const FIRST: i64 = -62_167_219_200;
const LAST: i64 = 253_402_300_799;
const SECONDS_A_DAY: i64 = 86_400;
/// Days from the first of March of the year 0 to the first of January 1970.
const DAYS_TO_1970: i64 = 719_468;
/// Days of 400 years.
const DAYS_OF_ERA: i64 = 146_097;

/// A point in time. Kubernetes keeps seconds or microseconds of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Since 1970.
    pub(super) seconds: i64,
    pub(super) nanos: u32,
}

impl Moment {
    pub(super) const NONE: Self = Self { seconds: NO_TIME, nanos: 0 };

    /// Whether it stands for no time.
    pub(super) fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Reads its message. The reference keeps microseconds if it is to be `precise`, else seconds.
    pub(super) fn read(payload: &Payload<'_>, precise: bool) -> Result<Self, ProtobufError> {
        let bytes = payload.bytes()?;
        if bytes.is_empty() {
            return Ok(Self::NONE);
        }
        let (mut seconds, mut nanos) = (0_i64, 0);
        let mut fields = Reader::new(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => seconds = field.payload.int64()?,
                2 => nanos = field.payload.int32()?,
                _ => {}
            }
        }
        let nanos = if precise { nanos / 1000 * 1000 } else { 0 };
        // What is beyond a second is carried.
        let carried = i64::from(nanos.div_euclid(1_000_000_000));
        let nanos = nanos.rem_euclid(1_000_000_000).cast_unsigned();
        Ok(Self { seconds: seconds.saturating_add(carried), nanos })
    }

    /// Writes it into `buffer`, with six digits of the second if it is to be `precise`. `None` outside of the years 0 to
    /// 9999.
    pub(super) fn format(self, precise: bool, buffer: &mut [u8; 27]) -> Option<&str> {
        if !(FIRST..=LAST).contains(&self.seconds) {
            return None;
        }
        let (year, month, day) = date(self.seconds.div_euclid(SECONDS_A_DAY));
        let second = self.seconds.rem_euclid(SECONDS_A_DAY);
        *buffer = *b"0000-00-00T00:00:00.000000Z";
        digits(&mut buffer[0..4], year);
        digits(&mut buffer[5..7], month);
        digits(&mut buffer[8..10], day);
        digits(&mut buffer[11..13], second / 3600);
        digits(&mut buffer[14..16], second / 60 % 60);
        digits(&mut buffer[17..19], second % 60);
        digits(&mut buffer[20..26], i64::from(self.nanos / 1000));
        let length = if precise {
            27
        } else {
            buffer[19] = b'Z';
            20
        };
        std::str::from_utf8(&buffer[..length]).ok()
    }

    /// Reads RFC 3339 with any offset and any digits of the second. `None` if it is something else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (fixed, rest) = text.as_bytes().split_first_chunk::<19>()?;
        let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        if separators.iter().any(|(at, separator)| fixed[*at] != *separator) {
            return None;
        }
        let [year, month, day] = [number(&fixed[0..4])?, number(&fixed[5..7])?, number(&fixed[8..10])?];
        let [hour, minute, second] =
            [number(&fixed[11..13])?, number(&fixed[14..16])?, number(&fixed[17..19])?];
        let exists = (1..=12).contains(&month)
            && (1..=days_of_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        let (nanos, rest) = match rest {
            [b'.' | b',', rest @ ..] => fraction(rest)?,
            rest => (0, rest),
        };
        let seconds =
            days(year, month, day) * SECONDS_A_DAY + hour * 3600 + minute * 60 + second - offset(rest)?;
        exists.then_some(Self { seconds, nanos })
    }
}

fn digits(out: &mut [u8], mut value: i64) {
    for digit in out.iter_mut().rev() {
        // A part of a date is not negative.
        *digit = b'0' + u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits
        .iter()
        .try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')))
}

/// Nanoseconds, and what follows the digits. Digits beyond the ninth do not count.
fn fraction(text: &[u8]) -> Option<(u32, &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(count);
    let nanos = digits.iter().chain([b'0'; 9].iter()).take(9);
    let nanos = nanos.fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    (count > 0).then_some((nanos, rest))
}

/// Seconds east of Greenwich.
fn offset(text: &[u8]) -> Option<i64> {
    match text {
        b"Z" => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
            let seconds = hours * 3600 + minutes * 60;
            (hours < 24 && minutes < 60).then_some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970. Years are counted from March, so that the day that some have more comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - DAYS_TO_1970
}

/// Year, month and day.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (era, day) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    // Every 4 years have a day more, every 100 one less, and all 400 one more.
    let of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * of_era + of_era / 4 - of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{DAYS_OF_ERA, FIRST, LAST, Moment, SECONDS_A_DAY, date, days};

    fn text(seconds: i64, nanos: u32, precise: bool) -> Option<String> {
        Moment { seconds, nanos }.format(precise, &mut [0; 27]).map(str::to_owned)
    }

    #[test]
    fn known_moments_are_written() {
        assert_eq!(text(0, 0, false).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(text(1_723_626_000, 0, false).as_deref(), Some("2024-08-14T09:00:00Z"));
        assert_eq!(text(-1, 999_999_999, true).as_deref(), Some("1969-12-31T23:59:59.999999Z"));
        assert_eq!(text(Moment::NONE.seconds, 0, false).as_deref(), Some("0001-01-01T00:00:00Z"));
        assert_eq!(text(FIRST, 0, false).as_deref(), Some("0000-01-01T00:00:00Z"));
        assert_eq!(text(LAST, 0, false).as_deref(), Some("9999-12-31T23:59:59Z"));
        assert_eq!((text(FIRST - 1, 0, false), text(LAST + 1, 0, false)), (None, None));
        assert_eq!((text(i64::MIN, 0, true), text(i64::MAX, 0, true)), (None, None));
    }

    #[test]
    fn every_day_of_an_era_is_followed_by_the_next() {
        let mut last = (1999, 12, 31);
        for day in days(2000, 1, 1)..days(2000, 1, 1) + DAYS_OF_ERA {
            let now = date(day);
            assert_eq!(days(now.0, now.1, now.2), day);
            let follows = now.2 == last.2 + 1 && (now.0, now.1) == (last.0, last.1);
            let begins =
                now.2 == 1 && (now.1 == last.1 + 1 || (now.1 == 1 && now.0 == last.0 + 1 && last.1 == 12));
            assert!(follows || begins, "{last:?} and {now:?}");
            last = now;
        }
        assert_eq!(last, (2399, 12, 31));
    }

    #[test]
    fn texts_are_read() {
        let at = |text| Moment::parse(text).map(|moment| (moment.seconds, moment.nanos));
        assert_eq!(at("2024-08-14T09:00:00Z"), Some((1_723_626_000, 0)));
        assert_eq!(at("2024-08-14T11:00:00+02:00"), Some((1_723_626_000, 0)));
        assert_eq!(at("2024-08-14T04:30:00.5-04:30"), Some((1_723_626_000, 500_000_000)));
        assert_eq!(at("2024-08-14T09:00:00.1234567899Z"), Some((1_723_626_000, 123_456_789)));
        assert_eq!(at("2024-02-29T00:00:00Z"), Some((days(2024, 2, 29) * SECONDS_A_DAY, 0)));
        let wrong = "|2024-08-14|2024-08-14 09:00:00Z|2024-08-14T09:00:00|2023-02-29T00:00:00Z|2024-13-01T00:00:00Z\
                     |2024-00-01T00:00:00Z|2024-01-00T00:00:00Z|2024-01-01T24:00:00Z|2024-01-01T00:60:00Z|2024-01-01T00:00:60Z\
                     |2024-01-01T00:00:00.Z|2024-01-01T00:00:00Zx|2024-01-01T00:00:00+1:00|2024-01-01t00:00:00z|+024-01-01T00:00:00Z";
        for text in wrong.split('|') {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
