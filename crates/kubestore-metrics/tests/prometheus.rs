//! The exported text, as a scrape sees it.
#![cfg(feature = "prometheus")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{error::Error, time::Duration};

use kubestore_metrics::{
    Direction, EtcdOperation, Event, LabelSet, PrometheusRecorder, Recorder, ResourceLabels, names,
};
use prometheus::{Registry, TextEncoder};

const PODS: ResourceLabels<'_> = ResourceLabels::new("", "pods");
const DEPLOYMENTS: ResourceLabels<'_> = ResourceLabels::new("apps", "deployments");

fn recorder(labels: LabelSet) -> (Registry, PrometheusRecorder) {
    let registry = Registry::new();
    let recorder = PrometheusRecorder::new(&registry, labels).unwrap();
    (registry, recorder)
}

/// The sample lines of one metric family, in the order of the text format.
fn samples(registry: &Registry, name: &str) -> Vec<String> {
    let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
    text.lines()
        .filter(|line| {
            line.strip_prefix(name).is_some_and(|rest| {
                rest.starts_with(['{', ' '])
                    || ["_bucket{", "_sum", "_count"].iter().any(|part| rest.starts_with(part))
            })
        })
        .map(str::to_owned)
        .collect()
}

fn kind(registry: &Registry, name: &str) -> Option<String> {
    let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
    text.lines().find_map(|line| line.strip_prefix(&format!("# TYPE {name} ")).map(str::to_owned))
}

fn one_of_each(recorder: &PrometheusRecorder) {
    let took = Duration::from_millis(10);
    recorder.record(Event::EtcdRequest {
        operation: EtcdOperation::Get,
        resource: DEPLOYMENTS,
        ok: true,
        took,
    });
    recorder.record(Event::EtcdRequest {
        operation: EtcdOperation::Get,
        resource: DEPLOYMENTS,
        ok: false,
        took,
    });
    recorder.record(Event::EtcdRequest {
        operation: EtcdOperation::ListWithCount,
        resource: PODS,
        ok: true,
        took,
    });
    recorder.record(Event::List { resource: DEPLOYMENTS, fetched: 7, evaluated: 5, returned: 3 });
    recorder.record(Event::Decode { resource: DEPLOYMENTS, took });
    recorder.record(Event::DecodeError { resource: DEPLOYMENTS });
    recorder.record(Event::WatchEvents { resource: DEPLOYMENTS, count: 4 });
    recorder.record(Event::WatchBookmark { resource: DEPLOYMENTS });
    recorder.record(Event::WatchBookmark { resource: DEPLOYMENTS });
    recorder.record(Event::LeaseObjects { count: 120 });
    recorder.record(Event::ObjectCount { resource: DEPLOYMENTS, count: Some(42) });
    recorder.record(Event::ObjectCount { resource: PODS, count: None });
    recorder.record(Event::StorageSize { cluster: "etcd-0", bytes: 4096 });
    for status in [names::STATUS_OK, names::STATUS_LOCAL_FAILURE] {
        recorder.record(Event::Transformation {
            resource: Some(DEPLOYMENTS),
            direction: Direction::FromStorage,
            prefix: "k8s:enc:aesgcm:v1:",
            status,
            took: Duration::from_micros(6),
        });
    }
    recorder.record(Event::KeyWrite { provider: "aesgcm", key: "key1" });
}

