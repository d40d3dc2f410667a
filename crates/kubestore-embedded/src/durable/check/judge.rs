//! Whether what was read is all there is and fits together.

use std::{collections::BTreeMap, ops::RangeInclusive};

use bytes::Bytes;

use super::{
    super::{codec::Meta, mark::Acknowledged},
    report::{Problem, ProblemKind},
    survey::Survey,
};
use crate::record::Record;

/// Problems of one kind named at most; after that it is only said how many more there are.
const NAMED: usize = 100;

/// The newest version of each key, deletions left out.
pub(super) fn newest(survey: &Survey) -> BTreeMap<&Bytes, &Record> {
    let mut newest = BTreeMap::new();
    for record in survey.records.values() {
        if record.is_tombstone() {
            newest.remove(&record.key);
        } else {
            newest.insert(&record.key, record);
        }
    }
    newest
}

/// Adds to the survey what does not fit, and puts the worst first.
pub(super) fn judge(survey: &mut Survey, acknowledged: Option<Acknowledged>) {
    let mut problems = Vec::new();
    let meta = survey.meta.unwrap_or_else(|| {
        if !survey.problems.iter().any(|problem| problem.kind == ProblemKind::Summary) {
            problems.push(Problem::new(ProblemKind::Summary, "the summary of the data is missing"));
        }
        let last = survey.records.keys().last().map_or(1, |(revision, _)| *revision);
        Meta { head: last, ..Meta::EMPTY }
    });
    if let Some(acknowledged) = acknowledged
        && survey.meta.is_some_and(|meta| meta.sequence < acknowledged.sequence)
    {
        problems.push(lost_end(meta.head, acknowledged));
    }
    // Without the summary it is not known where they begin.
    let gaps = if survey.meta.is_some() { gaps(survey, meta) } else { Vec::new() };
    for missing in gaps {
        let (first, last) = (*missing.start(), *missing.end());
        let message = if first == last {
            format!("revision {first} is missing or damaged")
        } else {
            format!("revisions {first} to {last} are missing or damaged")
        };
        problems.push(Problem::of_revisions(ProblemKind::MissingRevisions, missing, message));
    }
    problems.extend(versions(survey, meta.compacted));
    problems.extend(leases(survey));
    let found = survey.found.unwrap_or(Meta::EMPTY);
    let adds_up = (found.entries, found.digest) == (meta.entries, meta.digest);
    if problems.is_empty() && survey.problems.is_empty() && !adds_up {
        let message =
            format!("there are {} entries that do not add up to the {} written", found.entries, meta.entries);
        problems.push(Problem::new(ProblemKind::Summary, message));
    }
    survey.problems.append(&mut problems);
    survey.problems.sort_by_key(|problem| problem.kind);
    shorten(&mut survey.problems);
}

fn lost_end(head: i64, acknowledged: Acknowledged) -> Problem {
    if head < acknowledged.head {
        let lost = head + 1..=acknowledged.head;
        let message = format!(
            "revisions {} to {} were acknowledged and are missing at the end",
            lost.start(),
            lost.end()
        );
        Problem::of_revisions(ProblemKind::LostEnd, lost, message)
    } else {
        Problem::new(
            ProblemKind::LostEnd,
            "the newest leases or compactions were acknowledged and are missing at the end",
        )
    }
}

/// Revisions from the compacted one to the head of which a part is not there.
fn gaps(survey: &Survey, meta: Meta) -> Vec<RangeInclusive<i64>> {
    let mut gaps: Vec<RangeInclusive<i64>> = Vec::new();
    let mut miss = |first: i64, last: i64| match gaps.last_mut() {
        Some(gap) if *gap.end() + 1 >= first => *gap = *gap.start()..=last,
        _ => gaps.push(first..=last),
    };
    let first = meta.compacted.max(2);
    let (mut next, mut number) = (first, 0);
    for (revision, part) in survey.records.keys().copied().filter(|(revision, _)| *revision >= first) {
        if revision >= next {
            if revision > next {
                miss(next, revision - 1);
            }
            (next, number) = (revision + 1, 0);
        }
        if part != number {
            miss(revision, revision);
        }
        number = part + 1;
    }
    if next <= meta.head {
        miss(next, meta.head);
    }
    // After a repair nothing is left of the compacted revision itself.
    if gaps.first() == Some(&(meta.compacted..=meta.compacted)) {
        gaps.remove(0);
    }
    gaps
}

/// Each version is one more than the one before, or begins anew. What the compacted revision replaced is gone.
fn versions(survey: &Survey, compacted: i64) -> Vec<Problem> {
    let mut last: BTreeMap<&Bytes, &Record> = BTreeMap::new();
    let mut problems = Vec::new();
    for record in survey.records.values() {
        let before = last.insert(&record.key, record);
        if record.is_tombstone() || record.modified <= compacted {
            continue;
        }
        let begins = record.version == 1 && record.created == record.modified;
        let fits = match before {
            Some(before) if !before.is_tombstone() => {
                record.version == before.version + 1 && record.created == before.created
            }
            _ => begins,
        };
        if !fits {
            let message = format!(
                "version {} of a key at revision {} does not follow",
                record.version, record.modified
            );
            problems.push(Problem::of_revisions(
                ProblemKind::Version,
                record.modified..=record.modified,
                message,
            ));
        }
    }
    problems
}

fn leases(survey: &Survey) -> Vec<Problem> {
    let orphans = newest(survey).into_values().filter(|record| is_orphan(survey, record));
    orphans
        .map(|record| {
            let message =
                format!("lease {} of the key of revision {} is not there", record.lease, record.modified);
            Problem::of_revisions(ProblemKind::Lease, record.modified..=record.modified, message)
        })
        .collect()
}

/// Whether a key would never end although it should.
pub(super) fn is_orphan(survey: &Survey, record: &Record) -> bool {
    record.lease != 0 && !survey.leases.contains_key(&record.lease)
}

fn shorten(problems: &mut Vec<Problem>) {
    let mut counts: BTreeMap<ProblemKind, usize> = BTreeMap::new();
    problems.retain(|problem| {
        let count = counts.entry(problem.kind).or_default();
        *count += 1;
        *count <= NAMED
    });
    for (kind, count) in counts.into_iter().filter(|(_, count)| *count > NAMED) {
        problems.push(Problem::new(kind, format!("and {} more of this kind", count - NAMED)));
    }
}
