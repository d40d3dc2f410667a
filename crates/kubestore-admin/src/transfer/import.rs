//! Lines of an export into a backend.

use std::{collections::HashMap, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream::FuturesUnordered};
use kubestore_kv::{
    BoxError, Expect, KeyValue, Kv, KvError, KvErrorKind, LeaseId, OnFailure, PutRequest, WriteOutcome,
};

use super::{
    ImportLeases, ImportOptions, ImportReport,
    format::{EXPORT_FORMAT, Entry, Header, Lease, Line, lease_id},
    lines::Lines,
};
use crate::{
    AdminError,
    failure::{FailureCause, Problem},
    key_map::KeyMap,
    progress::Meter,
    retry::Retry,
};

/// How often a key may be changed by others while it is being overwritten.
const MOST_CONFLICTS: u32 = 10;

/// Imports what [`export`](super::export()) wrote, which comes in any pieces.
///
/// Each key is written on the condition that it does not exist, or with [`ImportOptions::overwrite`] that it is as it was
/// read; so nothing is overwritten unasked, whoever else writes. Memory is bounded by the writes that are on their way, and
/// 16 bytes for each lease. Done again, it goes on where it was: keys that have their value already are left as they are.
/// When the future is dropped, the writes on their way may still be applied.
///
/// # Errors
/// [`AdminError::BadExport`] for lines that are none of an export, also if the last one is missing: what comes before is
/// imported then. [`AdminError::Input`], [`AdminError::Backend`]. A key that is too large is in the report.
pub async fn import<S, E>(kv: &dyn Kv, input: S, options: &ImportOptions) -> Result<ImportReport, AdminError>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin + Send,
    E: Into<BoxError>,
{
    let mut lines = Lines::new(input);
    let header = header(&mut lines).await?;
    let mut running = Running {
        kv,
        options,
        map: KeyMap::new(&header.prefix),
        meter: Meter::start(&options.observer, 1, header.keys, 0),
        leases: HashMap::new(),
        report: ImportReport { scope: header.scope, revision: header.revision, ..ImportReport::default() },
    };
    let mut writes = FuturesUnordered::new();
    loop {
        let Some(text) = lines.next().await? else {
            while let Some((key, done)) = writes.next().await {
                running.note(&key, done)?;
            }
            let reason =
                "the export ends before its last line: it was cut; what there is of it is imported".into();
            return Err(AdminError::BadExport { line: lines.number() + 1, reason });
        };
        let bad = |reason| AdminError::BadExport { line: lines.number(), reason };
        match parse(&text).map_err(bad)? {
            Line::Export(_) => return Err(bad("a second export begins; import one after the other".into())),
            Line::Lease(lease) => running.lease(&lease).await?.map_err(bad)?,
            Line::Kv(entry) => {
                if let Some(request) = running.request(&entry).map_err(bad)? {
                    writes.push(write(kv, request, options));
                }
            }
            Line::End(end) => {
                while let Some((key, done)) = writes.next().await {
                    running.note(&key, done)?;
                }
                if end.keys != running.report.seen {
                    let reason =
                        format!("there should be {} keys, and there were {}", end.keys, running.report.seen);
                    return Err(bad(reason));
                }
                return Ok(running.report);
            }
        }
        while writes.len() >= options.in_flight.get()
            && let Some((key, done)) = writes.next().await
        {
            running.note(&key, done)?;
        }
    }
}

struct Running<'a> {
    kv: &'a dyn Kv,
    options: &'a ImportOptions,
    map: KeyMap,
    meter: Meter,
    /// The leases of the export, and those that were granted instead.
    leases: HashMap<LeaseId, Option<LeaseId>>,
    report: ImportReport,
}

/// What became of a key.
enum Done {
    Created,
    Overwritten,
    Same,
    Skipped,
    Failed(Problem),
}

