//! The exported text after one success and one failure of each operation.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use common::{builder, faulty, fill, memory, pod, with_number};
use futures_util::StreamExt as _;
use kubestore_conformance::Fault;
use kubestore_core::{CreateOptions, ListOptions, Storage, StorageExt, Updated, WatchOptions};
use kubestore_kv::{KvErrorKind, PutRequest};
use kubestore_metrics::{LabelSet, PrometheusExporter};
use kubestore_store::{Store, StoreBuilder};

type Pods = Store<kubestore_codec::Unstructured>;

fn recorded(builder: StoreBuilder<kubestore_codec::Unstructured>) -> (Pods, PrometheusExporter) {
    let exporter = PrometheusExporter::new(LabelSet::default()).unwrap();
    (builder.recorder(Arc::new(exporter.clone())).build(), exporter)
}

/// The value of a series, as exported.
fn value(exported: &PrometheusExporter, series: &str) -> Option<f64> {
    let text = exported.text();
    let line =
        text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ').map(str::to_owned))?;
    line.parse().ok()
}

fn expect(exported: &PrometheusExporter, expected: &[(&str, f64)]) {
    for (series, count) in expected {
        assert_eq!(value(exported, series), Some(*count), "{series}");
    }
}

async fn change(store: &Pods) -> kubestore_core::Result<kubestore_codec::Unstructured> {
    let update = |current: Option<kubestore_codec::Unstructured>, _| async move {
        Ok(Updated::new(with_number(current.unwrap(), 1)))
    };
    store.update_with("/pods/ns1/a", update).await
}

#[tokio::test]
async fn successes_are_counted_by_operation_and_resource() {
    let (store, exported) = recorded(builder(memory()));
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    store.read("/pods/ns1/a").await.unwrap();
    change(&store).await.unwrap();
    store.get_list("/pods", ListOptions::recursive()).await.unwrap();
    store.get_list("/pods/ns1/a", ListOptions::default()).await.unwrap();
    store.count("/pods/ns1").await.unwrap();
    store.current_resource_version().await.unwrap();
    store.remove("/pods/ns1/a").await.unwrap();
    expect(
        &exported,
        &[
            ("etcd_requests_total{operation=\"create\",type=\"pods\"}", 1.0),
            // get, the reads of update, delete and the list of one key, and the current resource version
            ("etcd_requests_total{operation=\"get\",type=\"pods\"}", 5.0),
            ("etcd_requests_total{operation=\"update\",type=\"pods\"}", 1.0),
            ("etcd_requests_total{operation=\"delete\",type=\"pods\"}", 1.0),
            ("etcd_requests_total{operation=\"list\",type=\"pods\"}", 1.0),
            ("etcd_requests_total{operation=\"listWithCount\",type=\"pods\"}", 1.0),
            ("etcd_request_duration_seconds_count{operation=\"create\",type=\"pods\"}", 1.0),
            ("apiserver_storage_list_total{resource=\"pods\"}", 2.0),
            ("apiserver_storage_list_fetched_objects_total{resource=\"pods\"}", 2.0),
            ("apiserver_storage_list_evaluated_objects_total{resource=\"pods\"}", 2.0),
            ("apiserver_storage_list_returned_objects_total{resource=\"pods\"}", 2.0),
        ],
    );
    assert_eq!(value(&exported, "etcd_request_errors_total{operation=\"create\",type=\"pods\"}"), None);
}

#[tokio::test]
async fn failures_are_counted_by_operation_and_resource() {
    let (store, exported) = recorded(faulty(|_| Fault::fail(KvErrorKind::Unavailable)));
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap_err();
    store.read("/pods/ns1/a").await.unwrap_err();
    store.get_list("/pods", ListOptions::recursive()).await.unwrap_err();
    store.count("/pods").await.unwrap_err();
    let mut cached = pod("a");
    cached.set_resource_version("2");
    let mut allow = kubestore_core::AllowDeletion;
    let delete = store.delete("/pods/ns1/a", Default::default(), &mut allow, Some(cached.clone()));
    delete.await.unwrap_err();
    let mut update = |current: Option<kubestore_codec::Unstructured>, _| {
        Ok(Updated::new(with_number(current.unwrap(), 1)))
    };
    store.guaranteed_update("/pods/ns1/a", Default::default(), &mut update, Some(cached)).await.unwrap_err();
    let failed = ["create", "get", "list", "listWithCount", "delete", "update"];
    for operation in failed {
        for metric in ["etcd_requests_total", "etcd_request_errors_total"] {
            let series = format!("{metric}{{operation=\"{operation}\",type=\"pods\"}}");
            assert_eq!(value(&exported, &series), Some(1.0), "{series}");
        }
    }
    expect(
        &exported,
        &[
            ("apiserver_storage_list_total{resource=\"pods\"}", 1.0),
            ("apiserver_storage_list_returned_objects_total{resource=\"pods\"}", 0.0),
        ],
    );
}

#[tokio::test]
async fn undecodable_values_are_counted() {
    let (store, exported) = recorded(builder(memory()));
    fill(&store, 2).await;
    store.kv().optimistic_put(PutRequest::create("/registry/pods/ns1/z", "damaged")).await.unwrap();
    store.read("/pods/ns1/z").await.unwrap_err();
    store.get_list("/pods", ListOptions::recursive()).await.unwrap_err();
    expect(
        &exported,
        &[
            ("apiserver_storage_decode_errors_total{resource=\"pods\"}", 2.0),
            ("apiserver_storage_list_fetched_objects_total{resource=\"pods\"}", 3.0),
            ("apiserver_storage_list_evaluated_objects_total{resource=\"pods\"}", 2.0),
            ("apiserver_storage_list_returned_objects_total{resource=\"pods\"}", 2.0),
        ],
    );
}

#[tokio::test]
async fn watch_events_and_bookmarks_are_counted() {
    let (store, exported) = recorded(builder(memory()));
    let version = store.current_resource_version().await.unwrap().to_string();
    let options = WatchOptions::recursive().with_resource_version(version);
    let mut events = store.watch("/pods", options).await.unwrap();
    for name in ["a", "b", "c"] {
        store.create(&format!("/pods/ns1/{name}"), pod(name), CreateOptions::default()).await.unwrap();
        assert_eq!(events.next().await.unwrap().unwrap().event_type(), "ADDED");
    }
    store.request_watch_progress().await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().event_type(), "BOOKMARK");
    expect(
        &exported,
        &[
            ("apiserver_storage_events_received_total{resource=\"pods\"}", 3.0),
            ("etcd_bookmark_counts{resource=\"pods\"}", 1.0),
            // Each change was taken before the next one came.
            ("kubestore_watch_lag_seconds_count{resource=\"pods\"}", 3.0),
        ],
    );
}
