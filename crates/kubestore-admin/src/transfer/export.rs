//! Keys and values out of a backend, as lines of JSON.

use std::{collections::HashSet, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::{Stream, stream};
use kubestore_kv::{KeyValue, Kv, KvError, KvErrorKind, LeaseId};

use super::{
    ExportOptions,
    format::{EXPORT_FORMAT, End, Entry, Header, Lease, Line},
};
use crate::{AdminError, Scope, key_map::KeyMap, progress::Meter, retry::Retry, scan, scan::Scan};

/// Exports keys and values byte for byte, with their leases, as lines of JSON, each item being some whole lines.
///
/// The values stay as they are stored: encrypted ones stay encrypted, and open only under the same key of the backend. All
/// is of one revision, part by part and in bounded memory: some parts of a list, and 8 bytes for each lease. The last line
/// tells that it is the last. Dropping the stream stops it.
///
/// # Errors
/// The last item is [`AdminError::Compacted`] if the revision was compacted meanwhile, else [`AdminError::Backend`].
pub fn export<'a, S: Into<Scope>>(
    kv: &'a dyn Kv,
    scope: S,
    options: &ExportOptions,
) -> impl Stream<Item = Result<Bytes, AdminError>> + Send + use<'a, S> {
    let start = State::Asked(kv, scope.into(), options.clone());
    stream::try_unfold(start, |state| async {
        match state {
            State::Asked(kv, scope, options) => {
                let (header, running) = Running::begin(kv, scope, options).await?;
                Ok(Some((header, State::Running(Box::new(running)))))
            }
            State::Running(mut running) => {
                let lines = running.next().await?;
                let next = if running.ended { State::Over } else { State::Running(running) };
                Ok(Some((lines, next)))
            }
            State::Over => Ok(None),
        }
    })
}

enum State<'a> {
    Asked(&'a dyn Kv, Scope, ExportOptions),
    Running(Box<Running<'a>>),
    Over,
}

struct Running<'a> {
    kv: &'a dyn Kv,
    scope: Scope,
    map: KeyMap,
    scan: Scan<'a>,
    meter: Meter,
    leases: HashSet<LeaseId>,
    options: ExportOptions,
    keys: u64,
    ended: bool,
}

impl<'a> Running<'a> {
    async fn begin(
        kv: &'a dyn Kv,
        scope: Scope,
        options: ExportOptions,
    ) -> Result<(Bytes, Self), AdminError> {
        let failed =
            |source: KvError| AdminError::reading("export", options.revision.unwrap_or_default(), source);
        let prefixes = scope.key_prefixes();
        let total = scan::count(kv, &prefixes, options.retry_for).await.map_err(failed)?;
        let scan = Scan::begin_at(kv, prefixes, options.revision, !options.newer, options.retry_for);
        let scan = scan.await.map_err(failed)?;
        let revision = scan.start().0;
        let (prefix, scope_in_words) = (scope.prefix().to_owned(), scope.to_string());
        let header = Header { format: EXPORT_FORMAT, prefix, scope: scope_in_words, revision, keys: total };
        let mut lines = BytesMut::new();
        write(&mut lines, &Line::Export(header));
        let meter = Meter::start(&options.observer, 1, total, 0);
        let map = KeyMap::new(scope.prefix());
        let (leases, keys, ended) = (HashSet::new(), 0, false);
        Ok((lines.freeze(), Self { kv, scope, map, scan, meter, leases, options, keys, ended }))
    }

    /// The lines of the next part.
    async fn next(&mut self) -> Result<Bytes, AdminError> {
        let revision = self.scan.revision();
        let part =
            self.scan.next().await.map_err(|source| AdminError::reading("export", revision, source))?;
        let mut lines = BytesMut::new();
        let Some(part) = part else {
            self.ended = true;
            write(&mut lines, &Line::End(End { keys: self.keys, revision: revision.0 }));
            return Ok(lines.freeze());
        };
        let read = part.len() as u64;
        for kv in part {
            if self.scope.contains(&self.map.owner(&kv.key).id) {
                self.entry(&mut lines, &kv).await?;
            }
        }
        self.meter.advance(|progress| progress.done += read);
        Ok(lines.freeze())
    }

    async fn entry(&mut self, lines: &mut BytesMut, kv: &KeyValue) -> Result<(), AdminError> {
        if let Some(id) = kv.lease
            && self.leases.insert(id)
        {
            let revision = self.scan.revision();
            let found = lease(self.kv, id, self.options.retry_for).await;
            let found = found.map_err(|source| AdminError::reading("export", revision, source))?;
            write(lines, &Line::Lease(found));
        }
        write(lines, &Line::Kv(Entry::new(kv)));
        self.keys += 1;
        Ok(())
    }
}

async fn lease(kv: &dyn Kv, id: LeaseId, patience: Duration) -> Result<Lease, KvError> {
    let mut retry = Retry::new(patience);
    loop {
        match kv.lease_info(id).await {
            Ok(info) => return Ok(Lease::new(id, Some(info))),
            // It has ended since its keys were read.
            Err(error) if error.kind() == KvErrorKind::LeaseNotFound => return Ok(Lease::new(id, None)),
            Err(error) => retry.pause(error).await?,
        }
    }
}

fn write(lines: &mut BytesMut, line: &Line<'_>) {
    #[expect(clippy::expect_used, reason = "memory takes every write, and a line has text and numbers only")]
    serde_json::to_writer(lines.writer(), line).expect("a line is JSON");
    lines.put_u8(b'\n');
}
