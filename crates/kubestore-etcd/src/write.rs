//! Conditional writes, as the transactions that the reference sends and kine recognises.

use bytes::Bytes;
use etcd_client::{
    Compare, CompareOp, PutOptions, Txn, TxnOp,
    proto::{PbTxnOpResponse, PbTxnResponse},
};
use kubestore_kv::{
    DeleteRequest, Expect, KvError, KvErrorKind, OnFailure, PutRequest, Revision, WriteOutcome,
};

use crate::{
    convert::{head, single},
    error::Failure,
    kv::Shared,
};

const PUT: &str = "optimistic_put";
const DELETE: &str = "optimistic_delete";

impl Shared {
    pub(crate) async fn put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        let PutRequest { key, value, expect, lease, on_failure, .. } = request;
        let size = put_size(&key, value.len(), expect, lease.map_or(0, |lease| lease.0), on_failure);
        if let Some(limit) = self.options.max_request_bytes
            && size > limit
        {
            return Err(KvError::too_large(PUT, size, limit).with_key(key));
        }
        let options = lease.map(|lease| PutOptions::new().with_lease(lease.0));
        let put = TxnOp::put(key.clone(), value, options);
        self.transact(PUT, &key, expect, put, on_failure, size).await
    }

    pub(crate) async fn delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        let DeleteRequest { key, expect, on_failure, .. } = request;
        let delete = TxnOp::delete(key.clone(), None);
        self.transact(DELETE, &key, expect, delete, on_failure, key.len()).await
    }

    async fn transact(
        &self,
        operation: &'static str,
        key: &Bytes,
        expect: Expect,
        then: TxnOp,
        on_failure: OnFailure,
        size: usize,
    ) -> Result<WriteOutcome, KvError> {
        let compare = match expect {
            Expect::ModRevision(revision) => Compare::mod_revision(key.clone(), CompareOp::Equal, revision.0),
            Expect::Version(version) => Compare::version(key.clone(), CompareOp::Equal, version),
            other => {
                let message = format!("this backend does not know the condition {other:?}");
                return Err(KvError::new(KvErrorKind::Unsupported, operation, message).with_key(key.clone()));
            }
        };
        let txn = Txn::new().when([compare]).and_then([then]);
        let txn = match on_failure {
            OnFailure::Nothing => txn,
            OnFailure::Get => txn.or_else([TxnOp::get(key.clone(), None)]),
        };
        let before = self.history.newest();
        let answer =
            self.write(txn, |member, txn| async move { Ok(member.kv.clone().txn(txn).await?.0) }).await;
        if let Ok(PbTxnResponse { header: Some(header), .. }) = &answer {
            self.history.observe(before, Revision(header.revision));
        }
        match answer.and_then(|answer| outcome(answer, on_failure)) {
            Ok(outcome) => Ok(outcome),
            Err(failure) if failure.kind == KvErrorKind::TooLarge && !failure.answer_too_large => {
                let message = format!(
                    "the request has {size} bytes, more than the server takes (its --max-request-bytes); make the \
                     object smaller"
                );
                let error = KvError::new(KvErrorKind::TooLarge, operation, message).with_key(key.clone());
                Err(match failure.into_cause() {
                    Some(cause) => error.with_source(cause),
                    None => error,
                })
            }
            Err(failure) => Err(failure.write(operation, Some(key))),
        }
    }

    pub(crate) async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        const COMPACT: &str = "compact";
        let done =
            self.write(revision.0, |member, revision| async move {
                member.kv.clone().compact(revision, None).await
            })
            .await;
        let Err(failure) = done else { return Ok(()) };
        match failure.kind {
            KvErrorKind::Compacted => {
                let message = format!("revision {revision} was compacted before");
                let error = KvError::new(KvErrorKind::Compacted, COMPACT, message);
                Err(match failure.into_cause() {
                    Some(cause) => error.with_source(cause),
                    None => error,
                })
            }
            KvErrorKind::FutureRevision => match self.head(COMPACT).await {
                Ok(head) => Err(KvError::future_revision(COMPACT, revision, head)),
                Err(_) => Err(failure.write(COMPACT, None)),
            },
            _ => Err(failure.write(COMPACT, None)),
        }
    }
}

fn outcome(mut answer: PbTxnResponse, on_failure: OnFailure) -> Result<WriteOutcome, Failure> {
    let head = head(answer.header.as_ref())?;
    if answer.succeeded {
        return Ok(WriteOutcome::Done { revision: head });
    }
    let current = match (on_failure, answer.responses.pop().and_then(|response| response.response)) {
        (OnFailure::Nothing, None) => None,
        (OnFailure::Get, Some(PbTxnOpResponse::ResponseRange(range))) => single(range),
        _ => {
            return Err(Failure::refused(
                "the condition did not hold, but the answer has not what was asked for then",
            ));
        }
    };
    Ok(WriteOutcome::Conflict { current, head })
}

/// Bytes of the transaction as protobuf, which is what the server measures but for some twenty bytes of its own.
fn put_size(key: &[u8], value: usize, expect: Expect, lease: i64, on_failure: OnFailure) -> usize {
    let number = |n: i64| 1 + varint(n.cast_unsigned());
    let compare = field(key.len())
        + match expect {
            Expect::Version(version) => number(version),
            Expect::ModRevision(revision) => 2 + number(revision.0),
            _ => 0,
        };
    let put = field(key.len()) + field(value) + if lease == 0 { 0 } else { number(lease) };
    let otherwise = match on_failure {
        OnFailure::Nothing => 0,
        OnFailure::Get => field(field(field(key.len()))),
    };
    field(compare) + field(field(put)) + otherwise
}

/// A field of `len` bytes with its tag and length; an empty one is left out.
fn field(len: usize) -> usize {
    if len == 0 { 0 } else { 1 + varint(len as u64) + len }
}

/// Bytes of a number as protobuf writes it.
fn varint(n: u64) -> usize {
    (64 - (n | 1).leading_zeros()).div_ceil(7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_that_of_the_encoded_transaction() {
        assert_eq!([varint(0), varint(127), varint(128), varint(u64::MAX)], [1, 1, 2, 10]);
        // Counted by hand from the wire format: compare 0a 08 (10 02 1a 02 'k' 'k' 30 00),
        // put 12 0a (12 08 (0a 02 'k' 'k' 12 02 'v' 'v')).
        assert_eq!(put_size(b"kk", 2, Expect::ABSENT, 0, OnFailure::Nothing), 10 + 12);
        // The same with a get: 1a 06 (0a 04 (0a 02 'k' 'k')), and a lease: 18 07.
        assert_eq!(put_size(b"kk", 2, Expect::ABSENT, 7, OnFailure::Get), 10 + 14 + 8);
    }
}