impl Running<'_> {
    async fn lease(&mut self, lease: &Lease) -> Result<Result<(), String>, AdminError> {
        let id = match lease_id(&lease.id) {
            Ok(id) => id,
            Err(reason) => return Ok(Err(reason)),
        };
        let wanted = self.options.leases == ImportLeases::Renew && lease.remaining > 0;
        let granted =
            if wanted { Some(self.grant(Duration::from_secs(lease.remaining)).await?) } else { None };
        self.leases.insert(id, granted);
        Ok(Ok(()))
    }

    async fn grant(&mut self, ttl: Duration) -> Result<LeaseId, AdminError> {
        let mut retry = Retry::new(self.options.retry_for);
        loop {
            match self.kv.grant_lease(ttl).await {
                Ok(grant) => {
                    self.report.leases_granted += 1;
                    return Ok(grant.id);
                }
                // A lease too many ends by itself.
                Err(error) => {
                    retry.pause(unknown_is_away(error)).await.map_err(|source| self.failed(source))?
                }
            }
        }
    }

    /// The write of a key, unless it is left out.
    fn request(&mut self, entry: &Entry<'_>) -> Result<Option<PutRequest>, String> {
        let (key, value) = (entry.key()?, entry.value()?);
        self.report.seen += 1;
        let mut request = PutRequest::create(key, value);
        request.on_failure = OnFailure::Get;
        let Some(id) = &entry.lease else { return Ok(Some(request)) };
        let known = self.leases.get(&lease_id(id)?).copied();
        let granted = known.ok_or("a key with a lease that no line before it tells of")?;
        match (self.options.leases, granted) {
            (ImportLeases::Drop, _) => {
                self.report.leases_dropped += 1;
                Ok(Some(request))
            }
            (ImportLeases::Renew, Some(granted)) => Ok(Some(request.with_lease(Some(granted)))),
            (ImportLeases::Renew, None) | (ImportLeases::Skip, _) => {
                self.report.left_out += 1;
                self.meter.advance(|progress| progress.done += 1);
                Ok(None)
            }
        }
    }

    fn note(&mut self, key: &Bytes, done: Result<Done, KvError>) -> Result<(), AdminError> {
        match done.map_err(|source| self.failed(source))? {
            Done::Created => self.report.created += 1,
            Done::Overwritten => self.report.overwritten += 1,
            Done::Same => self.report.same += 1,
            Done::Skipped => self.report.skipped.add(key),
            Done::Failed(problem) => {
                let resource = self.map.owner(key).id;
                self.report.failures.add(problem.of(key, &resource));
            }
        }
        let (written, failed) = (self.written(), self.report.failures.total);
        self.meter.advance(|progress| {
            progress.done += 1;
            progress.written = written;
            progress.failed = failed;
        });
        Ok(())
    }

    fn written(&self) -> u64 {
        self.report.created + self.report.overwritten
    }

    fn failed(&self, source: KvError) -> AdminError {
        AdminError::Backend { job: "import", done: self.written(), source: Box::new(source) }
    }
}

async fn header<S, E>(lines: &mut Lines<S>) -> Result<Header, AdminError>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Into<BoxError>,
{
    let bad = |reason| AdminError::BadExport { line: 1, reason };
    let first = lines.next().await?.ok_or_else(|| bad("there is none; the export is empty".to_owned()))?;
    match parse(&first).map_err(bad)? {
        Line::Export(header) if header.format <= EXPORT_FORMAT => Ok(header),
        Line::Export(header) => Err(bad(format!(
            "the export has format {}, and this version knows {EXPORT_FORMAT}; use a newer one",
            header.format
        ))),
        _ => Err(bad("an export begins with a line that says what it is of".to_owned())),
    }
}

fn parse(line: &[u8]) -> Result<Line<'_>, String> {
    // The error names the place, not what is there.
    serde_json::from_slice(line).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => "it is none of an export".to_owned(),
        _ => format!("it is no JSON (column {})", error.column()),
    })
}

async fn write(kv: &dyn Kv, request: PutRequest, options: &ImportOptions) -> (Bytes, Result<Done, KvError>) {
    let key = request.key.clone();
    (key, settle(kv, request, options).await)
}

/// Writes one key until it is known what it has.
async fn settle(kv: &dyn Kv, mut request: PutRequest, options: &ImportOptions) -> Result<Done, KvError> {
    let mut retry = Retry::new(options.retry_for);
    let (mut conflicts, mut unsure) = (0, false);
    loop {
        match kv.optimistic_put(request.clone()).await {
            Ok(WriteOutcome::Done { .. }) if request.expect == Expect::ABSENT => return Ok(Done::Created),
            Ok(WriteOutcome::Done { .. }) => return Ok(Done::Overwritten),
            Ok(WriteOutcome::Conflict { current: None, .. }) => request.expect = Expect::ABSENT,
            Ok(WriteOutcome::Conflict { current: Some(current), .. }) => {
                if is_written(&request, &current) {
                    // An answer that was lost was about this.
                    return Ok(match (unsure, request.expect == Expect::ABSENT) {
                        (false, _) => Done::Same,
                        (true, true) => Done::Created,
                        (true, false) => Done::Overwritten,
                    });
                }
                if !options.overwrite {
                    return Ok(Done::Skipped);
                }
                request.expect = Expect::ModRevision(current.mod_revision);
            }
            Ok(_) => {}
            Err(error) if error.kind() == KvErrorKind::TooLarge => return Ok(Done::Failed(error.into())),
            Err(error) => {
                unsure |= error.kind() == KvErrorKind::OutcomeUnknown;
                retry.pause(unknown_is_away(error)).await?;
                continue;
            }
        }
        conflicts += 1;
        if conflicts > MOST_CONFLICTS {
            let message = "it was changed again and again by others; do the import again";
            return Ok(Done::Failed(Problem::new(FailureCause::Contended, message)));
        }
    }
}

/// Whether the key has what is to be written. Whether one lease stands for another cannot be told.
fn is_written(request: &PutRequest, current: &KeyValue) -> bool {
    current.value == request.value && current.lease.is_some() == request.lease.is_some()
}

/// These writes may be repeated: what they find shows whether they were applied.
fn unknown_is_away(error: KvError) -> KvError {
    if error.kind() != KvErrorKind::OutcomeUnknown {
        return error;
    }
    let message = "the answer to a write was lost";
    KvError::new(KvErrorKind::Unavailable, error.operation(), message).with_source(error)
}
