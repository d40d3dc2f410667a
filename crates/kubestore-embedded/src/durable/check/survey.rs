//! Everything that can be read of some data, whatever else is damaged.

use std::collections::BTreeMap;

use super::{
    super::{
        base::Base,
        codec::{self, META_KEY, Meta, Read},
    },
    report::{Problem, ProblemKind},
};
use crate::{lease::Lease, record::Record};

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) meta: Option<Meta>,
    /// Number and digest of what was read, as the summary has them of what was written.
    pub(super) found: Option<Meta>,
    pub(super) leases: BTreeMap<i64, Lease>,
    /// By revision and number within it.
    pub(super) records: BTreeMap<(i64, u32), Record>,
    pub(super) bytes: u64,
    pub(super) problems: Vec<Problem>,
}

impl Survey {
    /// Reads all of `base`. `head` is a revision that must be there at least.
    pub(super) fn of(base: &dyn Base, head: i64) -> Self {
        let mut survey = Self::default();
        let scanned = base.scan(&mut |key, value| {
            survey.visit(key, value);
            Ok(())
        });
        if let Err(error) = scanned {
            let last = survey.records.keys().last().map_or(0, |(revision, _)| *revision);
            survey.problems.push(Problem::new(
                ProblemKind::Unreadable,
                format!("a table cannot be read after revision {last}: {error}"),
            ));
            survey.read_singly(base, last, head);
        }
        survey
    }

    /// Where there is no way through, entries are asked for one by one.
    fn read_singly(&mut self, base: &dyn Base, last: i64, head: i64) {
        if self.meta.is_none()
            && let Ok(Some(value)) = base.get(META_KEY)
        {
            self.visit(META_KEY, &value);
        }
        let last_lease = self.meta.map_or(0, |meta| meta.last_lease);
        for id in 1..=last_lease {
            if !self.leases.contains_key(&id) {
                let key = codec::lease_key(id);
                if let Ok(Some(value)) = base.get(&key) {
                    self.visit(&key, &value);
                }
            }
        }
        for revision in last..=self.meta.map_or(head, |meta| meta.head.max(head)) {
            for number in 0.. {
                let key = codec::record_key(revision, number);
                if self.records.contains_key(&(revision, number)) {
                    continue;
                }
                match base.get(&key) {
                    Ok(Some(value)) => self.visit(&key, &value),
                    Ok(None) | Err(_) => break,
                }
            }
        }
    }

    fn visit(&mut self, key: &[u8], value: &[u8]) {
        let (read, checksum) = match codec::decode(key, value) {
            Ok(read) => read,
            Err(damaged) if key == META_KEY => {
                return self.problems.push(Problem::new(ProblemKind::Summary, damaged.0));
            }
            Err(damaged) => return self.problems.push(Problem::new(ProblemKind::DamagedEntry, damaged.0)),
        };
        self.bytes += (key.len() + value.len()) as u64;
        if matches!(read, Read::Lease(..) | Read::Record(_)) {
            self.found.get_or_insert(Meta::EMPTY).add(checksum);
        }
        match read {
            Read::Meta(meta) => self.meta = Some(meta),
            Read::Lease(id, lease) => {
                self.leases.insert(id, lease);
            }
            Read::Record(record) => {
                self.records.insert((record.modified, record.number), record);
            }
            Read::Tick => {}
        }
    }
}
