//! Test data, and the pieces that several tests share.

#![allow(dead_code, reason = "every test file uses a part")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value as Json;

pub(crate) fn data(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

pub(crate) fn base64(value: &Json) -> Vec<u8> {
    STANDARD.decode(value.as_str().unwrap()).unwrap()
}

pub(crate) fn list<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    json[name].as_array().unwrap()
}

/// A small random generator, the same on every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// Changes a few bytes of a document.
pub(crate) fn mutate(random: &mut Random, document: &[u8]) -> Vec<u8> {
    const TOKENS: &[&[u8]] = &[
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"0",
        b"-",
        b"e",
        b".",
        b" ",
        b"\n",
        b"\0",
        b"\xff",
        b"\xe2\x80",
        b"null",
        b"true",
        b"1e999",
        b"\\u",
        b"\\ud800",
        b"\"\"",
        b"{}",
        b"[]",
        b"\"kind\":",
        b"\"metadata\":{",
        b"\"labels\":{\"app\":\"x\"},",
        b"\"name\":\"n\",",
        b"\"app\":7,",
        b"\"nodeName\":[],",
    ];
    let mut bytes = document.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(6) {
            0 | 1 => drop(bytes.splice(at..at, random.pick(TOKENS).iter().copied())),
            2 => drop(bytes.splice(at..bytes.len().min(at + 1), random.pick(TOKENS).iter().copied())),
            3 => drop(bytes.drain(at..bytes.len().min(at + 1 + random.below(4)))),
            4 => bytes.truncate(at),
            _ => {
                let from = random.below(bytes.len() + 1).min(at);
                let piece = bytes[from..at.min(from + 40)].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}
