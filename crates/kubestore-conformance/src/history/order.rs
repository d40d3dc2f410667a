//! Revisions against time.

use kubestore_kv::{Revision, WriteOutcome};

use super::{Answer, Asked, Attempt, History, Moment, Report, Told, ViolationKind, truth::expects_nothing};

/// When a revision was the newest, as far as one answer tells.
struct Point<'a> {
    revision: Revision,
    /// Whether it is a reading of the state that the write of this revision left.
    reading: bool,
    begun: Moment,
    ended: Option<Moment>,
    teller: Teller<'a>,
}

#[derive(Clone, Copy)]
enum Teller<'a> {
    Attempt(&'a Attempt),
    /// A watch of this client.
    Watch(usize),
}

/// Reports where what ended before something else began has a higher revision, and where writes share one.
pub(super) fn check(history: &History, report: &mut Report) {
    let mut points: Vec<_> = history.attempts.iter().flat_map(points_of).collect();
    for watch in &history.watches {
        points.extend(watch.told.iter().map(|(at, told)| {
            let (Told::Events { through: revision, .. } | Told::Progress(revision)) = told;
            // It may be long past when it is told.
            let teller = Teller::Watch(watch.client);
            Point { revision: *revision, reading: true, begun: 0, ended: Some(*at), teller }
        }));
    }
    points.sort_by_key(|point| (point.revision, point.reading));
    check_shared(&points, report);
    // The first to end of those with a higher revision.
    let mut first: Option<(Moment, &Point<'_>)> = None;
    for group in points.chunk_by(|a, b| (a.revision, a.reading) == (b.revision, b.reading)).rev() {
        for point in group {
            if let Some((ended, higher)) = first
                && ended < point.begun
            {
                report.add(
                    ViolationKind::RevisionsBack,
                    format!("{} came after {}", text(point), text(higher)),
                );
            }
        }
        for point in group {
            if let Some(ended) = point.ended
                && first.is_none_or(|(earliest, _)| ended < earliest)
            {
                first = Some((ended, point));
            }
        }
    }
}

fn check_shared(points: &[Point<'_>], report: &mut Report) {
    let writes: Vec<_> = points.iter().filter(|point| !point.reading).collect();
    for pair in writes.windows(2).filter(|pair| pair[0].revision == pair[1].revision) {
        report.add(ViolationKind::RevisionShared, format!("{} and {}", text(pair[0]), text(pair[1])));
    }
}

fn points_of(attempt: &Attempt) -> Vec<Point<'_>> {
    let point = |revision: Revision, reading, begun| Point {
        revision,
        reading,
        begun,
        ended: attempt.ended,
        teller: Teller::Attempt(attempt),
    };
    match (&attempt.asked, &attempt.answer) {
        (asked, Answer::Written(WriteOutcome::Done { revision })) => {
            let nothing = matches!(asked, Asked::Delete(delete) if expects_nothing(delete.expect));
            vec![point(*revision, nothing, attempt.begun)]
        }
        (_, Answer::Written(WriteOutcome::Conflict { head, .. })) => {
            vec![point(*head, true, attempt.begun)]
        }
        (Asked::Get(get), Answer::Key { head, .. }) => {
            let past = past(get.revision).map(|revision| point(revision, true, 0));
            past.into_iter().chain([point(*head, true, attempt.begun)]).collect()
        }
        (Asked::List(list), Answer::Range { revision, .. }) => {
            let begun = if past(list.revision).is_some() { 0 } else { attempt.begun };
            vec![point(*revision, true, begun)]
        }
        (Asked::Compact(revision), Answer::Compacted) => vec![point(*revision, true, 0)],
        _ => Vec::new(),
    }
}

/// The revision to read at, unless it is the newest that is wanted.
pub(super) fn past(revision: Option<Revision>) -> Option<Revision> {
    revision.filter(|revision| revision.0 > 0)
}

fn text(point: &Point<'_>) -> String {
    match point.teller {
        Teller::Attempt(attempt) => attempt.to_string(),
        Teller::Watch(client) => {
            let at = point.ended.unwrap_or_default();
            format!("revision {} told to a watch of client {client} in {at}", point.revision)
        }
    }
}
