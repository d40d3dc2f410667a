//! What tools print, from anywhere: nothing panics, and what is found in it is read or refused.
#![no_main]

use kubestore_codec::{StorageCodec, recognise};
use kubestore_core::Codec;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for found in recognise(bytes) {
        let _ = StorageCodec::unstructured().decode(found.value.into_owned().into());
    }
});
