//! What the benchmarks share: a Pod of about 4 KiB, keys, transformers.

mod cluster_pod;

use std::sync::Arc;

use kubestore::{
    codec::Unstructured,
    transform::{Identity, Key, Provider, ProviderChain, Transformer},
};
use serde_json::{Value, json};

pub use bytes::Bytes;
pub use cluster_pod::{NODES, cluster_key, cluster_pod};

/// A Pod that takes about 4 KiB as JSON, shaped like those of a cluster: labels, annotations, containers, volumes,
/// conditions, statuses.
#[must_use]
pub fn pod(number: usize) -> Unstructured {
    let container = |name: &str| {
        json!({
            "name": name,
            "image": format!("registry.example.com/team/{name}:v1.{number}"),
            "args": ["--listen=:8080", "--log-level=info", "--shards=16", "--timeout=30s"],
            "env": (0..6).map(|env| json!({"name": format!("SETTING_{env}"), "value": format!("value-{env}-of-{name}")})).collect::<Vec<_>>(),
            "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
            "volumeMounts": [{"mountPath": "/etc/app", "name": "config", "readOnly": true}]
        })
    };
    let condition = |kind: &str| json!({"lastProbeTime": null, "lastTransitionTime": "2024-08-14T09:00:00Z", "status": "True", "type": kind});
    let conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition);
    let object = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": (0..5).map(|n| (format!("example.com/note-{n}"), Value::from("x".repeat(60)))).collect::<serde_json::Map<_, _>>(),
            "creationTimestamp": "2024-08-14T09:00:00Z",
            "labels": {"app": format!("app-{}", number % 100), "pod-template-hash": "5d9c7b8f6", "tier": "front", "track": "stable", "zone": "a"},
            "name": format!("web-{number:06}"),
            "namespace": format!("ns-{}", number % 20),
            "uid": format!("f3a4e6f0-1a2b-4c3d-8e9f-{number:012}")
        },
        "spec": {
            "containers": [container("web"), container("proxy")],
            "nodeName": format!("node-{}", number % 100),
            "restartPolicy": "Always",
            "serviceAccountName": "default",
            "tolerations": [{"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300}],
            "volumes": [{"configMap": {"defaultMode": 420, "name": "config"}, "name": "config"}, {"emptyDir": {}, "name": "cache"}]
        },
        "status": {
            "conditions": conditions,
            "hostIP": "10.0.0.1",
            "phase": "Running",
            "podIP": "10.1.2.3",
            "qosClass": "Burstable",
            "startTime": "2024-08-14T09:00:00Z"
        }
    });
    let Value::Object(members) = object else { unreachable!("the object is one") };
    Unstructured::from(kubestore::codec::Map::from(members))
}

/// The store's key of a [`pod`].
#[must_use]
pub fn key(number: usize) -> String {
    format!("/pods/ns-{}/web-{number:06}", number % 20)
}

/// No encryption, and AES-GCM with a key of 32 bytes; with their names.
///
/// # Panics
/// Never: the key is a good one.
#[must_use]
pub fn transformers() -> [(&'static str, Arc<dyn Transformer>); 2] {
    let chain = Key::new("key1", [7; 32])
        .ok()
        .and_then(|key| Provider::aes_gcm([key]).ok())
        .and_then(|provider| ProviderChain::new([provider]).ok());
    let Some(chain) = chain else { unreachable!("a key of 32 bytes is a good one") };
    [("identity", Arc::new(Identity)), ("aesgcm", Arc::new(chain))]
}
