//! The fields of one message, each of them once and lists in one piece, whatever the wire has.

use std::vec;

use super::super::{
    error::ProtobufError,
    schema::{Form, Message},
    wire::{Payload, Reader, Record},
};

/// A message that is being read.
pub(super) struct Frame<'de> {
    pub(super) message: &'static Message,
    source: Source<'de>,
    /// The fields that were there, by their places.
    seen: u64,
    /// How many of the fields that are shown if they are absent were looked at.
    absent: u8,
}

enum Source<'de> {
    /// As Kubernetes writes it: read on the go.
    InOrder(Reader<'de>),
    /// Any other order, brought into this one.
    Gathered(vec::IntoIter<Record<'de>>),
}

impl<'de> Frame<'de> {
    pub(super) fn new(message: &'static Message, payload: &Payload<'de>) -> Result<Self, ProtobufError> {
        let source = match payload.parts()? {
            [bytes] if is_in_order(message, bytes)? => Source::InOrder(Reader::new(bytes)),
            parts => Source::Gathered(gather(message, parts)?.into_iter()),
        };
        Ok(Self { message, source, seen: 0, absent: 0 })
    }

    /// The next field that is known: its place and what it holds.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(u8, Payload<'de>)>, ProtobufError> {
        loop {
            let record = match &mut self.source {
                Source::InOrder(reader) => reader.next()?,
                Source::Gathered(records) => records.next(),
            };
            let Some(record) = record else { return Ok(None) };
            if let Some((place, _)) = self.message.by_number(record.number) {
                self.seen |= 1 << place;
                return Ok(Some((place, record.payload)));
            }
        }
    }

    /// What the next field holds, if it has this number: the next item of a list.
    pub(super) fn next_if(&mut self, number: u32) -> Result<Option<Payload<'de>>, ProtobufError> {
        match &mut self.source {
            Source::InOrder(reader) => {
                let mut ahead = *reader;
                let record = ahead.next()?.filter(|record| record.number == number);
                if record.is_some() {
                    *reader = ahead;
                }
                Ok(record.map(|record| record.payload))
            }
            Source::Gathered(records) => {
                let is_next = records.as_slice().first().is_some_and(|record| record.number == number);
                Ok(if is_next { records.next().map(|record| record.payload) } else { None })
            }
        }
    }

    /// Everything that [`next_if`](Self::next_if) would give, which stays.
    pub(super) fn ahead(&self, number: u32) -> Ahead<'_, 'de> {
        match &self.source {
            Source::InOrder(reader) => Ahead::InOrder(*reader, number),
            Source::Gathered(records) => Ahead::Gathered(records.as_slice(), number),
        }
    }

    /// The place of the next field that was not there and is shown nevertheless.
    pub(super) fn next_absent(&mut self) -> Option<u8> {
        loop {
            let place = *self.message.shown_if_absent.get(usize::from(self.absent))?;
            self.absent += 1;
            if self.seen & (1 << place) == 0 {
                return Some(place);
            }
        }
    }
}

/// The items of a list that come next.
pub(super) enum Ahead<'a, 'de> {
    InOrder(Reader<'de>, u32),
    Gathered(&'a [Record<'de>], u32),
}

impl<'de> Ahead<'_, 'de> {
    pub(super) fn next(&mut self) -> Result<Option<Payload<'de>>, ProtobufError> {
        match self {
            Self::InOrder(reader, number) => {
                let record = reader.next()?.filter(|record| record.number == *number);
                Ok(record.map(|record| record.payload))
            }
            Self::Gathered(records, number) => match records.split_first() {
                Some((record, rest)) if record.number == *number => {
                    *records = rest;
                    Ok(Some(record.payload.clone()))
                }
                _ => Ok(None),
            },
        }
    }
}

/// Whether the fields come in order of their numbers, and only those several times that may.
fn is_in_order(message: &Message, bytes: &[u8]) -> Result<bool, ProtobufError> {
    let mut reader = Reader::new(bytes);
    let mut last = 0;
    while let Some(number) = reader.skip()? {
        if number <= last && !(number == last && may_repeat(message, last)) {
            return Ok(false);
        }
        last = number;
    }
    Ok(true)
}

fn may_repeat(message: &Message, number: u32) -> bool {
    message.by_number(number).is_none_or(|(_, field)| matches!(field.form, Form::List | Form::Map))
}

/// All fields in order. What is there several times and may not is one: a message that is there in parts, or the last of
/// several scalars.
fn gather<'de>(message: &Message, parts: &[&'de [u8]]) -> Result<Vec<Record<'de>>, ProtobufError> {
    let mut records: Vec<Record<'de>> = Vec::new();
    for part in parts {
        let mut reader = Reader::new(part);
        while let Some(record) = reader.next()? {
            records.push(record);
        }
    }
    records.sort_by_key(|record| record.number);
    let mut gathered: Vec<Record<'de>> = Vec::with_capacity(records.len());
    for record in records {
        let last = gathered.last_mut().filter(|last| last.number == record.number);
        match (last, message.by_number(record.number)) {
            (Some(last), Some((_, field))) if !matches!(field.form, Form::List | Form::Map) => {
                merge(&mut last.payload, record.payload, field.of.wire_type());
            }
            _ => gathered.push(record),
        }
    }
    Ok(gathered)
}

/// Of two wire types the one that is not as `expected` stays, to be refused.
fn merge<'de>(first: &mut Payload<'de>, second: Payload<'de>, expected: u8) {
    match (&mut *first, second) {
        (first, _) if first.wire_type() != expected => {}
        (Payload::Bytes(bytes), Payload::Bytes(second)) => *first = Payload::Parts(vec![bytes, second]),
        (Payload::Parts(parts), Payload::Bytes(second)) => parts.push(second),
        (first, second) => *first = second,
    }
}
