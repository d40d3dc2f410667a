//! Reading a key space part by part, in bounded memory, whatever happens to old revisions meanwhile.

use std::{collections::VecDeque, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::{Stream, StreamExt, stream};
use kubestore_kv::{
    BoxStream, GetRequest, KeyValue, Kv, KvError, KvErrorKind, ListChunk, ListRequest, Revision,
};

use crate::retry::Retry;

/// How often in a row a list may find its revision compacted before it has read anything.
const MOST_COMPACTIONS: u32 = 100;

/// A list of everything under some prefixes, in ascending order of keys, each key once.
///
/// It is of one revision, until that is compacted: then it goes on behind the last key, at the head of that moment. What
/// was there when it began and still is there has been read at its end, then too.
pub(crate) struct Scan<'a> {
    kv: &'a dyn Kv,
    prefixes: VecDeque<Bytes>,
    /// Where the present prefix goes on; none is its beginning.
    from: Option<Bytes>,
    revision: Revision,
    start: Revision,
    stream: Option<BoxStream<Result<ListChunk, KvError>>>,
    retry: Retry,
    compactions: u32,
    /// Whether a compaction of its revision is an error.
    strict: bool,
}

impl<'a> Scan<'a> {
    pub(crate) async fn begin(
        kv: &'a dyn Kv,
        prefixes: Vec<Bytes>,
        retry_for: Duration,
    ) -> Result<Self, KvError> {
        Self::begin_at(kv, prefixes, None, false, retry_for).await
    }

    /// Begins at a revision, or at the head if there is none. A strict one is of that revision only.
    pub(crate) async fn begin_at(
        kv: &'a dyn Kv,
        prefixes: Vec<Bytes>,
        revision: Option<Revision>,
        strict: bool,
        retry_for: Duration,
    ) -> Result<Self, KvError> {
        let mut retry = Retry::new(retry_for);
        let first = prefixes.first().cloned().unwrap_or_default();
        let start = match revision {
            Some(revision) => revision,
            None => head(kv, &first, &mut retry).await?,
        };
        Ok(Self {
            kv,
            prefixes: prefixes.into(),
            from: None,
            revision: start,
            start,
            stream: None,
            retry,
            compactions: 0,
            strict,
        })
    }

    /// The revision that the first part is of.
    pub(crate) fn start(&self) -> Revision {
        self.start
    }

    /// The revision of what is read now.
    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// The next part, which may be empty; none at the end. Dropping the future loses nothing but its request.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<KeyValue>>, KvError> {
        while let Some(prefix) = self.prefixes.front() {
            let (kv, revision, from) = (self.kv, self.revision, &self.from);
            let stream = self.stream.get_or_insert_with(|| {
                let request = ListRequest::new(prefix.clone()).at(revision);
                kv.list_chunks(match from {
                    Some(from) => request.from_key(from.clone()),
                    None => request,
                })
            });
            // Backends in this process answer at once; others of the runtime shall have their turn all the same.
            tokio::task::yield_now().await;
            match stream.next().await {
                Some(Ok(chunk)) => {
                    self.retry.reset();
                    self.compactions = 0;
                    if let Some(last) = chunk.kvs.last() {
                        self.from = Some(after(&last.key));
                    }
                    if chunk.end.is_some() {
                        self.next_prefix();
                    }
                    return Ok(Some(chunk.kvs));
                }
                Some(Err(error)) => self.recover(error).await?,
                None => {
                    let cut = KvError::new(KvErrorKind::Unavailable, "list_chunks", "a list without its end");
                    self.recover(cut).await?;
                }
            }
        }
        Ok(None)
    }

    /// Value by value.
    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<KeyValue, KvError>> + Send + use<'a> {
        let nothing = Vec::new().into_iter();
        stream::try_unfold((self, nothing), |(mut scan, mut part)| async move {
            loop {
                if let Some(kv) = part.next() {
                    return Ok(Some((kv, (scan, part))));
                }
                match scan.next().await? {
                    Some(next) => part = next.into_iter(),
                    None => return Ok(None),
                }
            }
        })
    }

    fn next_prefix(&mut self) {
        self.prefixes.pop_front();
        self.from = None;
        self.stream = None;
    }

    /// Begins the rest of the list anew, unless the error says that there is no use in it.
    async fn recover(&mut self, error: KvError) -> Result<(), KvError> {
        self.stream = None;
        if error.kind() != KvErrorKind::Compacted {
            return self.retry.pause(error).await;
        }
        if self.strict {
            return Err(error);
        }
        self.compactions += 1;
        if self.compactions > MOST_COMPACTIONS {
            return Err(error);
        }
        let prefix = self.prefixes.front().cloned().unwrap_or_default();
        self.revision = head(self.kv, &prefix, &mut self.retry).await?;
        tracing::debug!(
            revision = self.revision.0,
            "the list's revision was compacted; going on at a newer one"
        );
        Ok(())
    }
}

/// How many keys there are under the prefixes, as an estimate for progress.
pub(crate) async fn count(kv: &dyn Kv, prefixes: &[Bytes], retry_for: Duration) -> Result<u64, KvError> {
    let mut retry = Retry::new(retry_for);
    let mut total = 0;
    for prefix in prefixes {
        total += loop {
            match kv.count(prefix.clone()).await {
                Ok(count) => break u64::try_from(count).unwrap_or_default(),
                Err(error) => retry.pause(error).await?,
            }
        };
    }
    Ok(total)
}

async fn head(kv: &dyn Kv, key: &Bytes, retry: &mut Retry) -> Result<Revision, KvError> {
    loop {
        match kv.get(GetRequest::new(key.clone())).await {
            Ok(answer) => return Ok(answer.head),
            Err(error) => retry.pause(error).await?,
        }
    }
}

/// The first key after `key`.
fn after(key: &[u8]) -> Bytes {
    let mut next = BytesMut::with_capacity(key.len() + 1);
    next.put_slice(key);
    next.put_u8(0);
    next.freeze()
}
