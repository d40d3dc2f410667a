//! CBOR from anywhere: nothing panics, and what is read is written and read again.
#![no_main]

use bytes::Bytes;
use kubestore_codec::cbor::{UnstructuredCborCodec, from_slice};
use kubestore_core::{Codec, Wanted};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let wanted = Wanted::new(vec!["app".into()], vec!["spec.nodeName".into(), "metadata.name".into()]);
    let _ = (from_slice::<Value>(bytes), UnstructuredCborCodec.skim(bytes, &wanted));
    if let Ok(object) = UnstructuredCborCodec.decode(Bytes::copy_from_slice(bytes)) {
        let written = UnstructuredCborCodec.encode(&object).expect("what is read can be written");
        let again = UnstructuredCborCodec.decode(written).expect("what is written can be read");
        assert!(again == object);
    }
});
