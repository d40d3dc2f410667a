//! Building data anew from what can be read.

use std::{fs, path::Path};

use bytes::Bytes;
use kubestore_kv::{KvError, KvErrorKind, Revision};

use super::{
    super::{
        base::{Base, Batch, WriteError},
        codec::{self, Entry, META_KEY, Meta},
        directory::{Directory, base_error, directory_error, io_error},
        fjall::FjallBase,
        mark::{Acknowledged, Mark},
    },
    judge,
    look::{self, Looked},
    report::{CheckOptions, ProblemKind, RepairReport},
};
use crate::record::Record;

const BATCH_BYTES: usize = 4 << 20;

/// Repairs the directory at `path`.
pub(super) fn repair(path: &Path, options: &CheckOptions) -> Result<RepairReport, KvError> {
    let mut directory = Directory::take_existing(path)?;
    let looked = look::read(directory.path(), options)?;
    if looked.survey.meta.is_none() && looked.survey.records.is_empty() && !looked.report.is_sound() {
        let message = "nothing in data can be read, so there is nothing to be saved; restore the directory from a backup";
        return Err(directory_error(KvErrorKind::Corrupt, directory.path(), message));
    }
    let mut report = RepairReport {
        problems: looked.report.problems.clone(),
        kept: None,
        history_kept: true,
        keys: looked.report.keys,
        without_lease: 0,
        head: looked.report.head,
    };
    if !looked.report.is_sound() {
        let plan = Plan::new(&looked);
        report.history_kept = plan.history_kept;
        report.without_lease = plan.without_lease;
        report.head = Revision(plan.meta.head);
        write(&directory, &plan)?;
        report.kept = Some(directory.replace()?);
        mark(&directory, &plan)?;
    }
    directory.close();
    Ok(report)
}

/// What is to be written.
struct Plan {
    meta: Meta,
    entries: Vec<Entry>,
    history_kept: bool,
    without_lease: u64,
}

impl Plan {
    fn new(looked: &Looked) -> Self {
        let survey = &looked.survey;
        let lost = looked.report.problems.iter().any(|problem| {
            !matches!(problem.kind, ProblemKind::Summary | ProblemKind::Lease | ProblemKind::Mark)
        });
        let history_kept = !lost && survey.meta.is_some();
        let newest = judge::newest(survey);
        let kept: Vec<&Record> =
            if history_kept { survey.records.values().collect() } else { newest.into_values().collect() };
        let mut plan =
            Self { meta: meta(looked, history_kept), entries: Vec::new(), history_kept, without_lease: 0 };
        for (id, lease) in &survey.leases {
            plan.push(codec::lease_entry(*id, *lease));
        }
        for record in kept {
            let orphan = judge::is_orphan(survey, record);
            plan.without_lease += u64::from(orphan);
            plan.push(if orphan { codec::record_entry(&freed(record)) } else { codec::record_entry(record) });
        }
        plan
    }

    fn push(&mut self, entry: Entry) {
        self.meta.add(entry.checksum);
        self.entries.push(entry);
    }
}

/// Where the store goes on. Without its history everything is compacted, at a revision that nobody has seen.
fn meta(looked: &Looked, history_kept: bool) -> Meta {
    let survey = &looked.survey;
    let old = survey.meta.unwrap_or(Meta::EMPTY);
    let acknowledged = looked.acknowledged.unwrap_or(Acknowledged { sequence: 0, head: 0 });
    let last_lease = survey.leases.keys().last().copied().unwrap_or(0).max(old.last_lease);
    let sequence = old.sequence.max(acknowledged.sequence) + 1;
    if history_kept {
        return Meta { sequence, last_lease, entries: 0, digest: 0, ..old };
    }
    let last = survey.records.keys().last().map_or(1, |(revision, _)| *revision);
    let head = last.max(old.head).max(acknowledged.head) + 1;
    Meta { sequence, head, compacted: head, last_lease, entries: 0, digest: 0 }
}

/// The same version without its lease.
fn freed(record: &Record) -> Record {
    Record {
        key: Bytes::clone(&record.key),
        value: Bytes::clone(&record.value),
        created: record.created,
        modified: record.modified,
        number: record.number,
        version: record.version,
        lease: 0,
    }
}

fn write(directory: &Directory, plan: &Plan) -> Result<(), KvError> {
    let failed = |error: WriteError| {
        let (WriteError::Refused(error) | WriteError::NotSynced(error)) = error;
        base_error(directory.path(), error)
    };
    let new = directory.prepare()?;
    let mut base = FjallBase::create(&new).map_err(|error| base_error(directory.path(), error))?;
    let mut batch = Batch::default();
    let mut bytes = 0;
    for entry in &plan.entries {
        bytes += entry.value.len();
        batch.puts.push((entry.key.clone(), entry.value.clone()));
        if bytes >= BATCH_BYTES {
            base.write(&std::mem::take(&mut batch), false).map_err(failed)?;
            bytes = 0;
        }
    }
    batch.puts.push((META_KEY.to_vec(), plan.meta.encode()));
    base.write(&batch, true).map_err(failed)
}

/// The new data is what is acknowledged from now on.
fn mark(directory: &Directory, plan: &Plan) -> Result<(), KvError> {
    let acknowledged = Acknowledged { sequence: plan.meta.sequence, head: plan.meta.head };
    let written = match fs::remove_file(directory.mark()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Mark::open(&directory.mark()).and_then(|mut mark| {
            mark.write(acknowledged)?;
            mark.sync()
        }),
    };
    written.map_err(|error| io_error(directory.path(), "cannot be written", error))
}
