//! What `fjall` believes without checking it, checked before it does.
//!
//! A folder of tables has a list of them, `v` and a number, whose checksum is in the file `current`; `fjall` writes the
//! checksum, but does not compare it, and makes as much room as a damaged list asks for. The same is true of the
//! directory at the end of a table. Without some of the files it takes the data for new, and removes the rest.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use kubestore_kv::BoxError;
use xxhash_rust::xxh3::xxh3_128;

/// At the end of every list and table: magic, version (1), kind of checksum (0), checksum (16), place and length of the
/// directory (8 each).
const TRAILER: usize = 38;
const TRAILER_MAGIC: &[u8] = b"SFA!\x01\x00";
/// Before the entries of a directory: a magic and their number.
const DIRECTORY_HEADER: usize = 8;
/// Number, kind of checksum, checksum, sequence.
const TABLE_ENTRY: usize = 33;

/// Refuses data that `fjall` must not see.
pub(crate) fn inspect(data: &Path) -> Result<(), BoxError> {
    let keyspaces = fs::read_dir(data.join("keyspaces"))?.collect::<Result<Vec<_>, _>>()?;
    let mut needed: Vec<PathBuf> = keyspaces.iter().map(|keyspace| keyspace.path().join("current")).collect();
    needed.push(data.join("version"));
    if let Some(missing) = needed.iter().find(|file| !file.is_file()) {
        return Err(format!(
            "the file {} is missing",
            missing.strip_prefix(data).unwrap_or(missing).display()
        )
        .into());
    }
    let mut journals = fs::read_dir(data)?.filter_map(Result::ok).map(|entry| entry.path());
    if keyspaces.len() < 2 || !journals.any(|path| path.extension().is_some_and(|end| end == "jnl")) {
        return Err("a journal or a table is missing".into());
    }
    keyspaces.iter().try_for_each(|keyspace| inspect_tables(&keyspace.path()))
}

fn inspect_tables(keyspace: &Path) -> Result<(), BoxError> {
    let damaged = || format!("the list of tables in {} is damaged", keyspace.display());
    let current = fs::read(keyspace.join("current"))?;
    let (number, rest) = current.split_first_chunk::<8>().ok_or_else(damaged)?;
    let (checksum, _kind) = rest.split_first_chunk::<16>().ok_or_else(damaged)?;
    let list = fs::read(keyspace.join(format!("v{}", u64::from_le_bytes(*number))))?;
    if xxh3_128(&list) != u128::from_le_bytes(*checksum) {
        return Err(damaged().into());
    }
    for table in tables(&list).ok_or_else(damaged)? {
        let path = keyspace.join("tables").join(table.to_string());
        if !has_directory(&path)? {
            return Err(format!("the table {} is damaged", path.display()).into());
        }
    }
    Ok(())
}

/// The numbers of the tables in a list. Its checksum was right, so it is of another form if it does not fit.
fn tables(list: &[u8]) -> Option<Vec<u64>> {
    let trailer = list.last_chunk::<TRAILER>()?;
    let start = usize::try_from(u64::from_le_bytes(trailer[22..30].try_into().ok()?)).ok()?;
    let mut directory = list.get(start..list.len() - TRAILER)?.get(DIRECTORY_HEADER..)?;
    let mut section = loop {
        let (header, rest) = directory.split_first_chunk::<18>()?;
        let place = |at: usize| usize::try_from(u64::from_le_bytes(header[at..at + 8].try_into().ok()?)).ok();
        let (name, rest) =
            rest.split_at_checked(usize::from(u16::from_le_bytes([header[16], header[17]])))?;
        if name == b"tables" {
            break list.get(place(0)?..)?.get(..place(8)?)?;
        }
        directory = rest;
    };
    let mut take = |length: usize| {
        let (taken, rest) = section.split_at_checked(length)?;
        section = rest;
        Some(taken)
    };
    let mut numbers = Vec::new();
    for _level in 0..take(1)?[0] {
        for _run in 0..take(1)?[0] {
            let count = u32::from_le_bytes(take(4)?.try_into().ok()?);
            for _table in 0..count {
                numbers.push(u64::from_le_bytes(*take(TABLE_ENTRY)?.first_chunk()?));
            }
        }
    }
    Some(numbers)
}

/// Whether the directory at the end of a table is whole.
fn has_directory(table: &Path) -> io::Result<bool> {
    let mut file = File::open(table)?;
    let length = file.metadata()?.len();
    let Some(end) = length.checked_sub(TRAILER as u64) else { return Ok(false) };
    file.seek(SeekFrom::Start(end))?;
    let mut trailer = [0; TRAILER];
    file.read_exact(&mut trailer)?;
    let mut start = [0; 8];
    start.copy_from_slice(&trailer[22..30]);
    let start = u64::from_le_bytes(start);
    if !trailer.starts_with(TRAILER_MAGIC) || start > end {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(start))?;
    let mut directory = Vec::new();
    file.take(end - start).read_to_end(&mut directory)?;
    Ok(xxh3_128(&directory).to_le_bytes() == trailer[6..22])
}
