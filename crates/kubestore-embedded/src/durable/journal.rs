//! The journals of `fjall`, looked at before `fjall` reads them.
//!
//! After a power cut, what was written to a journal after its last sync may be there in part: pages of it, in any
//! choice. `fjall` drops a batch that lacks its end, but refuses a journal in which a torn batch kept its end, and takes
//! a length in a torn page for true. So all batches are checked here first. What follows the last whole one is cut off
//! if everything acknowledged lies before it; else nothing is touched, since then it is damage and not a torn end.
//!
//! A journal is a row of batches, then zeros or the end of the file. All numbers are little-endian.
//!
//! | part of a batch | bytes |
//! | --- | --- |
//! | begin | 1; number of items (4), sequence of `fjall` (8) |
//! | item | 2; kind (1), compression (1), keyspace (8), length of the key (2), of the value (4), of the value as stored (4), key, value |
//! | clear | 4; keyspace (8) |
//! | end | 3; XXH3 of all items and clears (8), `FJL` and 3 |

use std::{
    error::Error,
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};

use xxhash_rust::xxh3::Xxh3;

use super::{
    codec::{META_KEY, Meta},
    mark::Acknowledged,
};

const BEGIN: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const TRAILER: &[u8; 4] = b"FJL\x03";
const PLAIN: u8 = 0;
const BUFFER_BYTES: usize = 256 << 10;

/// What is in one journal.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) path: PathBuf,
    pub(crate) batches: u64,
    /// Where the last whole batch ends.
    pub(crate) whole: u64,
    /// Whether something other than zeros follows it.
    pub(crate) torn: bool,
    /// The last summary of ours in it.
    pub(crate) last: Option<Meta>,
    /// All of them, with the ends of their batches.
    #[cfg(test)]
    pub(crate) summaries: Vec<(u64, Meta)>,
}

/// Why a journal is not to be read.
#[derive(Debug)]
pub(crate) enum Damage {
    /// The last whole batch leads to `head` and is older than what was acknowledged.
    Lost { head: i64, acknowledged: Acknowledged },
    /// A journal is damaged that others follow.
    Middle(PathBuf),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { .. } => f.write_str("the end of the newest journal is damaged"),
            Self::Middle(path) => write!(f, "the journal {} is damaged", path.display()),
        }
    }
}

impl Error for Damage {}

/// Reads all journals in `data`, oldest first.
pub(crate) fn read_all(data: &Path) -> io::Result<Vec<Journal>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(data)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        if let (Some(number), true) = (number, path.extension().is_some_and(|end| end == "jnl")) {
            paths.push((number, path));
        }
    }
    paths.sort();
    paths.into_iter().map(|(_, path)| read(path)).collect()
}

/// Cuts a torn end off. An error leaves everything as it is.
///
/// `acknowledged` is what must be there at least, if that is known.
pub(crate) fn settle_end(data: &Path, acknowledged: Option<Acknowledged>) -> io::Result<Result<(), Damage>> {
    let journals = read_all(data)?;
    // A journal that was just begun is empty; its predecessor may then have the torn end.
    let Some(end) = journals.iter().rposition(|journal| journal.torn || journal.batches > 0) else {
        return Ok(Ok(()));
    };
    if let Some(damaged) = journals[..end].iter().find(|journal| journal.torn) {
        return Ok(Err(Damage::Middle(damaged.path.clone())));
    }
    let journal = &journals[end];
    let found = journals.iter().rev().find_map(|journal| journal.last);
    if let (Some(found), Some(acknowledged)) = (found, acknowledged)
        && found.sequence < acknowledged.sequence
    {
        return Ok(Err(Damage::Lost { head: found.head, acknowledged }));
    }
    if journal.torn {
        // Where it cannot be told that nothing acknowledged is cut off, what is cut off is kept.
        cut(journal, found.is_none() || acknowledged.is_none())?;
    }
    Ok(Ok(()))
}

fn cut(journal: &Journal, keep: bool) -> io::Result<()> {
    let path = &journal.path;
    tracing::warn!(
        journal = %path.display(), at = journal.whole,
        "the end of the journal is torn, as a power cut leaves it; what follows the last whole batch is cut off"
    );
    if keep {
        let copy = path.with_extension("torn");
        fs::copy(path, &copy)?;
        File::open(&copy)?.sync_all()?;
    }
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(journal.whole)?;
    file.sync_all()
}

