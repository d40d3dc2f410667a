//! One value on its way to the current key.

use std::{mem, sync::Arc, time::Duration};

use bytes::Bytes;
use kubestore_kv::{GetRequest, KeyValue, Kv, KvError, KvErrorKind, PutRequest, Revision, WriteOutcome};
use kubestore_transform::{Transformer, ValueContext};

use super::pacer::Pacer;
use crate::{
    failure::{FailureCause, Problem},
    retry::Retry,
    rules,
};

/// How often a value that changes again and again is tried in one pass.
const MOST_TRIES: u64 = 32;
/// How long the keys of a lease that ended may still be there.
const LEASE_PAUSE: Duration = Duration::from_millis(20);
const CONTENDED: &str =
    "it was changed again and again while it was to be rewritten; do it again when it is left alone";

/// What all values of a job share.
#[derive(Debug)]
pub(super) struct Rewriter<'a> {
    pub(super) kv: &'a dyn Kv,
    pub(super) pacer: Pacer,
    pub(super) dry_run: bool,
    pub(super) retry_for: Duration,
}

/// What became of one value.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) fate: Fate,
    /// Whether it was stale when it was listed, and is or could be so no more.
    pub(super) was_stale: bool,
    /// How often it had changed since it was read.
    pub(super) retries: u64,
    /// The revision of the value that was judged last.
    pub(super) last_read: Revision,
}

impl Settled {
    /// A value that nothing can be done with.
    pub(super) fn unread(read: Revision, problem: Problem) -> Self {
        Self { fate: Fate::Failed(problem), was_stale: false, retries: 0, last_read: read }
    }
}

#[derive(Debug)]
pub(super) enum Fate {
    Fresh,
    Rewritten,
    Vanished,
    Failed(Problem),
}

/// What one attempt came to.
enum Attempt {
    Done(Fate),
    /// The key is no longer what was read, but this.
    Changed(KeyValue),
    /// The lease that the key hangs on has ended.
    LeaseEnded,
    /// Nobody knows whether these bytes were written.
    Unknown(Bytes),
}

impl Rewriter<'_> {
    /// Rewrites a value if it is stale.
    ///
    /// Every write is conditional on the revision that was read, so that no edit is undone and nothing deleted comes back,
    /// whenever the future is dropped.
    pub(super) async fn settle(
        &self,
        mut kv: KeyValue,
        transformer: &Arc<dyn Transformer>,
    ) -> Result<Settled, KvError> {
        let mut retry = Retry::new(self.retry_for);
        let mut settled =
            Settled { fate: Fate::Vanished, was_stale: false, retries: 0, last_read: kv.mod_revision };
        loop {
            settled.last_read = kv.mod_revision;
            let (current, sealed) = match self.attempt(&mut kv, transformer, &mut retry).await? {
                Attempt::Done(fate) => {
                    settled.was_stale |= matches!(fate, Fate::Rewritten | Fate::Vanished);
                    return Ok(Settled { fate, ..settled });
                }
                Attempt::Changed(current) => (Some(current), None),
                Attempt::LeaseEnded => {
                    // Its keys go with it, but perhaps a moment later.
                    tokio::time::sleep(LEASE_PAUSE).await;
                    (self.read(&kv.key, &mut retry).await?, None)
                }
                Attempt::Unknown(sealed) => (self.read(&kv.key, &mut retry).await?, Some(sealed)),
            };
            settled.was_stale = true;
            settled.retries += 1;
            let Some(current) = current else { return Ok(settled) };
            // Only bytes that nobody else can have made prove that the write was ours.
            if sealed.is_some_and(|sealed| transformer.output_is_unique() && sealed == current.value) {
                return Ok(Settled { fate: Fate::Rewritten, ..settled });
            }
            if settled.retries >= MOST_TRIES {
                let problem = Problem::new(FailureCause::Contended, CONTENDED);
                return Ok(Settled { fate: Fate::Failed(problem), ..settled });
            }
            kv = current;
        }
    }

    /// Takes the value out of `kv`.
    async fn attempt(
        &self,
        kv: &mut KeyValue,
        transformer: &Arc<dyn Transformer>,
        retry: &mut Retry,
    ) -> Result<Attempt, KvError> {
        let sealed = match reseal(&**transformer, mem::take(&mut kv.value), &kv.key).await {
            Ok(None) => return Ok(Attempt::Done(Fate::Fresh)),
            Ok(Some(sealed)) => sealed,
            Err(problem) => return Ok(Attempt::Done(Fate::Failed(problem))),
        };
        if self.dry_run {
            return Ok(Attempt::Done(Fate::Rewritten));
        }
        self.pacer.turn().await;
        loop {
            let request = PutRequest::update(kv.key.clone(), sealed.clone(), kv.mod_revision);
            let error = match self.kv.optimistic_put(request.with_lease(kv.lease)).await {
                Ok(WriteOutcome::Done { .. }) => return Ok(Attempt::Done(Fate::Rewritten)),
                Ok(WriteOutcome::Conflict { current: Some(current), .. }) => {
                    return Ok(Attempt::Changed(current));
                }
                Ok(_) => return Ok(Attempt::Done(Fate::Vanished)),
                Err(error) => error,
            };
            match error.kind() {
                KvErrorKind::LeaseNotFound => return Ok(Attempt::LeaseEnded),
                KvErrorKind::OutcomeUnknown => return Ok(Attempt::Unknown(sealed)),
                KvErrorKind::TooLarge => return Ok(Attempt::Done(Fate::Failed(error.into()))),
                _ => retry.pause(error).await?,
            }
        }
    }

    async fn read(&self, key: &Bytes, retry: &mut Retry) -> Result<Option<KeyValue>, KvError> {
        loop {
            match self.kv.get(GetRequest::new(key.clone())).await {
                Ok(answer) => return Ok(answer.kv),
                Err(error) => retry.pause(error).await?,
            }
        }
    }
}

/// The value as it is to be stored; none if it is stored so already.
///
/// What is to be written was opened again first, and is the same inside: a fault of a cipher or of a machine must not reach
/// the only copy.
async fn reseal(transformer: &dyn Transformer, stored: Bytes, key: &Bytes) -> Result<Option<Bytes>, Problem> {
    let context = ValueContext::new(key);
    let opened = rules::open(transformer, stored, context).await?;
    if !opened.stale {
        return Ok(None);
    }
    let plain = opened.data;
    let sealed = transformer.transform_to_storage(plain.clone(), context).await?;
    match transformer.transform_from_storage(sealed.clone(), context).await {
        Ok(again) if again.data == plain && !again.stale => Ok(Some(sealed)),
        _ => Err(Problem::new(
            FailureCause::NotReversible,
            "what was to be written does not open to the same value again, and was not written; look at the value",
        )),
    }
}
