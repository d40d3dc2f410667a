//! A Pod as a Deployment makes them, filled in by a kubelet: what `load` stores.

use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

/// `spec.nodeName=node-042` therefore matches one Pod in a hundred.
pub const NODES: usize = 100;

const MANAGED_BY_CONTROLLER: &str = r#"{"f:metadata":{"f:annotations":{".":{},"f:checksum/config":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/component":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/name":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"6f0f6c3e-2f0a-4b58-9d5c-0d5a6a3f9b11\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"LOG_LEVEL\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:httpGet":{".":{},"f:path":{},"f:port":{}}},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{},"f:requests":{}}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}"#;
const MANAGED_BY_KUBELET: &str = r#"{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"10.1.2.3\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}"#;

const TOKEN: &str = "kube-api-access-x7k2p";

/// The Pod of a number: about 4 KiB in protobuf and 6.5 KiB in JSON.
///
/// # Errors
/// The types do not know a Pod.
pub fn cluster_pod(number: usize) -> Result<Pod, serde_json::Error> {
    let hash = format!("{:064x}", (number as u64).wrapping_mul(2_654_435_761));
    let began = began(number);
    serde_json::from_value(json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(number, &hash, &began),
        "spec": spec(number),
        "status": status(&hash, &began)
    }))
}

/// The store's key of a [`cluster_pod`].
#[must_use]
pub fn cluster_key(number: usize) -> String {
    format!("/pods/{}/{}", namespace(number), name(number))
}

fn namespace(number: usize) -> String {
    format!("ns-{:02}", number % 20)
}

fn name(number: usize) -> String {
    format!("web-7d4b9c6f5d-{number:07}")
}

/// Seconds after a time in 2024, within one day.
fn began(number: usize) -> String {
    let second = (24 * 1800 + number) % 86_400;
    format!("2024-08-30T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

fn metadata(number: usize, hash: &str, began: &str) -> Value {
    let managed = |manager: &str, fields: &str| {
        let fields: Value = serde_json::from_str(fields).unwrap_or_default();
        json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "time": began, "fieldsType": "FieldsV1", "fieldsV1": fields})
    };
    let mut by_kubelet = managed("kubelet", MANAGED_BY_KUBELET);
    by_kubelet["subresource"] = "status".into();
    json!({
        "name": name(number),
        "generateName": "web-7d4b9c6f5d-",
        "namespace": namespace(number),
        "uid": format!("0b6a4d1e-58f3-4d3b-8a0e-{number:012x}"),
        "creationTimestamp": began,
        "labels": {
            "app.kubernetes.io/name": "web",
            "app.kubernetes.io/instance": format!("web-{:02}", number % 20),
            "app.kubernetes.io/component": "frontend",
            "app.kubernetes.io/version": "1.14.2",
            "app.kubernetes.io/managed-by": "helm",
            "pod-template-hash": "7d4b9c6f5d"
        },
        "annotations": {
            "checksum/config": hash,
            "prometheus.io/scrape": "true",
            "prometheus.io/port": "8080",
            "cni.projectcalico.org/podIP": format!("10.1.{}.{}/32", number / 250 % 250, number % 250),
            "kubernetes.io/config.source": "api"
        },
        "ownerReferences": [{
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7d4b9c6f5d",
            "uid": "6f0f6c3e-2f0a-4b58-9d5c-0d5a6a3f9b11", "controller": true, "blockOwnerDeletion": true
        }],
        "managedFields": [managed("kube-controller-manager", MANAGED_BY_CONTROLLER), by_kubelet]
    })
}

fn spec(number: usize) -> Value {
    json!({
        "volumes": [
            {"name": "config", "configMap": {"name": "web-config", "defaultMode": 420}},
            {"name": TOKEN, "projected": {"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [
                    {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
                ]}}
            ]}}
        ],
        "containers": [web(), sidecar()],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "web",
        "serviceAccount": "web",
        "nodeName": format!("node-{:03}", number % NODES),
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "enableServiceLinks": true,
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        ]
    })
}

fn web() -> Value {
    let probe = |path: &str| {
        json!({
            "httpGet": {"path": path, "port": 8080, "scheme": "HTTP"},
            "initialDelaySeconds": 10, "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3
        })
    };
    json!({
        "name": "web",
        "image": "img.example.com/shop/web:1.14.2",
        "args": ["--port=8080", "--config=/etc/web/web.yaml"],
        "ports": [
            {"name": "http", "containerPort": 8080, "protocol": "TCP"},
            {"name": "metrics", "containerPort": 9090, "protocol": "TCP"}
        ],
        "env": [
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "500m", "memory": "256Mi"}},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/web", "readOnly": true}, token_mount()],
        "livenessProbe": probe("/healthz"),
        "readinessProbe": probe("/readyz"),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent"
    })
}

fn sidecar() -> Value {
    json!({
        "name": "sidecar",
        "image": "img.example.com/mesh/proxy:2.9.1",
        "env": [{"name": "UPSTREAM", "value": "127.0.0.1:8080"}],
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"}},
        "volumeMounts": [token_mount()],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent"
    })
}

fn token_mount() -> Value {
    json!({"name": TOKEN, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true})
}

fn status(hash: &str, began: &str) -> Value {
    let conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
    let condition = |name: &str| json!({"type": name, "status": "True", "lastProbeTime": null, "lastTransitionTime": began});
    let container = |name: &str, image: &str, version: &str| {
        json!({
            "name": name,
            "state": {"running": {"startedAt": began}},
            "lastState": {},
            "ready": true,
            "restartCount": 0,
            "image": format!("{image}:{version}"),
            "imageID": format!("{image}@sha256:{hash}"),
            "containerID": format!("containerd://{hash}"),
            "started": true
        })
    };
    json!({
        "phase": "Running",
        "conditions": conditions.map(condition),
        "hostIP": "192.168.1.7",
        "hostIPs": [{"ip": "192.168.1.7"}],
        "podIP": "10.1.2.3",
        "podIPs": [{"ip": "10.1.2.3"}],
        "startTime": began,
        "containerStatuses": [
            container("web", "img.example.com/shop/web", "1.14.2"),
            container("sidecar", "img.example.com/mesh/proxy", "2.9.1")
        ],
        "qosClass": "Burstable"
    })
}
