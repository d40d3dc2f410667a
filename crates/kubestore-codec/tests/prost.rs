//! The types of `k8s-pb` as stored objects.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::error::Error as _;

use bytes::Bytes;
use common::{Random, base64, data, list};
use k8s_pb::{
    api::{
        apps::v1::Deployment,
        autoscaling::v2::HorizontalPodAutoscaler,
        batch::v1::Job,
        coordination::v1::Lease,
        core::v1::{
            ConfigMap, Event, Namespace, Node, PersistentVolumeClaim, Pod, PodSpec, PodStatus, Secret,
            Service,
        },
        discovery::v1::EndpointSlice,
        events,
        rbac::v1::ClusterRole,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kubestore_codec::{
    K8sPbVersioner, ProstCodec, Unstructured, UnstructuredVersioner,
    protobuf::{self, Envelope},
};
use kubestore_core::{Codec, Object, Versioner, Wanted};
use prost::Message;

/// A stored object of the reference and its content.
struct Case {
    name: String,
    stored: Vec<u8>,
    content: serde_json::Value,
}

fn cases() -> Vec<Case> {
    let cases = data(include_str!("data/protobuf-objects.json"));
    let cases = list(&cases, "objects").iter();
    cases
        .map(|case| Case {
            name: case["name"].as_str().unwrap().to_owned(),
            stored: base64(&case["protobuf"]),
            content: case["object"].clone(),
        })
        .collect()
}

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).unwrap()
}

/// What becomes of a stored object that is read and written again.
fn again<T: Object + Message + Default + k8s_pb::Resource>(stored: &[u8]) -> Vec<u8> {
    let codec = ProstCodec::<T>::new();
    let object = codec.decode(Bytes::copy_from_slice(stored)).unwrap();
    codec.encode(&object).unwrap().to_vec()
}

fn again_by_kind(case: &Case) -> Vec<u8> {
    let stored = &case.stored;
    match (case.content["apiVersion"].as_str().unwrap(), case.content["kind"].as_str().unwrap()) {
        (_, "Pod") => again::<Pod>(stored),
        (_, "ConfigMap") => again::<ConfigMap>(stored),
        (_, "Secret") => again::<Secret>(stored),
        (_, "Deployment") => again::<Deployment>(stored),
        (_, "Lease") => again::<Lease>(stored),
        (_, "Node") => again::<Node>(stored),
        (_, "Service") => again::<Service>(stored),
        (_, "Namespace") => again::<Namespace>(stored),
        (_, "EndpointSlice") => again::<EndpointSlice>(stored),
        (_, "Job") => again::<Job>(stored),
        (_, "ClusterRole") => again::<ClusterRole>(stored),
        (_, "PersistentVolumeClaim") => again::<PersistentVolumeClaim>(stored),
        (_, "HorizontalPodAutoscaler") => again::<HorizontalPodAutoscaler>(stored),
        ("v1", "Event") => again::<Event>(stored),
        (_, "Event") => again::<events::v1::Event>(stored),
        other => panic!("{other:?}"),
    }
}

#[test]
fn objects_of_api_servers_are_written_as_they_were_read() {
    let mut same = 0;
    for case in cases() {
        let again = again_by_kind(&case);
        let content: serde_json::Value = protobuf::from_slice(&again).unwrap();
        assert_eq!(
            content,
            protobuf::from_slice::<serde_json::Value>(&case.stored).unwrap(),
            "{}",
            case.name
        );
        if again == case.stored {
            same += 1;
            continue;
        }
        // One entry of `data` is empty, and loses the two bytes that say so.
        assert_eq!(case.name, "configmap");
        assert_eq!(again.len() + 2, case.stored.len());
    }
    assert_eq!(same, 15);
}

#[test]
fn an_object_made_here_is_shorter_than_that_of_an_api_server() {
    let case = case("pod, nearly empty");
    let made = Pod {
        metadata: Some(ObjectMeta { name: Some("p".into()), ..ObjectMeta::default() }),
        spec: Some(PodSpec::default()),
        status: Some(PodStatus::default()),
    };
    let stored = ProstCodec::new().encode(&made).unwrap();
    let read = |stored: &[u8]| protobuf::from_slice::<serde_json::Value>(stored).unwrap();
    assert_eq!(read(&stored), read(&case.stored));
    assert_eq!((stored.len(), case.stored.len()), (30, 88));
}

#[test]
fn kind_and_version_must_be_those_of_the_type() {
    let stored = Bytes::from(case("configmap").stored);
    for error in [
        ProstCodec::<Secret>::new().decode(stored.clone()).unwrap_err(),
        ProstCodec::<ConfigMap>::of("v2", "ConfigMap").decode(stored.clone()).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "the value is an object of another kind or version");
    }
    let object = ProstCodec::<ConfigMap>::of("v1", "ConfigMap").decode(stored.clone()).unwrap();
    assert_eq!(object, ProstCodec::default().decode(stored).unwrap());
}

