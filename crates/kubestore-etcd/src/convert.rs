//! etcd's messages as the contract's types; bytes are moved, not copied.

use etcd_client::proto::{PbKeyValue, PbRangeResponse, PbResponseHeader};
use kubestore_kv::{KeyValue, LeaseId, Revision};

use crate::error::Failure;

pub(crate) fn key_value(kv: PbKeyValue) -> KeyValue {
    let mut converted = KeyValue::new(kv.key, kv.value, Revision(kv.mod_revision));
    converted.create_revision = Revision(kv.create_revision);
    converted.version = kv.version;
    converted.lease = (kv.lease != 0).then_some(LeaseId(kv.lease));
    converted
}

/// The newest revision of the store when it answered.
pub(crate) fn head(header: Option<&PbResponseHeader>) -> Result<Revision, Failure> {
    header.map(|header| Revision(header.revision)).ok_or_else(|| Failure::malformed("no header"))
}

/// The key of a range that asked for one.
pub(crate) fn single(range: PbRangeResponse) -> Option<KeyValue> {
    range.kvs.into_iter().next().map(key_value)
}
