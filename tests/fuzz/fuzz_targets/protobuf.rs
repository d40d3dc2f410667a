//! Protobuf from anywhere: nothing panics, and what is read is written and read again.
#![no_main]

use kubestore_codec::protobuf::{Metadata, UnstructuredProtobufCodec, from_slice, to_vec, unknown_fields};
use kubestore_core::{Codec, Wanted};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let wanted = Wanted::new(vec!["app".into()], vec!["spec.nodeName".into(), "metadata.name".into()]);
    let _ = (Metadata::read(bytes), UnstructuredProtobufCodec.skim(bytes, &wanted));
    if let Ok(object) = from_slice::<Value>(bytes) {
        unknown_fields(bytes).expect("what is read can be looked through");
        let written = to_vec(&object).expect("what is read can be written");
        let again: Value = from_slice(&written).expect("what is written can be read");
        assert_eq!(without_nulls(again), without_nulls(object));
    }
});

/// A pointer to a time that is none is null, which is read as no pointer.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            members.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
