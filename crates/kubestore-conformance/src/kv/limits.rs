//! Cases: sizes.

use bytes::Bytes;
use kubestore_kv::{DEFAULT_MAX_REQUEST_BYTES, KvErrorKind, ListRequest, PutRequest};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

/// 1.4 MiB: below etcd's limit for a request.
const FITS: usize = 1_468_006;
/// 1.6 MiB: above it.
const TOO_LARGE: usize = 1_677_722;

/// A value of 1.4 MiB is written, read, listed and replaced.
pub async fn large_value_is_taken(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let value = Bytes::from(vec![b'v'; FITS]);
    let created = fx.create("a", value.clone()).await;
    holds!(fx, fx.get_some("a").await.value == value, "value of a at {created} differs");
    fx.update("a", value.clone(), created).await;
    let listed = fx.list(ListRequest::new(fx.key("a"))).await.kvs;
    holds!(fx, listed[0].value == value, "value of a in a list differs");
}

/// A value of 1.6 MiB is refused with an error that tells size and limit, and nothing is written.
pub async fn too_large_value_is_refused(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("there", "one").await;
    for size in [TOO_LARGE, 4 * TOO_LARGE] {
        let value = Bytes::from(vec![b'v'; size]);
        let requests = [
            PutRequest::create(fx.key("a"), value.clone()),
            PutRequest::update(fx.key("there"), value, created),
        ];
        for request in requests {
            let name = fx.name(&request.key);
            let result = fx.kv().optimistic_put(request).await;
            let error =
                fx.fails(result, KvErrorKind::TooLarge, format_args!("put of {size} bytes to {name}"));
            let digits = error.message().split(|letter: char| !letter.is_ascii_digit());
            let numbers: Vec<usize> = digits.filter_map(|number| number.parse().ok()).collect();
            let told =
                (numbers.contains(&DEFAULT_MAX_REQUEST_BYTES), numbers.iter().any(|number| *number >= size));
            same!(fx, told, (true, true), "limit and size told for {size} bytes by {error}");
        }
    }
    same!(fx, fx.get("a").await, None, "a key whose create was too large");
    same!(fx, fx.get_some("there").await.mod_revision, created, "a key whose update was too large");
}

/// Answers may be much larger than requests: more than the transports' usual limit for one message.
pub async fn answers_may_be_large(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let value = Bytes::from(vec![b'v'; 1_000_000]);
    let names: Vec<_> = (0..8).map(|number| format!("l/{number}")).collect();
    for name in &names {
        fx.create(name, value.clone()).await;
    }
    let listed = fx.list(ListRequest::new(fx.key("l/"))).await;
    same!(fx, fx.names(&listed.kvs), names, "keys of a list of 8 MB");
    holds!(fx, listed.kvs.iter().all(|kv| kv.value == value), "a value of the list differs");
    let chunks = fx.chunks(ListRequest::new(fx.key("l/"))).await;
    let kvs: Vec<_> = chunks.into_iter().flat_map(|chunk| chunk.kvs).collect();
    holds!(fx, kvs == listed.kvs, "the same range in parts differs");
}
