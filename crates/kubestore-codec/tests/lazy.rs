//! Objects that are decoded as far as somebody looks at them.

use std::borrow::Cow;

use bytes::Bytes;
use kubestore_codec::{
    Lazy, LazyCodec, Opaque, OpaqueCodec, OpaqueVersioner, Unstructured, UnstructuredCodec,
    UnstructuredVersioner,
};
use kubestore_core::{Codec, Versioner, Wanted};

const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"note":"a\u003cb"},"generation":3,"labels":{"app":"web","tier":"front"},"name":"web","namespace":"ns1","uid":"u1"},"spec":{"nodeName":"n1","priority":7}}
"#;

fn lazy() -> LazyCodec<Unstructured> {
    LazyCodec::new(UnstructuredCodec, UnstructuredVersioner)
}

fn wanted() -> Wanted {
    let fields = ["metadata.name", "spec.nodeName", "spec.priority", "spec.missing"];
    Wanted::new(vec!["app".into(), "none".into()], fields.map(Into::into).into())
}

#[test]
fn metadata_are_read_without_the_body() {
    let pod = Opaque::new(Bytes::from_static(POD.as_bytes())).unwrap();
    assert_eq!((pod.api_version(), pod.kind(), pod.generation()), ("v1", "Pod", 3));
    assert_eq!((pod.namespace(), pod.name(), pod.uid()), ("ns1", "web", "u1"));
    assert_eq!(pod.labels().collect::<Vec<_>>(), [("app", "web"), ("tier", "front")]);
    assert_eq!(pod.annotations().collect::<Vec<_>>(), [("note", "a<b")]);
    assert_eq!(
        (pod.label("tier"), pod.label("x"), pod.annotation("note")),
        (Some("front"), None, Some("a<b"))
    );
    assert_eq!(format!("{pod:?}"), "Opaque(v1 Pod ns1/web)");
}

#[test]
fn metadata_of_odd_documents_are_those_that_the_whole_decoder_reads() {
    let odd = [
        r#"{"kind":"A","kind":"B","apiVersion":"v1","metadata":{"name":"x"}}"#,
        r#"{"kind":"B","apiVersion":"v1","metadata":{"labels":{"a":"1","a":"2","A":"3"},"name":"x"}}"#,
        r#"{"kind":"B","apiVersion":"v1","metadata":{"labels":{"a":1},"name":"x"}}"#,
        r#"{"kind":"B","apiVersion":"v1","metadata":{"labels":{"b":"1","a":null},"name":"x"}}"#,
        r#"{"kind":"B","apiVersion":"v1","metadata":{"labels":null,"name":null}}"#,
        r#"{"kind":"B","apiVersion":"v1","metadata":null}"#,
        r#"{"kind":"B","apiVersion":"v1","metadata":[1]}"#,
        r#"{"kind":"B","apiVersion":"v1"}"#,
        r#"{"kind":"B","metadata":{"name":5,"generation":"no"}}"#,
        r#"{"kind":"\ud800","apiVersion":"v1"}"#,
    ];
    for text in odd {
        let data = Bytes::from_static(text.as_bytes());
        let whole = UnstructuredCodec.decode(data.clone()).unwrap();
        let opaque = Opaque::new(data).unwrap();
        assert_eq!(opaque.kind(), whole.kind(), "{text}");
        assert_eq!(opaque.name(), whole.name(), "{text}");
        for key in ["a", "A", "b"] {
            assert_eq!(opaque.label(key), whole.label(key), "{text}");
        }
    }
}

#[test]
fn what_is_no_object_is_refused_as_the_whole_decoder_refuses_it() {
    for text in [
        "",
        "null",
        "[]",
        "{",
        r#"{"apiVersion":"v1"}"#,
        r#"{"kind":"A","apiVersion":"a/b/c"}"#,
        "k8s:enc:aesgcm:v1:k:",
    ] {
        let data = Bytes::from_static(text.as_bytes());
        let ours = Opaque::new(data.clone()).unwrap_err();
        let theirs = UnstructuredCodec.decode(data).unwrap_err();
        assert_eq!(ours.to_string(), theirs.to_string(), "{text}");
    }
}

