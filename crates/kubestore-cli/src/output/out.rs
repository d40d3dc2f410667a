//! Standard output, held back until it is known that all goes well.

use std::io::{self, Stdout, Write};

/// Less than this is written all at once or, after an error, not at all.
const HELD_BACK: usize = 4 * 1024 * 1024;

/// Standard output behind a buffer. What is in the buffer when it is dropped is never written.
#[derive(Debug)]
pub(super) struct Out {
    buffer: Vec<u8>,
    stdout: Stdout,
}

impl Out {
    pub(super) fn new() -> Self {
        Self { buffer: Vec::new(), stdout: io::stdout() }
    }
}

impl Write for Out {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(data);
        if self.buffer.len() > HELD_BACK {
            self.stdout.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.write_all(&self.buffer)?;
        self.buffer.clear();
        self.stdout.flush()
    }
}
