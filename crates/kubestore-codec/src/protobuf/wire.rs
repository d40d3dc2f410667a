//! The wire format of protobuf: numbered fields of four forms.

use super::{
    error::{Problem, ProtobufError},
    schema::{Field, Form},
};

/// What a field holds on the wire.
#[derive(Clone, Debug)]
pub(super) enum Payload<'de> {
    Varint(u64),
    Fixed64(u64),
    /// Kubernetes has no such fields; the value is not looked at.
    Fixed32,
    Bytes(&'de [u8]),
    /// A message that is there several times, which stands for one that is the parts one after the other.
    Parts(Vec<&'de [u8]>),
}

impl<'de> Payload<'de> {
    pub(super) const EMPTY: Self = Self::Bytes(&[]);

    pub(super) fn wire_type(&self) -> u8 {
        match self {
            Self::Varint(_) => 0,
            Self::Fixed64(_) => 1,
            Self::Bytes(_) | Self::Parts(_) => 2,
            Self::Fixed32 => 5,
        }
    }

    /// The parts of a message or a text.
    pub(super) fn parts(&self) -> Result<&[&'de [u8]], ProtobufError> {
        match self {
            Self::Bytes(bytes) => Ok(std::slice::from_ref(bytes)),
            Self::Parts(parts) => Ok(parts),
            other => Err(other.unexpected(2)),
        }
    }

    /// The bytes of something that is replaced, not merged, when it is there several times.
    pub(super) fn bytes(&self) -> Result<&'de [u8], ProtobufError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Parts(parts) => Ok(parts.last().copied().unwrap_or_default()),
            other => Err(other.unexpected(2)),
        }
    }

    pub(super) fn varint(&self) -> Result<u64, ProtobufError> {
        match self {
            Self::Varint(value) => Ok(*value),
            other => Err(other.unexpected(0)),
        }
    }

    pub(super) fn double(&self) -> Result<f64, ProtobufError> {
        match self {
            Self::Fixed64(bits) => Ok(f64::from_bits(*bits)),
            other => Err(other.unexpected(1)),
        }
    }

    /// The lower half counts, as it does in the reference.
    pub(super) fn int32(&self) -> Result<i32, ProtobufError> {
        self.varint().map(low_half)
    }

    pub(super) fn int64(&self) -> Result<i64, ProtobufError> {
        self.varint().map(u64::cast_signed)
    }

    /// Checks a field that is not looked into, or before it is.
    #[inline]
    pub(super) fn check(&self, field: &Field) -> Result<(), ProtobufError> {
        let expected = field.of.wire_type();
        let is_packed = field.form == Form::List && self.wire_type() == 2;
        // The entries of a map are messages, whatever their values are.
        let expected = if field.form == Form::Map { 2 } else { expected };
        if is_packed { Ok(()) } else { self.check_type(expected) }
    }

    pub(super) fn check_type(&self, expected: u8) -> Result<(), ProtobufError> {
        if self.wire_type() == expected { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    #[cold]
    fn unexpected(&self, expected: u8) -> ProtobufError {
        ProtobufError::new(Problem::WrongWireType { found: self.wire_type(), expected })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a negative number is written with 64 bits, of which 32 count"
)]
pub(super) fn low_half(value: u64) -> i32 {
    (value as u32).cast_signed()
}

/// A field of a message.
#[derive(Clone, Debug)]
pub(super) struct Record<'de> {
    pub(super) number: u32,
    pub(super) payload: Payload<'de>,
}

/// Reads the fields of a message one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'de> {
    rest: &'de [u8],
}

impl<'de> Reader<'de> {
    pub(super) fn new(bytes: &'de [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next field; `None` at the end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Record<'de>>, ProtobufError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let start = self.rest;
        let tag = self.varint()?;
        let Some(number) = u32::try_from(tag >> 3).ok().filter(|number| (1..=MAX_NUMBER).contains(number))
        else {
            return Err(ProtobufError::at(Problem::BadFieldNumber, start));
        };
        let payload = match tag & 7 {
            0 => Payload::Varint(self.varint()?),
            1 => Payload::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => Payload::Bytes(self.bytes()?),
            5 => {
                self.array::<4>()?;
                Payload::Fixed32
            }
            3 | 4 => return Err(ProtobufError::at(Problem::Group { number }, start)),
            _ => return Err(ProtobufError::at(Problem::BadWireType { number }, start)),
        };
        Ok(Some(Record { number, payload }))
    }

