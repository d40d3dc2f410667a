//! One look into a directory.

use std::path::Path;

use kubestore_kv::{KvError, Revision};

use super::{
    super::{
        directory::{Look, io_error},
        fjall::FjallBase,
        journal,
        mark::{Acknowledged, Mark},
    },
    judge,
    report::{CheckOptions, CheckReport, Problem, ProblemKind},
    scratch::Scratch,
    survey::Survey,
};

/// What was seen.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) survey: Survey,
    pub(super) acknowledged: Option<Acknowledged>,
    pub(super) report: CheckReport,
}

/// Looks into the directory at `path`, which must not be open elsewhere.
pub(super) fn look(path: &Path, options: &CheckOptions) -> Result<Looked, KvError> {
    // Holds the lock until the end.
    let look = Look::at(path)?;
    read(look.path(), options)
}

/// The same, of a directory whose lock is held already.
pub(super) fn read(path: &Path, options: &CheckOptions) -> Result<Looked, KvError> {
    let mut problems = Vec::new();
    let acknowledged = read_mark(path, &mut problems);
    let failed = |error| io_error(path, "cannot be copied to be looked at; name another place for it", error);
    let scratch = Scratch::copy(&path.join("data"), options.scratch.as_deref()).map_err(failed)?;
    let torn_end = journal::read_all(&scratch.path())
        .is_ok_and(|journals| journals.last().is_some_and(|journal| journal.torn));
    // The copy may be cut as short as it has to be; what is lost by that shows.
    let opened = journal::settle_end(&scratch.path(), None)
        .map_err(Into::into)
        .and_then(|settled| settled.map_err(Into::into))
        .and_then(|()| FjallBase::open(&scratch.path(), None));
    let mut survey = match opened {
        Ok(base) => Survey::of(&base, acknowledged.map_or(1, |acknowledged| acknowledged.head)),
        Err(error) => {
            let message = format!("the data cannot be opened: {error}");
            problems.push(Problem::new(ProblemKind::Unreadable, message));
            Survey::default()
        }
    };
    survey.problems.append(&mut problems);
    if survey.meta.is_some() || !survey.records.is_empty() || survey.problems.is_empty() {
        judge::judge(&mut survey, acknowledged);
    }
    let (head, compacted) = survey.meta.map_or((1, 0), |meta| (meta.head, meta.compacted));
    let report = CheckReport {
        head: Revision(head),
        compacted: Revision(compacted),
        keys: judge::newest(&survey).len() as u64,
        versions: survey.records.len() as u64,
        leases: survey.leases.len() as u64,
        bytes: survey.bytes,
        problems: survey.problems.clone(),
        torn_end,
    };
    Ok(Looked { survey, acknowledged, report })
}

fn read_mark(path: &Path, problems: &mut Vec<Problem>) -> Option<Acknowledged> {
    let read = Mark::look(&path.join("acknowledged"));
    let wrong = match read {
        Ok(Some(acknowledged)) => return Some(acknowledged),
        Ok(None) => "the file acknowledged is empty".to_owned(),
        Err(error) => format!("the file acknowledged is missing or damaged: {error}"),
    };
    problems.push(Problem::new(ProblemKind::Mark, wrong));
    None
}
