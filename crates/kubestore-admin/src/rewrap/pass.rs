//! Passes over all keys, until one finds nothing to do.

use std::{pin::pin, sync::Arc};

use bytes::Bytes;
use futures_util::StreamExt;
use kubestore_kv::{KeyValue, KvError, Revision};
use kubestore_transform::{EncryptionConfig, Transformer};

use super::{
    RewrapCounts, RewrapOptions, RewrapReport,
    value::{Fate, Rewriter, Settled},
};
use crate::{
    Failures, ResourceId, Scope,
    key_map::KeyMap,
    progress::Meter,
    rules::{self, Rules},
    scan::{self, Scan},
};

/// A re-encryption under way.
#[derive(Debug)]
pub(super) struct Job<'a> {
    scope: &'a Scope,
    options: &'a RewrapOptions,
    rewriter: &'a Rewriter<'a>,
    finder: Finder<'a>,
    pub(super) report: RewrapReport,
    /// The head when the first pass began.
    start: Option<Revision>,
}

/// Finds out whose a key is and what opens its value.
#[derive(Debug)]
struct Finder<'a> {
    rules: Rules<'a>,
    map: KeyMap,
}

/// A value that is to be settled.
struct Task {
    kv: KeyValue,
    resource: ResourceId,
    /// None if it cannot be told which rule applies.
    transformer: Option<Arc<dyn Transformer>>,
}

/// A value that was settled.
struct Done {
    key: Bytes,
    resource: ResourceId,
    read: Revision,
    settled: Settled,
}

impl<'a> Job<'a> {
    pub(super) fn new(
        scope: &'a Scope,
        config: &'a EncryptionConfig,
        options: &'a RewrapOptions,
        rewriter: &'a Rewriter<'a>,
    ) -> Self {
        Self {
            scope,
            options,
            rewriter,
            finder: Finder { rules: Rules::new(config), map: KeyMap::new(scope.prefix()) },
            report: RewrapReport { dry_run: options.dry_run, ..RewrapReport::default() },
            start: None,
        }
    }

    pub(super) async fn run(&mut self) -> Result<(), KvError> {
        while !self.report.complete && self.report.passes < self.options.most_passes {
            self.pass().await?;
        }
        Ok(())
    }

    async fn pass(&mut self) -> Result<(), KvError> {
        let (kv, retry_for) = (self.rewriter.kv, self.options.retry_for);
        let prefixes = self.scope.key_prefixes();
        let total = scan::count(kv, &prefixes, retry_for).await?;
        let scan = Scan::begin(kv, prefixes, retry_for).await?;
        let pass_start = scan.start();
        let job_start = *self.start.get_or_insert(pass_start);
        begin_pass(&mut self.report, pass_start);
        let mut meter =
            Meter::start(&self.options.observer, self.report.passes, total, self.report.total.rewritten);

        let (finder, scope, rewriter) = (&mut self.finder, self.scope, self.rewriter);
        let settling = scan.into_stream().map(|kv| {
            let task = kv.map(|kv| finder.task(kv, scope));
            async move {
                match task? {
                    None => Ok(None),
                    Some(task) => task.settle(rewriter).await.map(Some),
                }
            }
        });
        let mut settling = pin!(settling.buffer_unordered(self.options.concurrency));
        let mut stale = 0_u64;
        while let Some(done) = settling.next().await {
            let done: Option<Done> = done?;
            if let Some(done) = done {
                stale += u64::from(done.settled.was_stale && done.read <= pass_start);
                note(&mut self.report, done, job_start);
            }
            let (written, failed) = (self.report.total.rewritten, self.report.failures.total);
            meter.advance(|progress| {
                progress.done += 1;
                (progress.written, progress.failed) = (written, failed);
            });
        }
        self.report.complete = stale == 0 || self.options.dry_run;
        Ok(())
    }
}

impl Finder<'_> {
    /// None for a key that is not wanted.
    fn task(&mut self, kv: KeyValue, scope: &Scope) -> Option<Task> {
        let owner = self.map.owner(&kv.key);
        if !scope.contains(&owner.id) {
            return None;
        }
        let transformer = self.rules.transformer(&owner);
        Some(Task { kv, resource: owner.id, transformer })
    }
}

impl Task {
    async fn settle(self, rewriter: &Rewriter<'_>) -> Result<Done, KvError> {
        let Self { kv, resource, transformer } = self;
        let (key, read) = (kv.key.clone(), kv.mod_revision);
        let settled = match transformer {
            Some(transformer) => rewriter.settle(kv, &transformer).await?,
            None => Settled::unread(read, rules::undecided(&resource)),
        };
        Ok(Done { key, resource, read, settled })
    }
}

fn begin_pass(report: &mut RewrapReport, start: Revision) {
    report.passes += 1;
    report.revision = start.0;
    // Failures are those of the last pass.
    report.failures = Failures::default();
    report.total.failed = 0;
    report.resources.values_mut().for_each(|counts| counts.failed = 0);
}

fn note(report: &mut RewrapReport, done: Done, job_start: Revision) {
    let Done { key, resource, settled, .. } = done;
    let Settled { fate, was_stale, retries, last_read } = settled;
    let counted = u64::from(report.passes == 1 || was_stale);
    let mut counts = RewrapCounts { seen: counted, retries, ..RewrapCounts::default() };
    match fate {
        Fate::Fresh => counts.fresh = counted,
        Fate::Rewritten => {
            counts.rewritten = 1;
            report.written_meanwhile += u64::from(last_read > job_start);
        }
        Fate::Vanished => counts.vanished = 1,
        Fate::Failed(problem) => {
            counts.failed = 1;
            report.failures.add(problem.of(&key, &resource));
        }
    }
    report.total += counts;
    *report.resources.entry(resource).or_default() += counts;
}
