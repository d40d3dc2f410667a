//! The protobuf codec: what selectors see, metadata alone, and what must not be replaced.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use k8s_openapi::api::{coordination::v1::Lease, core::v1::Pod};
use kubestore_codec::{
    K8sOpenapiVersioner, Opaque, Unstructured, UnstructuredVersioner,
    protobuf::{
        Envelope, Metadata, ProtobufCodec, ProtobufErrorKind, UnstructuredProtobufCodec, check_replaceable,
        from_slice, has_unknown_fields, to_vec, unknown_fields,
    },
};
use kubestore_core::{Codec, Found, Versioner, Wanted};
use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};
use serde_json::{Value, json};

/// Everything that was recorded.
fn stored() -> Vec<Vec<u8>> {
    let cluster: Value = serde_json::from_str(include_str!("data/protobuf-cluster.json")).unwrap();
    let objects: Value = serde_json::from_str(include_str!("data/protobuf-objects.json")).unwrap();
    let both = cluster.as_array().unwrap().iter().chain(objects["objects"].as_array().unwrap());
    both.map(|object| STANDARD.decode(object["protobuf"].as_str().unwrap()).unwrap()).collect()
}

/// The paths of everything in a document, as selectors name them.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    if !path.is_empty() {
        found.insert(path.to_owned());
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        paths(value, &if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, found);
    }
}

fn all_paths(stored: &[Vec<u8>]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for stored in stored {
        paths(&from_slice(stored).unwrap(), "", &mut found);
    }
    let more = [
        "",
        "metadata",
        "metadata.name.x",
        "metadata.labels",
        "spec.",
        ".spec",
        "spec.containers",
        "spec.containers.name",
        "x",
    ];
    found.into_iter().chain(more.map(str::to_owned)).collect()
}

fn labels() -> Vec<String> {
    ["app", "pod-template-hash", "kubernetes.io/metadata.name", "", "none"].map(str::to_owned).into()
}

/// An absent field counts as the empty text.
fn texts(found: &Found<'_>) -> (Vec<Option<String>>, Vec<String>) {
    let labels = found.labels.iter().map(|label| label.as_ref().map(|label| label.to_string()));
    let fields = found.fields.iter().map(|field| field.as_deref().unwrap_or_default().to_owned());
    (labels.collect(), fields.collect())
}

#[test]
fn selectors_see_on_the_wire_what_they_see_in_the_object() {
    let stored = stored();
    let wanted = Wanted::new(labels(), all_paths(&stored));
    assert!(wanted.fields.len() > 300, "{}", wanted.fields.len());
    let mut answered = 0;
    for stored in &stored {
        let object = UnstructuredProtobufCodec.decode(Bytes::from(stored.clone())).unwrap();
        // Paths into JSON inside of the object are left to the decoder.
        for path in &wanted.fields {
            let wanted = Wanted::new(wanted.labels.clone(), vec![path.clone()]);
            let Some(found) = UnstructuredProtobufCodec.skim(stored, &wanted).unwrap() else {
                assert!(
                    ["data", "spec.schema"].iter().any(|raw| path.starts_with(raw)),
                    "{object:?}: {path}"
                );
                continue;
            };
            answered += 1;
            let expected = UnstructuredVersioner.find(&object, &wanted);
            assert_eq!(texts(&found), texts(&expected), "{object:?}: {path}");
        }
    }
    assert!(answered > 20_000, "{answered}");
}

#[test]
fn selectors_see_what_a_type_shows() {
    fn check<T>(kind: &str)
    where
        T: kubestore_core::Object + serde::Serialize + serde::de::DeserializeOwned,
        K8sOpenapiVersioner: Versioner<T>,
    {
        let stored = stored();
        let wanted = Wanted::new(labels(), all_paths(&stored));
        let codec = ProtobufCodec::<T>::new();
        let of_kind = stored.iter().filter(|stored| Envelope::parse(stored).unwrap().kind() == kind);
        let mut count = 0;
        for stored in of_kind {
            let found = codec.skim(stored, &wanted).unwrap().unwrap();
            let object = codec.decode(Bytes::from(stored.clone())).unwrap();
            assert_eq!(texts(&found), texts(&K8sOpenapiVersioner.find(&object, &wanted)));
            count += 1;
        }
        assert!(count > 1, "{kind}");
    }
    check::<Pod>("Pod");
    check::<Lease>("Lease");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 3000 }))]

    /// However the bytes are damaged: if the object can still be decoded, its answers are those of the wire.
    #[test]
    fn damage_does_not_make_answers_differ(
        index in any::<proptest::sample::Index>(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        doubled in any::<bool>(),
    ) {
        let stored = stored();
        let original = index.get(&stored);
        let envelope = Envelope::parse(original).unwrap();
        let mut message = envelope.message().to_vec();
        if doubled {
            // Everything is there twice, in the wrong order.
            message.extend_from_slice(envelope.message());
        }
        for (at, byte) in &changes {
            let at = at.index(message.len());
            message[at] = *byte;
        }
        let damaged = Envelope::new(envelope.api_version(), envelope.kind(), &message).to_vec();
        let mut of_original = BTreeSet::new();
        paths(&from_slice(original).unwrap(), "", &mut of_original);
        for path in of_original {
            let wanted = Wanted::new(labels(), vec![path]);
            let found = UnstructuredProtobufCodec.skim(&damaged, &wanted).unwrap();
            if let (Some(found), Ok(object)) = (found, UnstructuredProtobufCodec.decode(Bytes::from(damaged.clone()))) {
                let expected = UnstructuredVersioner.find(&object, &wanted);
                prop_assert!(texts(&found) == texts(&expected), "{:?}: {:?} {:?}", wanted, found, expected);
            }
        }
    }
}

