//! Types of `k8s-openapi` and `kube`.

#![cfg(feature = "kube")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::{borrow::Cow, fmt::Debug};

use bytes::Bytes;
use common::{base64, data, list};
use k8s_openapi::{
    api::{apps::v1::Deployment, core::v1::Pod},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube_core::{ApiResource, DynamicObject, GroupVersionKind, Resource};
use kubestore_codec::{
    JsonCodec, K8sOpenapiVersioner, KubeVersioner, UnstructuredCodec, UnstructuredVersioner,
};
use kubestore_core::{Codec, Versioner, Wanted};
use serde::{Deserialize, Serialize};

fn stored(name: &str) -> Bytes {
    let objects = data(include_str!("data/objects.json"));
    let case = list(&objects, "objects").iter().find(|case| case["name"] == name).unwrap();
    base64(&case["unstructuredJSON"]).into()
}

/// What every versioner must do with an object that has neither resource version nor self link.
fn check_versioner<T: Clone + PartialEq + Debug + Send + Sync + 'static>(
    versioner: &dyn Versioner<T>,
    object: &T,
    codec: &dyn Codec<T>,
) {
    let mut copy = object.clone();
    assert_eq!(versioner.resource_version(&copy), Ok(0));
    versioner.set_resource_version(&mut copy, 77).unwrap();
    assert_eq!(versioner.resource_version(&copy), Ok(77));
    versioner.set_resource_version(&mut copy, 0).unwrap();
    assert_eq!(&copy, object);
    versioner.set_resource_version(&mut copy, u64::MAX).unwrap();
    versioner.prepare_for_storage(&mut copy).unwrap();
    assert_eq!(&copy, object);
    let bytes = codec.encode(object).unwrap();
    let same = UnstructuredCodec.decode(bytes).unwrap();
    assert_eq!(versioner.uid(object), same.uid());
    let fields = ["metadata.name", "metadata.namespace", "spec.nodeName", "spec.replicas", "spec.gone"];
    let wanted = Wanted::new(vec!["app".into(), "gone".into()], fields.map(str::to_owned).to_vec());
    assert_eq!(versioner.find(object, &wanted), UnstructuredVersioner.find(&same, &wanted));
}

#[test]
fn types_of_k8s_openapi_are_versioned_and_written() {
    let codec = JsonCodec::<Pod>::new();
    let mut pod: Pod = codec.decode(stored("pod")).unwrap();
    check_versioner(&K8sOpenapiVersioner, &pod, &codec);
    check_versioner(&KubeVersioner, &pod, &codec);
    let again = codec.decode(codec.encode(&pod).unwrap()).unwrap();
    assert_eq!(again, pod);
    pod.metadata.self_link = Some("x".into());
    Versioner::<Pod>::prepare_for_storage(&K8sOpenapiVersioner, &mut pod).unwrap();
    assert_eq!(pod.metadata.self_link, None);
    pod.metadata.resource_version = Some("-1".into());
    assert!(KubeVersioner.resource_version(&pod).is_err());

    let codec = JsonCodec::<Deployment>::of("apps/v1", "Deployment");
    let deployment = codec.decode(stored("deployment")).unwrap();
    check_versioner(&KubeVersioner, &deployment, &codec);
    assert!(codec.decode(stored("pod")).is_err());
}

#[test]
fn dynamic_objects_are_versioned_and_written() {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("apps", "v1", "Deployment"));
    let codec = JsonCodec::<DynamicObject>::of(&resource.api_version, &resource.kind);
    let deployment: DynamicObject = codec.decode(stored("deployment")).unwrap();
    check_versioner(&KubeVersioner, &deployment, &codec);
    assert_eq!(codec.encode(&deployment).unwrap(), stored("deployment"));
    let untyped = DynamicObject { types: None, ..deployment };
    assert_eq!(codec.encode(&untyped).unwrap(), stored("deployment"));
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Shape {
    metadata: ObjectMeta,
    spec: Corners,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Corners {
    replicas: u8,
}

impl Resource for Shape {
    type DynamicType = ();
    type Scope = kube_core::NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Shape".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "example.com".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "shapes".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[test]
fn custom_resources_are_versioned_and_written() {
    let codec = JsonCodec::<Shape>::of(&Shape::api_version(&()), &Shape::kind(&()));
    let metadata = ObjectMeta { name: Some("a".into()), uid: Some("u1".into()), ..ObjectMeta::default() };
    let shape = Shape { metadata, spec: Corners { replicas: 3 } };
    check_versioner(&KubeVersioner, &shape, &codec);
    let text = r#"{"apiVersion":"example.com/v1","kind":"Shape","metadata":{"name":"a","uid":"u1"},"spec":{"replicas":3}}"#;
    assert_eq!(codec.encode(&shape).unwrap(), format!("{text}\n"));
}
