//! Checks a history as a whole.

use kubestore_kv::ListRequest;

use super::{
    Answer, Asked, Attempt, History, Report, Told, ViolationKind, key, order, truth::Truth, watches,
};

impl History {
    /// Looks for what a backend that keeps its promises could not have told.
    ///
    /// Takes about as long as sorting the history; only writes of unknown outcome have to be searched a place for.
    #[must_use]
    pub fn check(&self) -> Report {
        let told = self.watches.iter().flat_map(|watch| &watch.told);
        let events = told.map(|(_, told)| match told {
            Told::Events { events, .. } => events.len(),
            Told::Progress(_) => 0,
        });
        let mut report = Report {
            operations: self.attempts.len(),
            unknown: self.attempts.iter().filter(|attempt| attempt.is_unknown_write()).count(),
            watches: self.watches.len(),
            events: events.sum(),
            ..Report::default()
        };
        let truth = Truth::of(self, &mut report);
        order::check(self, &mut report);
        self.attempts.iter().for_each(|attempt| check_list(attempt, &mut report));
        key::check(self, &truth, &mut report);
        watches::check(self, &truth, &mut report);
        report
    }
}

fn check_list(attempt: &Attempt, report: &mut Report) {
    let (Asked::List(list), Answer::Range { kvs, more, count, .. }) = (&attempt.asked, &attempt.answer)
    else {
        return;
    };
    let limit = list.limit.map_or(u64::MAX, Into::into);
    let listed = kvs.len() as u64;
    let whole = count.map_or(listed, i64::cast_unsigned);
    let wrong = if !kvs.is_sorted_by(|a, b| a.key < b.key) {
        "the keys do not ascend"
    } else if !kvs.iter().all(|kv| in_range(list, &kv.key)) {
        "a key is not in the range"
    } else if listed > limit || (*more && listed != limit) {
        "it does not keep to its limit"
    } else if (*more && count.is_some() && whole <= listed) || (!*more && whole != listed) {
        "it is wrong about what follows"
    } else {
        return;
    };
    report.add(ViolationKind::ListMalformed, format!("{attempt}: {wrong}"));
}

fn in_range(list: &ListRequest, key: &[u8]) -> bool {
    key.starts_with(&list.prefix) && key >= &list.first_key()[..]
}
