//! Objects in any of the encodings that API servers store.

use std::{
    collections::HashSet,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use kubestore::{
    codec::{
        Encoding, Opaque, StorageCodec, Unstructured,
        protobuf::{MessageType, UnknownField},
        sniff,
    },
    core::{Codec, CodecError, Found, Wanted},
};

/// How many fields of later releases are told apart.
const MOST_TOLD: usize = 100;

/// Reads all encodings, and writes what an API server would. All that this command decodes is decoded here.
///
/// A field of a later release than is known here is not shown, which is said once on standard error.
#[derive(Clone, Debug)]
pub(crate) struct ObjectCodec {
    inner: StorageCodec<Unstructured>,
    told: Arc<Mutex<HashSet<String>>>,
}

impl ObjectCodec {
    pub(crate) fn new() -> Self {
        Self { inner: StorageCodec::unstructured(), told: Arc::default() }
    }

    /// The object as it is read back after it was written: with all that its encoding adds, such as fields that are printed
    /// even when they are empty.
    ///
    /// # Errors
    /// The object cannot be written.
    pub(crate) fn normal(&self, object: &Unstructured) -> Result<Unstructured, CodecError> {
        self.inner.decode(self.inner.encode(object)?)
    }

    /// What can be shown of an object in protobuf whose kind is not known: the metadata are the same in every kind. It is not
    /// overwritten, since the codec does not know what it would lose.
    fn metadata_of(&self, data: Bytes) -> Option<Unstructured> {
        let opaque = Opaque::new(data).ok()?;
        let (api_version, kind) = (opaque.api_version(), opaque.kind());
        let is_unknown =
            sniff(opaque.stored()) == Encoding::Protobuf && MessageType::of(api_version, kind).is_none();
        if !is_unknown || kind.is_empty() {
            return None;
        }
        let mut object = Unstructured::new(api_version, kind, opaque.namespace(), opaque.name());
        if !opaque.uid().is_empty() {
            object.set_uid(opaque.uid());
        }
        opaque.labels().for_each(|(key, value)| object.set_label(key, value));
        opaque.annotations().for_each(|(key, value)| object.set_annotation(key, value));
        self.tell(format!("kind {kind} of {api_version} is not known here: only its metadata are shown"));
        Some(object)
    }

    /// Says what is not shown, unless that was said before.
    fn warn(&self, object: &Unstructured) {
        let lost = unknown_fields(object);
        if lost.is_empty() {
            return;
        }
        for what in lost {
            self.tell(format!(
                "{what} is of a later release: it is not shown, and objects with it are not overwritten"
            ));
        }
    }

    fn tell(&self, warning: String) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < MOST_TOLD && !told.contains(&warning) {
            // The warning is for people; nobody else misses it.
            let _told = writeln!(io::stderr(), "warning: {warning}");
            told.insert(warning);
        }
    }
}

/// The fields of later releases in an object, by kind, place and number, each once.
pub(crate) fn unknown_fields(object: &Unstructured) -> Vec<String> {
    let kind = object.kind();
    let words = |field: &UnknownField| match without_indices(&field.path).as_str() {
        "" => format!("field {} of {kind}", field.number),
        path => format!("field {} in {path} of {kind}", field.number),
    };
    let mut fields: Vec<_> = object.unknown_fields().iter().map(words).collect();
    fields.sort_unstable();
    fields.dedup();
    fields
}

/// `spec.containers[3].env` is `spec.containers[].env`, so that it is the same in every object.
fn without_indices(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut parts = path.split('[');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let rest = part.split_once(']').map_or("", |(_, rest)| rest);
        out.push_str("[]");
        out.push_str(rest);
    }
    out
}

impl Codec<Unstructured> for ObjectCodec {
    fn encode(&self, object: &Unstructured) -> Result<Bytes, CodecError> {
        self.inner.encode(object)
    }

    fn decode(&self, data: Bytes) -> Result<Unstructured, CodecError> {
        let object = match self.inner.decode(data.clone()) {
            Ok(object) => object,
            Err(error) => self.metadata_of(data).ok_or(error)?,
        };
        self.warn(&object);
        Ok(object)
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        self.inner.skim(data, wanted)
    }

    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        self.inner.replaceable(stored)
    }
}

#[cfg(test)]
mod tests {
    use kubestore::codec::protobuf::Envelope;

    use super::*;

    #[test]
    fn of_a_kind_that_is_not_known_the_metadata_are_shown() {
        // metadata {name, namespace, labels}, and a spec.
        let message = b"\x0a\x11\x0a\x01a\x1a\x02ns\x5a\x08\x0a\x03app\x12\x01w\x12\x03\x98\x06\x01";
        let stored: Bytes = Envelope::new("apps/v9", "Fleet", message).to_vec().into();
        let codec = ObjectCodec::new();
        let fleet = codec.decode(stored.clone()).unwrap();
        let mut expected = Unstructured::new("apps/v9", "Fleet", "ns", "a");
        expected.set_label("app", "w");
        assert_eq!(fleet, expected);
        codec.replaceable(&stored).unwrap_err();
        codec.encode(&fleet).expect("as a custom resource");
        // What is damaged is not of an unknown kind.
        codec.decode(Envelope::new("v1", "Pod", b"\x0a\xff").to_vec().into()).unwrap_err();
    }

    #[test]
    fn fields_of_later_releases_are_named_by_their_place() {
        // A Lease whose spec has the field number 99, and which itself has it too.
        let message = b"\x12\x03\x98\x06\x01\x98\x06\x01";
        let stored = Envelope::new("coordination.k8s.io/v1", "Lease", message).to_vec();
        let lease = ObjectCodec::new().decode(stored.into()).unwrap();
        assert_eq!(unknown_fields(&lease), ["field 99 in spec of Lease", "field 99 of Lease"]);
        assert_eq!(unknown_fields(&Unstructured::new("v1", "Pod", "a", "b")), Vec::<String>::new());
        assert_eq!(without_indices("spec.containers[0].env[12]"), "spec.containers[].env[]");
    }
}
