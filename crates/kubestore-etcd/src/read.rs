//! Reads: one key, a range, a count.

use bytes::Bytes;
use etcd_client::{GetOptions, proto::PbRangeResponse};
use kubestore_kv::{
    GetRequest, GetResponse, KvError, KvErrorKind, ListRequest, ListResponse, Revision, prefix_end,
};

use crate::{
    convert::{head, key_value, single},
    error::Failure,
    kv::Shared,
};

impl Shared {
    pub(crate) async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        let range = Range { key: request.key.clone(), revision: request.revision, ..Range::default() };
        let answered = match self.range("get", &range).await {
            Ok(answer) => head(answer.header.as_ref()).map(|head| GetResponse::new(single(answer), head)),
            Err(failure) => Err(failure),
        };
        match answered {
            Ok(answer) => Ok(answer),
            Err(failure) => Err(self.explain(failure, "get", &request.key, request.revision).await),
        }
    }

    pub(crate) async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        let range = Range::of_list(&request);
        match self.range("list", &range).await.and_then(|answer| list_response(answer, &range)) {
            Ok(answer) => Ok(answer),
            // What does not fit into one message is put together from several, of one revision.
            Err(failure) if failure.answer_too_large => crate::pages::list_in_parts(self, request).await,
            Err(failure) => Err(self.explain(failure, "list", &request.prefix, request.revision).await),
        }
    }

    pub(crate) async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        let range = Range { count_only: true, ..Range::of_list(&ListRequest::new(prefix.clone())) };
        let answer =
            self.range("count", &range).await.map_err(|failure| failure.read("count", Some(&prefix)))?;
        Ok(answer.count)
    }

    /// One range request, tried again as reads are.
    pub(crate) async fn range(
        &self,
        operation: &'static str,
        range: &Range,
    ) -> Result<PbRangeResponse, Failure> {
        let before = self.history.newest();
        let answer = self
            .read(operation, |member| {
                let (key, options) = (range.key.clone(), range.options());
                async move { Ok(member.kv.clone().get(key, Some(options)).await?.0) }
            })
            .await?;
        self.history.observe(before, head(answer.header.as_ref())?);
        Ok(answer)
    }

    /// The newest revision, from a read that the cluster had to agree on.
    pub(crate) async fn head(&self, operation: &'static str) -> Result<Revision, Failure> {
        let range = Range { key: Bytes::from_static(b"health"), count_only: true, ..Range::default() };
        let answer = self.range(operation, &range).await?;
        head(answer.header.as_ref())
    }

    /// The error of a read at `revision`, with the newest revision where that is what matters: etcd does not say it.
    pub(crate) async fn explain(
        &self,
        failure: Failure,
        operation: &'static str,
        key: &Bytes,
        revision: Option<Revision>,
    ) -> KvError {
        if let (KvErrorKind::FutureRevision, Some(wanted)) = (failure.kind, revision)
            && let Ok(head) = self.head(operation).await
        {
            let error = KvError::future_revision(operation, wanted, head).with_key(key.clone());
            return match failure.into_cause() {
                Some(cause) => error.with_source(cause),
                None => error,
            };
        }
        failure.read(operation, Some(key))
    }
}

/// A range as etcd is asked for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Range {
    /// First key.
    pub(crate) key: Bytes,
    /// First key after the range; empty for the one key.
    pub(crate) end: Bytes,
    pub(crate) revision: Option<Revision>,
    /// 0 is all.
    pub(crate) limit: u64,
    pub(crate) keys_only: bool,
    pub(crate) count_only: bool,
}

impl Range {
    pub(crate) fn of_list(request: &ListRequest) -> Self {
        // A start before the prefix would bring in keys that do not begin with it.
        let first = request.first_key().max(&request.prefix);
        Self {
            key: non_empty(first),
            end: range_end(&request.prefix),
            revision: request.revision,
            limit: request.limit.map_or(0, std::num::NonZeroU64::get),
            keys_only: request.keys_only,
            count_only: false,
        }
    }

    pub(crate) fn options(&self) -> GetOptions {
        let mut options = GetOptions::new().with_limit(i64::try_from(self.limit).unwrap_or(i64::MAX));
        if !self.end.is_empty() {
            options = options.with_range(self.end.clone());
        }
        if let Some(revision) = self.revision {
            options = options.with_revision(revision.0);
        }
        if self.keys_only {
            options = options.with_keys_only();
        }
        if self.count_only {
            options = options.with_count_only();
        }
        options
    }
}

/// etcd has no empty key; its first one is a zero byte.
pub(crate) fn non_empty(key: &Bytes) -> Bytes {
    if key.is_empty() { Bytes::from_static(b"\0") } else { key.clone() }
}

/// Where the range of a prefix ends, in etcd's terms: a zero byte means the end of the key space.
pub(crate) fn range_end(prefix: &[u8]) -> Bytes {
    prefix_end(prefix).unwrap_or_else(|| Bytes::from_static(b"\0"))
}

pub(crate) fn list_response(answer: PbRangeResponse, range: &Range) -> Result<ListResponse, Failure> {
    let head = head(answer.header.as_ref())?;
    if answer.more && answer.kvs.is_empty() && !range.count_only {
        return Err(Failure::malformed("no keys, but more to come"));
    }
    let count = count(answer.more, answer.kvs.len(), answer.count);
    let kvs = answer.kvs.into_iter().map(key_value).collect();
    Ok(ListResponse::new(kvs, head, answer.more, count))
}

/// kine counts only when the limit cut the range short; else what came is all there is.
fn count(more: bool, returned: usize, counted: i64) -> Option<i64> {
    let returned = i64::try_from(returned).unwrap_or(i64::MAX);
    if more { (counted > returned).then_some(counted) } else { Some(returned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_keeps_to_its_prefix() {
        for (prefix, start, key, end) in [
            ("/a/", None, "/a/", "/a0"),
            ("/a/", Some("/a/x"), "/a/x", "/a0"),
            ("/a/", Some("/"), "/a/", "/a0"),
            ("", None, "\0", "\0"),
            ("", Some("b"), "b", "\0"),
        ] {
            let mut request = ListRequest::new(prefix);
            request.start = start.map(Bytes::from);
            let range = Range::of_list(&request);
            assert_eq!(
                (&range.key[..], &range.end[..]),
                (key.as_bytes(), end.as_bytes()),
                "{prefix:?} {start:?}"
            );
        }
    }

    #[test]
    fn a_count_that_the_server_did_not_make_is_not_invented() {
        assert_eq!(count(false, 3, 3), Some(3));
        assert_eq!(count(false, 3, 0), Some(3));
        assert_eq!(count(true, 3, 9), Some(9));
        assert_eq!(count(true, 3, 0), None);
    }
}
