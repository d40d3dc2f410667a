//! JSON from anywhere: nothing panics, and what is read is written and read again.
#![no_main]

use bytes::Bytes;
use kubestore_codec::{Opaque, UnstructuredCodec};
use kubestore_core::{Codec, Wanted};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let wanted = Wanted::new(vec!["app".into()], vec!["spec.nodeName".into(), "metadata.name".into()]);
    let stored = Bytes::copy_from_slice(bytes);
    let _ = (Opaque::new(stored.clone()), UnstructuredCodec.skim(bytes, &wanted));
    if let Ok(object) = UnstructuredCodec.decode(stored) {
        let written = UnstructuredCodec.encode(&object).expect("what is read can be written");
        assert!(UnstructuredCodec.decode(written).expect("what is written can be read") == object);
    }
});
