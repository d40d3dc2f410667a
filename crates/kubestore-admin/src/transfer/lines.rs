//! Lines out of chunks of bytes.

use bytes::{Buf, Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use kubestore_kv::BoxError;

use crate::AdminError;

/// The longest line. A request to etcd has 1.5 MiB as a rule and some ten at most.
const LONGEST: usize = 64 << 20;

/// Cuts a stream of bytes into lines, however it comes.
#[derive(Debug)]
pub(super) struct Lines<S> {
    input: S,
    buffer: BytesMut,
    /// Up to where there is no end of a line.
    searched: usize,
    number: u64,
    ended: bool,
}

impl<S: Stream<Item = Result<Bytes, E>> + Unpin, E: Into<BoxError>> Lines<S> {
    pub(super) fn new(input: S) -> Self {
        Self { input, buffer: BytesMut::new(), searched: 0, number: 0, ended: false }
    }

    /// The number of the line that was given last.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line that is not empty.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, AdminError> {
        loop {
            let Some(line) = self.line().await? else { return Ok(None) };
            self.number += 1;
            let line = line.strip_suffix(b"\r").map_or(line.clone(), |text| line.slice_ref(text));
            if !line.is_empty() {
                return Ok(Some(line));
            }
        }
    }

    async fn line(&mut self) -> Result<Option<Bytes>, AdminError> {
        loop {
            if let Some(at) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(self.searched + at).freeze();
                self.buffer.advance(1);
                self.searched = 0;
                return Ok(Some(line));
            }
            self.searched = self.buffer.len();
            if self.searched > LONGEST {
                let reason = format!("it has more than {LONGEST} bytes");
                return Err(AdminError::BadExport { line: self.number + 1, reason });
            }
            if self.ended {
                let rest = self.buffer.split().freeze();
                self.searched = 0;
                return Ok((!rest.is_empty()).then_some(rest));
            }
            match self.input.next().await {
                Some(Ok(bytes)) => self.buffer.extend_from_slice(&bytes),
                Some(Err(cause)) => {
                    return Err(AdminError::Input { line: self.number, source: cause.into() });
                }
                None => self.ended = true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    #[tokio::test]
    async fn lines_are_cut_wherever_the_bytes_are() {
        let text = b"one\n\ntwo\r\nthree";
        for size in 1..=text.len() {
            let chunks = text.chunks(size).map(|chunk| Ok::<_, BoxError>(Bytes::copy_from_slice(chunk)));
            let mut lines = Lines::new(stream::iter(chunks.collect::<Vec<_>>()));
            let mut read = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                read.push((lines.number(), line));
            }
            assert_eq!(read, [(1, "one".into()), (3, "two".into()), (4, "three".into())]);
        }
    }

    #[tokio::test]
    async fn no_line_is_endless() {
        let endless = stream::repeat_with(|| Ok::<_, BoxError>(Bytes::from(vec![b' '; 1 << 20])));
        let error = Lines::new(endless).next().await.unwrap_err();
        assert!(error.to_string().contains("line 1 of the export: it has more than"), "{error}");
    }
}