#[test]
fn metadata_are_read_alone() {
    for stored in stored() {
        let object: Unstructured = from_slice(&stored).unwrap();
        let metadata = Metadata::read(&stored).unwrap();
        assert_eq!((&*metadata.api_version, &*metadata.kind), (object.api_version(), object.kind()));
        assert_eq!((&*metadata.namespace, &*metadata.name), (object.namespace(), object.name()));
        assert_eq!((&*metadata.uid, &*metadata.resource_version), (object.uid(), ""));
        let json: Value = from_slice(&stored).unwrap();
        let meta = &json["metadata"];
        for (name, pairs) in [("labels", &metadata.labels), ("annotations", &metadata.annotations)] {
            let pairs: Value = pairs.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
            assert_eq!(pairs, meta.get(name).cloned().unwrap_or_else(|| json!({})), "{name} of {object:?}");
        }
        assert_eq!(json!(metadata.finalizers), meta.get("finalizers").cloned().unwrap_or_else(|| json!([])));
        assert_eq!(metadata.generation, meta["generation"].as_i64().unwrap_or(0));
        assert_eq!(
            json!(metadata.generate_name),
            meta.get("generateName").cloned().unwrap_or_else(|| json!(""))
        );
        assert_eq!(metadata.creation_timestamp.is_some(), meta.get("creationTimestamp").is_some());
        assert_eq!(metadata.deletion_timestamp.is_some(), meta.get("deletionTimestamp").is_some());
        let owners: Vec<_> = metadata
            .owner_references
            .iter()
            .map(|owner| {
                json!({
                    "apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid,
                })
            })
            .collect();
        for (owner, expected) in owners.iter().zip(meta["ownerReferences"].as_array().into_iter().flatten()) {
            assert!(owner.as_object().unwrap().iter().all(|(name, value)| expected[name] == *value));
        }
        assert_eq!(owners.len(), meta["ownerReferences"].as_array().map_or(0, Vec::len));
        assert_eq!(Opaque::new(Bytes::from(stored.clone())).unwrap().labels().count(), metadata.labels.len());
    }
}

#[test]
fn metadata_of_kinds_that_are_not_known_are_read() {
    let pod = to_vec(&json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"b": "2", "a": "1"}}})).unwrap();
    let message = Envelope::parse(&pod).unwrap().message();
    let unknown = Envelope::new("example.com/v1", "Widget", message).to_vec();
    let metadata = Metadata::read(&unknown).unwrap();
    assert_eq!((&*metadata.kind, &*metadata.name), ("Widget", "a"));
    assert_eq!(metadata.labels, [("a".into(), "1".into()), ("b".into(), "2".into())]);
    let error = from_slice::<Value>(&unknown).unwrap_err();
    assert_eq!(error.kind(), ProtobufErrorKind::UnknownKind);
    assert!(error.to_string().contains("Widget") && error.to_string().contains("JSON"), "{error}");
    let list = Envelope::new("v1", "PodList", b"\x0a\x04\x0a\x02ab").to_vec();
    assert_eq!(Metadata::read(&list).unwrap().name, "", "the metadata of a list are others");
}

/// A Pod with something added to the message of its second container.
fn pod_with(added: &[u8]) -> Vec<u8> {
    let container = [b"\x0a\x01c", added].concat();
    let spec = [b"\x12\x03\x0a\x01b\x12", &[u8::try_from(container.len()).unwrap()][..], &container].concat();
    let message = [b"\x0a\x03\x0a\x01p\x12", &[u8::try_from(spec.len()).unwrap()][..], &spec].concat();
    Envelope::new("v1", "Pod", &message).to_vec()
}

#[test]
fn fields_of_the_future_are_found() {
    let known = pod_with(b"");
    assert_eq!(unknown_fields(&known).unwrap(), []);
    assert!(!has_unknown_fields(&known).unwrap());
    UnstructuredProtobufCodec.replaceable(&known).unwrap();

    // Number 2000, a text.
    let future = pod_with(b"\x82\x7d\x02hi");
    let found = unknown_fields(&future).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].path.as_str(), found[0].number, found[0].wire_type),
        ("spec.containers[1]", 2000, 2)
    );
    assert!(has_unknown_fields(&future).unwrap());
    assert_eq!(from_slice::<Value>(&future).unwrap(), from_slice::<Value>(&known).unwrap());
    let refused = UnstructuredProtobufCodec.replaceable(&future).unwrap_err();
    let cause = std::error::Error::source(&refused).unwrap().to_string();
    assert!(cause.contains("2000") && cause.contains("spec.containers[1]"), "{cause}");
    assert_eq!(check_replaceable(&future).unwrap_err().kind(), ProtobufErrorKind::WouldBeLost);
}

#[test]
fn text_that_is_not_utf8_is_shown_and_kept() {
    // The image of the container.
    let stored = pod_with(b"\x12\x03a\xffb");
    let pod: Value = from_slice(&stored).unwrap();
    assert_eq!(pod["spec"]["containers"][1]["image"], "a\u{fffd}b");
    assert!(!has_unknown_fields(&stored).unwrap());
    assert_eq!(
        check_replaceable(&stored).unwrap_err().to_string(),
        "the stored object has text that is not UTF-8, which would be lost in spec.containers[1].image"
    );
}

#[test]
fn recorded_objects_may_be_replaced() {
    for stored in stored() {
        assert_eq!(unknown_fields(&stored).unwrap(), []);
        check_replaceable(&stored).unwrap();
    }
}