fn read(path: PathBuf) -> io::Result<Journal> {
    let file = File::open(&path)?;
    let length = file.metadata()?.len();
    let mut reader =
        Reader { file: BufReader::with_capacity(BUFFER_BYTES, file), left: length, item: Vec::new() };
    let mut journal = Journal {
        path,
        batches: 0,
        whole: 0,
        torn: false,
        last: None,
        #[cfg(test)]
        summaries: Vec::new(),
    };
    loop {
        match reader.batch()? {
            Step::Batch(meta) => {
                journal.batches += 1;
                journal.whole = length - reader.left;
                journal.last = meta.or(journal.last);
                #[cfg(test)]
                journal.summaries.extend(meta.map(|meta| (journal.whole, meta)));
            }
            Step::End => return Ok(journal),
            Step::Torn => {
                journal.torn = true;
                return Ok(journal);
            }
        }
    }
}

/// What comes next in a journal.
enum Step {
    /// A whole batch, with our summary if that was in it.
    Batch(Option<Meta>),
    End,
    Torn,
}

/// A journal being read. `left` bounds every length, so that a damaged one costs no memory.
struct Reader<R> {
    file: R,
    left: u64,
    item: Vec<u8>,
}

impl<R: Read> Reader<R> {
    fn batch(&mut self) -> io::Result<Step> {
        match self.take::<1>()? {
            None => return Ok(Step::End),
            Some([0]) => return self.zeros(),
            Some([BEGIN]) => {}
            Some(_) => return Ok(Step::Torn),
        }
        Ok(self.items()?.map_or(Step::Torn, Step::Batch))
    }

    /// What follows the begin mark: `None` if it is not a whole batch.
    fn items(&mut self) -> io::Result<Option<Option<Meta>>> {
        let (Some(count), Some(_sequence)) = (self.take::<4>()?, self.take::<8>()?) else { return Ok(None) };
        let mut left = u32::from_le_bytes(count);
        let mut checksum = Xxh3::new();
        let mut meta = None;
        loop {
            match self.take::<1>()? {
                Some([END]) if left == 0 => break,
                Some([ITEM]) if left > 0 => {
                    if !self.item()? {
                        return Ok(None);
                    }
                    checksum.update(&self.item);
                    meta = summary(&self.item).or(meta);
                }
                Some([CLEAR]) if left > 0 => {
                    let Some(keyspace) = self.take::<8>()? else { return Ok(None) };
                    checksum.update(&[CLEAR]);
                    checksum.update(&keyspace);
                }
                _ => return Ok(None),
            }
            left -= 1;
        }
        let (Some(sum), Some(trailer)) = (self.take::<8>()?, self.take::<4>()?) else { return Ok(None) };
        let whole = &trailer == TRAILER && u64::from_le_bytes(sum) == checksum.digest();
        Ok(whole.then_some(meta))
    }

    /// Reads one item with its mark; `false` if it is cut short.
    fn item(&mut self) -> io::Result<bool> {
        let Some(header) = self.take::<ITEM_HEADER>()? else { return Ok(false) };
        let key = u64::from(u16::from_le_bytes([header[10], header[11]]));
        let value = u64::from(u32::from_le_bytes([header[16], header[17], header[18], header[19]]));
        if header[1] != PLAIN || key + value > self.left {
            return Ok(false);
        }
        self.item.clear();
        self.item.push(ITEM);
        self.item.extend_from_slice(&header);
        let read = self.file.by_ref().take(key + value).read_to_end(&mut self.item)? as u64;
        self.left -= read;
        Ok(read == key + value)
    }

    /// Whether nothing but zeros is left.
    fn zeros(&mut self) -> io::Result<Step> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match self.file.read(&mut buffer)? {
                0 => return Ok(Step::End),
                read if buffer[..read].iter().any(|byte| *byte != 0) => return Ok(Step::Torn),
                _ => {}
            }
        }
    }

    fn take<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        if self.left < N as u64 {
            self.left = 0;
            return Ok(None);
        }
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes)?;
        self.left -= N as u64;
        Ok(Some(bytes))
    }
}

/// Kind, compression, keyspace, and the three lengths.
const ITEM_HEADER: usize = 20;

/// Our summary, if an item is one.
fn summary(item: &[u8]) -> Option<Meta> {
    let body = item.get(1 + ITEM_HEADER..)?;
    let key = usize::from(u16::from_le_bytes([*item.get(11)?, *item.get(12)?]));
    let (key, value) = body.split_at_checked(key)?;
    (key == META_KEY).then(|| Meta::decode(value).ok()).flatten()
}