#[test]
fn an_opaque_object_answers_selectors_from_its_bytes() {
    let pod = Opaque::new(Bytes::from_static(POD.as_bytes())).unwrap();
    let found = OpaqueVersioner.find(&pod, &wanted());
    let some = |text| Some(Cow::Borrowed(text));
    assert_eq!(found.labels, [some("web"), None]);
    assert_eq!(found.fields, [some("web"), some("n1"), some("7"), None]);
    assert_eq!(OpaqueCodec.skim(POD.as_bytes(), &wanted()).unwrap().unwrap(), found);
}

#[test]
fn an_untouched_object_is_written_back_byte_for_byte() {
    let stored = Bytes::from_static(
        br#"{ "kind":"Pod", "apiVersion":"v1", "metadata":{"resourceVersion":"1","name":"a"} }"#,
    );
    let codec = lazy();
    let mut pod = codec.decode(stored.clone()).unwrap();
    codec.set_resource_version(&mut pod, 9).unwrap();
    assert_eq!(pod.get().unwrap().resource_version(), "9");
    codec.set_resource_version(&mut pod, 10).unwrap();
    assert_eq!(pod.get().unwrap().resource_version(), "10");
    assert_eq!(codec.resource_version(&pod).unwrap(), 10);
    codec.prepare_for_storage(&mut pod).unwrap();
    assert_eq!(codec.encode(&pod).unwrap(), stored);
    let mut opaque = OpaqueCodec.decode(stored.clone()).unwrap();
    OpaqueVersioner.set_resource_version(&mut opaque, 9).unwrap();
    OpaqueVersioner.prepare_for_storage(&mut opaque).unwrap();
    assert_eq!(OpaqueVersioner.resource_version(&opaque).unwrap(), 0);
    assert_eq!(OpaqueCodec.encode(&opaque).unwrap(), stored);
}

#[test]
fn a_changed_object_is_written_as_its_codec_writes_it() {
    let codec = lazy();
    let mut pod = codec.decode(Bytes::from_static(POD.as_bytes())).unwrap();
    codec.set_resource_version(&mut pod, 9).unwrap();
    assert!(!pod.is_decoded());
    pod.get_mut().unwrap().set_label("app", "shop");
    assert!(pod.stored().is_none());
    assert_eq!(codec.resource_version(&pod).unwrap(), 9);
    assert_eq!(codec.uid(&pod), "u1");
    assert_eq!(codec.find(&pod, &wanted()).labels[0].as_deref(), Some("shop"));
    codec.prepare_for_storage(&mut pod).unwrap();
    let written = codec.encode(&pod).unwrap();
    assert_eq!(written, POD.replace(r#""app":"web""#, r#""app":"shop""#));
    let new = Lazy::new(pod.into_inner().unwrap());
    assert_eq!(codec.encode(&new).unwrap(), written);
}

#[test]
fn a_body_that_is_no_object_of_the_type_shows_on_first_use() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Sized {
        size: u32,
    }
    let codec = LazyCodec::new(kubestore_codec::JsonCodec::<Sized>::new(), NoPlace);
    let mut odd =
        codec.decode(Bytes::from_static(br#"{"apiVersion":"v1","kind":"A","size":"large"}"#)).unwrap();
    assert_eq!(odd.stored().unwrap().kind(), "A");
    let told = odd.get().err().unwrap().to_string();
    assert_eq!(told, "the value does not have the form of its type");
    assert!(odd.get_mut().is_err());
    // Still as it was stored.
    assert!(codec.encode(&odd).unwrap().ends_with(br#""large"}"#));

    #[derive(Debug)]
    struct NoPlace;
    impl Versioner<Sized> for NoPlace {
        fn resource_version(&self, _: &Sized) -> Result<u64, kubestore_core::InvalidResourceVersion> {
            Ok(0)
        }
        fn set_resource_version(&self, _: &mut Sized, _: u64) -> Result<(), kubestore_core::BoxError> {
            Ok(())
        }
        fn prepare_for_storage(&self, _: &mut Sized) -> Result<(), kubestore_core::BoxError> {
            Ok(())
        }
        fn uid<'a>(&self, _: &'a Sized) -> Cow<'a, str> {
            Cow::Borrowed("")
        }
        fn find<'a>(&self, _: &'a Sized, wanted: &Wanted) -> kubestore_core::Found<'a> {
            wanted.nothing_found()
        }
    }
}