#[test]
fn labels_of_release_1_31() {
    let (registry, recorder) = recorder(LabelSet::Combined);
    one_of_each(&recorder);
    let expect = [
        ("etcd_requests_total", r#"{operation="get",type="deployments.apps"} 2"#),
        ("etcd_requests_total", r#"{operation="listWithCount",type="pods"} 1"#),
        ("etcd_request_errors_total", r#"{operation="get",type="deployments.apps"} 1"#),
        ("apiserver_storage_list_total", r#"{resource="deployments.apps"} 1"#),
        ("apiserver_storage_list_fetched_objects_total", r#"{resource="deployments.apps"} 7"#),
        ("apiserver_storage_list_evaluated_objects_total", r#"{resource="deployments.apps"} 5"#),
        ("apiserver_storage_list_returned_objects_total", r#"{resource="deployments.apps"} 3"#),
        ("apiserver_storage_decode_errors_total", r#"{resource="deployments.apps"} 1"#),
        ("apiserver_storage_events_received_total", r#"{resource="deployments.apps"} 4"#),
        ("etcd_bookmark_counts", r#"{resource="deployments.apps"} 2"#),
        ("apiserver_storage_objects", r#"{resource="deployments.apps"} 42"#),
        ("apiserver_storage_objects", r#"{resource="pods"} -1"#),
        ("apiserver_storage_size_bytes", r#"{storage_cluster_id="etcd-0"} 4096"#),
        (
            "apiserver_storage_transformation_operations_total",
            r#"{status="OK",transformation_type="from_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 1"#,
        ),
        (
            "apiserver_storage_transformation_operations_total",
            r#"{status="unknown-non-grpc",transformation_type="from_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 1"#,
        ),
        ("kubestore_transformer_key_writes_total", r#"{key="key1",provider="aesgcm"} 1"#),
    ];
    for (name, line) in expect {
        let lines = samples(&registry, name);
        assert!(lines.contains(&format!("{name}{line}")), "{name}{line} is not in {lines:#?}");
    }
    assert_eq!(samples(&registry, "etcd_request_errors_total").len(), 1);
    assert_eq!(kind(&registry, "apiserver_resource_objects"), None);
    assert_eq!(kind(&registry, "etcd_bookmark_counts").as_deref(), Some("gauge"));
    assert_eq!(kind(&registry, "etcd_requests_total").as_deref(), Some("counter"));
}

#[test]
fn labels_since_release_1_34() {
    let (registry, recorder) = recorder(LabelSet::GroupResource);
    one_of_each(&recorder);
    let expect = [
        ("etcd_requests_total", r#"{group="apps",operation="get",resource="deployments"} 2"#),
        ("etcd_requests_total", r#"{group="",operation="listWithCount",resource="pods"} 1"#),
        ("etcd_request_errors_total", r#"{group="apps",operation="get",resource="deployments"} 1"#),
        ("apiserver_storage_list_total", r#"{group="apps",resource="deployments"} 1"#),
        ("apiserver_storage_decode_errors_total", r#"{group="apps",resource="deployments"} 1"#),
        ("apiserver_storage_events_received_total", r#"{group="apps",resource="deployments"} 4"#),
        ("etcd_bookmark_counts", r#"{group="apps",resource="deployments"} 2"#),
        ("apiserver_storage_objects", r#"{resource="deployments.apps"} 42"#),
        ("apiserver_resource_objects", r#"{group="apps",resource="deployments"} 42"#),
        (
            "apiserver_storage_transformation_operations_total",
            r#"{resource="deployments.apps",status="OK",transformation_type="from_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 1"#,
        ),
    ];
    for (name, line) in expect {
        let lines = samples(&registry, name);
        assert!(lines.contains(&format!("{name}{line}")), "{name}{line} is not in {lines:#?}");
    }
}

#[test]
fn buckets_are_those_of_kubernetes() {
    let (registry, recorder) = recorder(LabelSet::Combined);
    one_of_each(&recorder);
    let bounds = |name: &str| -> Vec<String> {
        let of_first = samples(&registry, name);
        let bound =
            |line: &String| line.split("le=\"").nth(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        let mut bounds: Vec<_> = of_first.iter().filter_map(bound).collect();
        if let Some(end) = bounds.iter().position(|bound| bound == "+Inf") {
            bounds.truncate(end);
        }
        bounds
    };
    assert_eq!(
        bounds("etcd_request_duration_seconds").join(" "),
        "0.005 0.025 0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 20 30 45 60"
    );
    assert_eq!(bounds("etcd_lease_object_counts").join(" "), "10 50 100 500 1000 2500 5000");
    let transformation = bounds("apiserver_storage_transformation_duration_seconds");
    assert_eq!(transformation.len(), 25);
    assert_eq!(transformation[..3], ["0.000005", "0.00001", "0.00002"]);
    assert_eq!(transformation[24].parse::<f64>().unwrap(), 83.886_08);
}

#[test]
fn times_are_in_seconds_and_failed_transformations_are_not_timed() {
    let (registry, recorder) = recorder(LabelSet::Combined);
    one_of_each(&recorder);
    let durations = samples(&registry, "etcd_request_duration_seconds");
    let get = r#"operation="get",type="deployments.apps""#;
    assert!(
        durations.contains(&format!(r#"etcd_request_duration_seconds_sum{{{get}}} 0.02"#)),
        "{durations:#?}"
    );
    assert!(durations.contains(&format!(r#"etcd_request_duration_seconds_bucket{{{get},le="0.005"}} 0"#)));
    assert!(durations.contains(&format!(r#"etcd_request_duration_seconds_bucket{{{get},le="0.025"}} 2"#)));
    let timed = samples(&registry, "apiserver_storage_transformation_duration_seconds");
    let count = timed.iter().find(|line| line.contains("_count")).unwrap();
    assert!(count.ends_with(" 1"), "{count}");
    let leases = samples(&registry, "etcd_lease_object_counts");
    assert!(leases.contains(&"etcd_lease_object_counts_sum 120".to_owned()), "{leases:#?}");
    assert!(leases.contains(&r#"etcd_lease_object_counts_bucket{le="500"} 1"#.to_owned()));
}

#[test]
fn second_recorder_is_refused_and_leaves_the_registry_as_it_was() {
    let registry = Registry::new();
    let first = PrometheusRecorder::new(&registry, LabelSet::Combined).unwrap();
    let refused = PrometheusRecorder::new(&registry, LabelSet::GroupResource).unwrap_err();
    assert!(refused.to_string().ends_with("make one recorder and clone it"), "{refused}");
    assert!(refused.source().is_some());
    let second = first.clone();
    second.record(Event::DecodeError { resource: PODS });
    first.record(Event::DecodeError { resource: PODS });
    assert_eq!(
        samples(&registry, "apiserver_storage_decode_errors_total"),
        [r#"apiserver_storage_decode_errors_total{resource="pods"} 2"#]
    );
}

#[test]
fn operations_have_kubernetes_names() {
    let names = [
        (EtcdOperation::Get, "get"),
        (EtcdOperation::List, "list"),
        (EtcdOperation::ListWithCount, "listWithCount"),
        (EtcdOperation::ListStream, "listStream"),
        (EtcdOperation::ListOnlyKeys, "listOnlyKeys"),
        (EtcdOperation::Create, "create"),
        (EtcdOperation::Update, "update"),
        (EtcdOperation::Delete, "delete"),
    ];
    for (operation, name) in names {
        assert_eq!(operation.label(), name);
    }
}
