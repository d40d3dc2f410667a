//! Protobuf's wire format, as far as etcd's two messages need it.

/// The fields of a message, in the order in which they come.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Of a kind that neither message has; skipped.
    Other,
}

/// The bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAMessage;

impl<'a> Fields<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn field(&mut self) -> Result<(u64, Value<'a>), NotAMessage> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.take(8).map(|_| Value::Other)?,
            2 => {
                let len = usize::try_from(self.varint()?).map_err(|_| NotAMessage)?;
                Value::Bytes(self.take(len)?)
            }
            5 => self.take(4).map(|_| Value::Other)?,
            _ => return Err(NotAMessage),
        };
        if tag >> 3 == 0 { Err(NotAMessage) } else { Ok((tag >> 3, value)) }
    }

    fn varint(&mut self) -> Result<u64, NotAMessage> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = *self.take(1)? else { return Err(NotAMessage) };
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(NotAMessage);
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(NotAMessage)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], NotAMessage> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(NotAMessage)?;
        self.rest = rest;
        Ok(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), NotAMessage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_in_order_and_strange_ones_are_skipped() {
        let message = b"\x08\x96\x01\x12\x02hi\x19\0\0\0\0\0\0\0\0\x25\0\0\0\0";
        let fields: Vec<_> = Fields::new(message).collect::<Result<_, _>>().unwrap();
        assert_eq!(
            fields,
            [(1, Value::Number(150)), (2, Value::Bytes(b"hi")), (3, Value::Other), (4, Value::Other)]
        );
        let negative = [&[8][..], &[0xff; 9], &[1]].concat();
        assert_eq!(Fields::new(&negative).next(), Some(Ok((1, Value::Number(u64::MAX)))));
    }

    #[test]
    fn what_is_no_message_is_an_error_and_the_end() {
        for bad in [
            &b"\x08"[..],
            b"\x12\x05hi",
            b"\x00\x01",
            b"\x0b",
            &[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2],
        ] {
            let fields: Vec<_> = Fields::new(bad).collect();
            assert_eq!(fields, [Err(NotAMessage)], "{bad:?}");
        }
    }
}