    /// The next number of a packed list; `None` at the end.
    pub(super) fn next_packed(&mut self) -> Result<Option<u64>, ProtobufError> {
        if self.rest.is_empty() { Ok(None) } else { self.varint().map(Some) }
    }

    /// The next float of a packed list; `None` at the end.
    pub(super) fn next_packed_fixed64(&mut self) -> Result<Option<u64>, ProtobufError> {
        if self.rest.is_empty() { Ok(None) } else { Ok(Some(u64::from_le_bytes(self.array()?))) }
    }

    /// The number of the next field, which is passed over; `None` at the end.
    #[inline]
    pub(super) fn skip(&mut self) -> Result<Option<u32>, ProtobufError> {
        // Nearly all fields are texts or messages with small numbers.
        if let [tag, length, rest @ ..] = self.rest
            && tag & 0x87 == 2
            && *tag >= 8
            && *length < 0x80
            && let Some(rest) = rest.get(usize::from(*length)..)
        {
            self.rest = rest;
            return Ok(Some(u32::from(tag >> 3)));
        }
        Ok(self.next()?.map(|record| record.number))
    }

    /// Most are one or two bytes long.
    #[inline]
    fn varint(&mut self) -> Result<u64, ProtobufError> {
        match self.rest {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.rest = rest;
                Ok(u64::from(*byte))
            }
            [low, high, rest @ ..] if *high < 0x80 => {
                self.rest = rest;
                Ok(u64::from(low & 0x7f) | u64::from(*high) << 7)
            }
            _ => self.long_varint(),
        }
    }

    #[cold]
    fn long_varint(&mut self) -> Result<u64, ProtobufError> {
        let mut value = 0;
        for (index, byte) in self.rest.iter().enumerate().take(10) {
            // The tenth byte has room for one bit.
            if index == 9 && *byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << (7 * index);
            if *byte < 0x80 {
                self.rest = &self.rest[index + 1..];
                return Ok(value);
            }
        }
        let problem = if self.rest.len() < 10 { Problem::Truncated } else { Problem::LongVarint };
        Err(ProtobufError::at(problem, self.rest))
    }

    #[inline]
    fn bytes(&mut self) -> Result<&'de [u8], ProtobufError> {
        let length = self.varint()?;
        match usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length)) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(ProtobufError::at(Problem::Truncated, self.rest)),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtobufError> {
        match self.rest.split_first_chunk() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => Err(ProtobufError::at(Problem::Truncated, self.rest)),
        }
    }
}

/// The greatest number that a field can have.
const MAX_NUMBER: u32 = (1 << 29) - 1;

/// Appends a number in as few bytes as it takes.
pub(super) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        #[expect(clippy::cast_possible_truncation, reason = "seven bits at a time")]
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "less than 0x80")]
    out.push(value as u8);
}

/// How many bytes [`write_varint`] appends.
pub(super) fn varint_len(value: u64) -> usize {
    (70 - (value | 1).leading_zeros() as usize) / 7
}

/// Appends a field that holds bytes.
pub(super) fn write_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    write_varint(out, u64::from(number << 3 | 2));
    write_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::{Reader, varint_len, write_varint};

    #[test]
    fn varints_are_read_as_they_are_written() {
        let edges = (0..64).flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits]).chain([u64::MAX]);
        for value in edges {
            let mut bytes = Vec::new();
            write_varint(&mut bytes, value);
            assert_eq!(bytes.len(), varint_len(value), "{value}");
            assert_eq!(Reader::new(&bytes).next_packed().ok().flatten(), Some(value));
            for end in 1..bytes.len() {
                assert!(Reader::new(&bytes[..end]).next_packed().is_err(), "{value} cut at {end}");
            }
        }
        assert!(Reader::new(&[0xff; 10]).next_packed().is_err());
    }
}
