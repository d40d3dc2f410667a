//! What is different between two key spaces, or between two states of one.

mod options;
mod side;

use std::cmp::Ordering;

use bytes::Bytes;
use futures_util::{Stream, stream};
use kubestore_kv::{KeyValue, Kv};

pub use options::DiffOptions;

use self::side::Side;
use crate::{AdminError, Scope, progress::Meter};

/// A key that is not the same on both sides.
///
/// The values are as they are stored; `Debug` shows their lengths only.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The whole key.
    pub key: Bytes,
    /// What it has on the first side; none if it is not there.
    pub before: Option<KeyValue>,
    /// What it has on the second side; none if it is not there.
    pub after: Option<KeyValue>,
}

impl Difference {
    /// Whether the key is on the second side only.
    #[must_use]
    pub fn is_added(&self) -> bool {
        self.before.is_none()
    }

    /// Whether the key is on the first side only.
    #[must_use]
    pub fn is_removed(&self) -> bool {
        self.after.is_none()
    }

    /// Whether the key is on both sides.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        !self.is_added() && !self.is_removed()
    }
}

/// Compares two backends key by key: two snapshots, a snapshot and a server, or two revisions of either.
///
/// The stream gives the keys that are different, in their order. Two values are the same if their bytes are, and both or
/// neither have a lease; a value that was encrypted anew is another one. Each side is read at one revision, part by part
/// and in bounded memory. Dropping the stream stops it.
///
/// # Errors
/// The last item is [`AdminError::Compacted`] if one of the revisions was compacted meanwhile, else
/// [`AdminError::Backend`].
pub fn diff<'a, S: Into<Scope>>(
    before: &'a dyn Kv,
    after: &'a dyn Kv,
    scope: S,
    options: &DiffOptions,
) -> impl Stream<Item = Result<Difference, AdminError>> + Send + use<'a, S> {
    let start = State::Asked(before, after, scope.into(), options.clone());
    stream::try_unfold(start, |mut state| async {
        if let State::Asked(before, after, scope, options) = state {
            state = State::Running(Box::new(Running::begin(before, after, &scope, options).await?));
        }
        let State::Running(running) = &mut state else { return Ok(None) };
        let found = running.next().await?;
        Ok(found.map(|found| (found, state)))
    })
}

enum State<'a> {
    Asked(&'a dyn Kv, &'a dyn Kv, Scope, DiffOptions),
    Running(Box<Running<'a>>),
}

struct Running<'a> {
    before: Side<'a>,
    after: Side<'a>,
    options: DiffOptions,
    meter: Meter,
}

impl<'a> Running<'a> {
    async fn begin(
        before: &'a dyn Kv,
        after: &'a dyn Kv,
        scope: &Scope,
        options: DiffOptions,
    ) -> Result<Self, AdminError> {
        let before = Side::begin(before, scope, options.before, &options).await?;
        let after = Side::begin(after, scope, options.after, &options).await?;
        let meter = Meter::start(&options.observer, 1, before.total() + after.total(), 0);
        Ok(Self { before, after, options, meter })
    }

    /// The next difference; none at the end.
    async fn next(&mut self) -> Result<Option<Difference>, AdminError> {
        loop {
            let order = match (self.before.key().await?, self.after.key().await?) {
                (None, None) => return Ok(None),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(before), Some(after)) => before.cmp(after),
            };
            let before = if order.is_le() { self.before.take() } else { None };
            let after = if order.is_ge() { self.after.take() } else { None };
            let done = self.before.read() + self.after.read();
            self.meter.advance(|progress| progress.done = done);
            let same =
                before.as_ref().zip(after.as_ref()).is_some_and(|(before, after)| self.same(before, after));
            let key = before.as_ref().or(after.as_ref()).map(|kv| kv.key.clone());
            if let Some(key) = key.filter(|_| !same) {
                return Ok(Some(Difference { key, before, after }));
            }
        }
    }

    fn same(&self, before: &KeyValue, after: &KeyValue) -> bool {
        before.value == after.value
            && before.lease.is_some() == after.lease.is_some()
            && (!self.options.revisions || before.mod_revision == after.mod_revision)
    }
}