#[test]
fn broken_values_are_refused_without_content() {
    let stored = case("secret").stored;
    for length in 0..stored.len() - 4 {
        let decoded = ProstCodec::<Secret>::new().decode(Bytes::copy_from_slice(&stored[..length]));
        // Cut right after the type it is an empty object, as it is to the reference.
        assert_eq!(decoded.ok(), (length == 18).then(Secret::default), "{length}");
    }
    let broken = Envelope::new("v1", "Secret", b"\x0a\x05\x0a\x06s3cr3t").to_vec();
    let error = ProstCodec::<Secret>::new().decode(broken.into()).unwrap_err();
    assert_eq!(error.to_string(), "the value does not have the form of its type");
    assert!(!format!("{error:?} {:?}", error.source()).contains("s3cr3t"));
    let error = ProstCodec::<Secret>::new().decode(Bytes::from_static(b"{\"kind\":\"Secret\"}")).unwrap_err();
    let cause = error.source().unwrap().to_string();
    assert!(cause.starts_with("the value is not protobuf of Kubernetes"), "{cause}");
}

#[test]
fn the_resource_version_is_kept_in_the_metadata() {
    let stored = Bytes::from(case("pod").stored);
    let codec = ProstCodec::<Pod>::new();
    let mut pod = codec.decode(stored.clone()).unwrap();
    assert_eq!(K8sPbVersioner.resource_version(&pod), Ok(0));
    K8sPbVersioner.set_resource_version(&mut pod, 17).unwrap();
    assert_eq!(K8sPbVersioner.resource_version(&pod), Ok(17));
    assert_eq!(K8sPbVersioner.uid(&pod), "8a0f2f8e-6c3a-4f0b-9a55-0d6b6b6f1c11");
    K8sPbVersioner.prepare_for_storage(&mut pod).unwrap();
    // As if it had not been touched.
    assert_eq!(codec.encode(&pod).unwrap(), stored);

    let mut bare = Pod::default();
    assert_eq!(K8sPbVersioner.resource_version(&bare), Ok(0));
    let error = K8sPbVersioner.prepare_for_storage(&mut bare).unwrap_err();
    assert_eq!(error.to_string(), "the object has no metadata: set its name at least");
    assert!(K8sPbVersioner.set_resource_version(&mut bare, 1).is_err());
}

#[test]
fn selectors_see_what_they_see_in_json() {
    let wanted = Wanted::new(
        vec!["app".into(), "gone".into()],
        vec![
            "metadata.name".into(),
            "metadata.namespace".into(),
            "spec.nodeName".into(),
            "status.phase".into(),
        ],
    );
    for (name, fields) in [("pod", 4), ("pod, nearly empty", 4), ("pod", 2)] {
        let stored = case(name).stored;
        let mut wanted = wanted.clone();
        wanted.fields.truncate(fields);
        let pod = ProstCodec::<Pod>::new().decode(stored.clone().into()).unwrap();
        let by_json: Unstructured = protobuf::from_slice(&stored).unwrap();
        assert_eq!(K8sPbVersioner.find(&pod, &wanted), UnstructuredVersioner.find(&by_json, &wanted));
    }
    let pod = ProstCodec::<Pod>::new().decode(case("pod").stored.into()).unwrap();
    let found = K8sPbVersioner.find(&pod, &wanted);
    assert_eq!(found.labels[0].as_deref(), Some("web"));
    assert_eq!(found.fields[2].as_deref(), Some("node-1"));
}

#[test]
fn a_selector_is_answered_from_the_bytes() {
    let codec = ProstCodec::<Pod>::new();
    let stored = case("pod").stored;
    let wanted = Wanted::new(
        vec!["app".into(), "gone".into()],
        vec!["metadata.name".into(), "spec.nodeName".into(), "status.phase".into(), "spec.gone".into()],
    );
    let found = codec.skim(&stored, &wanted).unwrap().unwrap();
    assert_eq!(found, K8sPbVersioner.find(&codec.decode(stored.clone().into()).unwrap(), &wanted));
    assert!(ProstCodec::<Secret>::new().skim(&stored, &wanted).is_err());
}

#[test]
fn an_object_with_fields_of_the_future_is_not_overwritten() {
    for case in cases() {
        if case.content["kind"] != "ConfigMap" {
            continue;
        }
        let codec = ProstCodec::<ConfigMap>::new();
        // One entry is empty, which is written differently and loses nothing.
        codec.replaceable(&case.stored).unwrap();
        let envelope = Envelope::parse(&case.stored).unwrap();
        // A field with the number 99.
        let message = [envelope.message(), b"\x98\x06\x01"].concat();
        let newer = Envelope::new("v1", "ConfigMap", &message).to_vec();
        assert!(codec.decode(newer.clone().into()).is_ok());
        let error = codec.replaceable(&newer).unwrap_err();
        let cause = error.source().unwrap().to_string();
        assert!(cause.contains("99"), "{cause}");
    }
}

#[test]
fn mutated_values_never_do_harm() {
    let mut random = Random::new(5);
    let stored = case("pod").stored;
    let codec = ProstCodec::<Pod>::new();
    let mut read = 0;
    for _ in 0..20_000 {
        let mut bytes = stored.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes.truncate(at.max(5)),
                1 => bytes.insert(at, b"\0\x0a\x12\xff\x80"[random.below(5)]),
                _ => bytes[at] ^= 1 << random.below(8),
            }
        }
        if let Ok(pod) = codec.decode(bytes.into()) {
            let again = codec.encode(&pod).unwrap();
            assert_eq!(codec.encode(&codec.decode(again.clone()).unwrap()).unwrap(), again);
            read += 1;
        }
    }
    assert!(read > 1_000, "{read}");
}
