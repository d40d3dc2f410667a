//! What is sent, byte by byte: the transactions that the reference sends, and no others, are what kine understands.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{done, etcd};
use kubestore_etcd::{EtcdKv, testing::Proxy};
use kubestore_kv::{DeleteRequest, Expect, Kv, LeaseId, PutRequest, Revision, WriteOutcome};

/// A protobuf field with bytes in it; all of them are short here.
fn field(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![tag, u8::try_from(bytes.len()).unwrap()];
    field.extend_from_slice(bytes);
    field
}

fn join(parts: &[Vec<u8>]) -> Vec<u8> {
    parts.concat()
}

/// Fields of `Compare`, `RequestOp` and `PutRequest` by their numbers in etcd's definition.
mod wire {
    use super::{field, join};

    /// Condition on the last write of a key: target 2, key, number under field 6.
    pub(super) fn mod_revision(key: &[u8], revision: u8) -> Vec<u8> {
        field(0x0a, &join(&[vec![0x10, 2], field(0x1a, key), vec![0x30, revision]]))
    }

    /// Condition on the version: target 0, which is left out, and the number under field 4.
    pub(super) fn version(key: &[u8], version: u8) -> Vec<u8> {
        field(0x0a, &join(&[field(0x1a, key), vec![0x20, version]]))
    }

    pub(super) fn then_put(key: &[u8], value: &[u8], lease: &[u8]) -> Vec<u8> {
        let put = join(&[field(0x0a, key), field(0x12, value), lease.to_vec()]);
        field(0x12, &field(0x12, &put))
    }

    pub(super) fn then_delete(key: &[u8]) -> Vec<u8> {
        field(0x12, &field(0x1a, &field(0x0a, key)))
    }

    pub(super) fn else_get(key: &[u8]) -> Vec<u8> {
        field(0x1a, &field(0x0a, &field(0x0a, key)))
    }
}

/// Whether a message of exactly these bytes was sent: uncompressed, with its length before it.
fn was_sent(proxy: &Proxy, message: &[u8]) -> bool {
    let frame = join(&[vec![0, 0, 0, 0, u8::try_from(message.len()).unwrap()], message.to_vec()]);
    proxy.sent().windows(frame.len()).any(|window| window == frame)
}

#[tokio::test]
async fn writes_are_the_transactions_that_the_reference_sends() {
    let (etcd, _) = etcd().await;
    let proxy = Proxy::recording(etcd.address()).await.unwrap();
    let kv = EtcdKv::connect([proxy.endpoint()]).await.unwrap();
    let (a, b, c) = (&b"/a"[..], &b"/b"[..], &b"compact_rev_key"[..]);

    let created = done(kv.optimistic_put(PutRequest::create("/a", "1")).await.unwrap());
    assert_eq!(created, Revision(2));
    let create = join(&[wire::mod_revision(a, 0), wire::then_put(a, b"1", &[])]);
    assert!(was_sent(&proxy, &create), "create has no else branch");

    let updated = done(kv.optimistic_put(PutRequest::update("/a", "2", created)).await.unwrap());
    let update = join(&[wire::mod_revision(a, 2), wire::then_put(a, b"2", &[]), wire::else_get(a)]);
    assert!(was_sent(&proxy, &update), "update reads the key in its else branch");

    let deleted = kv.optimistic_delete(DeleteRequest::new("/a", updated)).await.unwrap();
    assert_eq!(done(deleted), Revision(4));
    let delete = join(&[wire::mod_revision(a, 3), wire::then_delete(a), wire::else_get(a)]);
    assert!(was_sent(&proxy, &delete), "delete reads the key in its else branch");

    // The lease does not exist; the request has it all the same.
    let leased = PutRequest::update("/b", "1", Revision(0)).with_lease(Some(LeaseId(5)));
    assert!(kv.optimistic_put(leased).await.is_err());
    let with_lease =
        join(&[wire::mod_revision(b, 0), wire::then_put(b, b"1", &[0x18, 5]), wire::else_get(b)]);
    assert!(was_sent(&proxy, &with_lease));

    let compactor = PutRequest::update("compact_rev_key", "4", Revision(0)).with_expect(Expect::Version(7));
    assert!(matches!(
        kv.optimistic_put(compactor).await.unwrap(),
        WriteOutcome::Conflict { current: None, .. }
    ));
    let version = join(&[wire::version(c, 7), wire::then_put(c, b"4", &[]), wire::else_get(c)]);
    assert!(was_sent(&proxy, &version));
}
