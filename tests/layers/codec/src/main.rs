//! `kubestore-codec` alone: an object of any shape as Kubernetes keeps it, and what a selector sees of it.

use bytes::Bytes;
use kubestore_codec::{Encoding, Unstructured, UnstructuredCodec, UnstructuredVersioner, sniff};
use kubestore_core::{BoxError, Codec, Predicate, Versioner};

fn main() -> Result<(), BoxError> {
    let mut pod = Unstructured::new("v1", "Pod", "default", "a");
    pod.set_label("app", "web");
    pod.set_resource_version("7");
    UnstructuredVersioner.prepare_for_storage(&mut pod)?;

    let stored = UnstructuredCodec.encode(&pod)?;
    let json = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"web"},"name":"a","namespace":"default"}}"#;
    assert_eq!(stored, Bytes::from(format!("{json}\n")));
    assert_eq!(sniff(&stored), Encoding::Json);

    let mut read = UnstructuredCodec.decode(stored)?;
    UnstructuredVersioner.set_resource_version(&mut read, 8)?;
    assert_eq!((read.name(), read.resource_version()), ("a", "8"));

    let predicate = Predicate::new("app=web".parse()?, "metadata.name=a".parse()?);
    assert!(predicate.matches(&UnstructuredVersioner.find(&read, &predicate.wanted())));
    assert!(UnstructuredCodec.decode(Bytes::from_static(b"{\"kind\":")).is_err());
    Ok(())
}
