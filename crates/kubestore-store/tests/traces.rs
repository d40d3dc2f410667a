//! Spans with their fields, steps as events, and the line about a slow operation.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex},
    time::Duration,
};

use common::{builder, fill, memory, pod};
use kubestore_core::{CreateOptions, ListOptions, Storage, StorageExt, WatchOptions};
use tracing::{
    Subscriber,
    field::{Field, Visit},
    span,
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt as _},
    registry::LookupSpan,
};

/// A span or event: its name or message, and its fields as text.
type Traced = (String, BTreeMap<String, String>);

/// What was traced, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Traced>>>);

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Seen {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, _: &span::Id, _: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        self.0.lock().unwrap().push((attributes.metadata().name().to_owned(), fields.0));
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let message = fields.0.remove("message").unwrap_or_default();
        self.0.lock().unwrap().push((message, fields.0));
    }
}

impl Seen {
    fn all(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        let seen = self.0.lock().unwrap();
        seen.iter().filter(|(seen, _)| seen == name).map(|(_, fields)| fields.clone()).collect()
    }

    fn one(&self, name: &str) -> BTreeMap<String, String> {
        let mut all = self.all(name);
        assert_eq!(all.len(), 1, "{name}: {all:?}");
        all.remove(0)
    }
}

#[tokio::test]
async fn each_operation_has_one_span_with_its_fields() {
    let seen = Seen::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(seen.clone()));
    let store = builder(memory()).build();
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    store.read("/pods/ns1/a").await.unwrap();
    store
        .update_with("/pods/ns1/a", |pod: Option<_>, _| async move {
            Ok(kubestore_core::Updated::new(pod.unwrap()))
        })
        .await
        .unwrap();
    store.get_list("/pods", ListOptions::recursive().with_limit(7)).await.unwrap();
    store.count("/pods").await.unwrap();
    drop(store.watch("/pods", WatchOptions::recursive().with_resource_version("1")).await.unwrap());
    store.remove("/pods/ns1/a").await.unwrap();
    for (name, key) in [
        ("create", "/pods/ns1/a"),
        ("get", "/pods/ns1/a"),
        ("update", "/pods/ns1/a"),
        ("delete", "/pods/ns1/a"),
        ("list", "/pods"),
        ("count", "/pods"),
        ("watch", "/pods"),
    ] {
        let span = seen.one(name);
        assert_eq!((span["key"].as_str(), span["resource"].as_str()), (key, "pods"), "{name}");
        assert_eq!(span["group"], "", "{name}");
        assert!(span["type"].contains("Unstructured"), "{name}: {}", span["type"]);
    }
    let list = seen.one("list");
    assert_eq!(
        (list["recursive"].as_str(), list["limit"].as_str(), list["selector"].as_str()),
        ("true", "7", "false")
    );
    assert_eq!(seen.one("watch")["resource_version"], "1");
}

#[tokio::test]
async fn steps_are_events_with_sizes() {
    let seen = Seen::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(seen.clone()));
    let store = builder(memory()).build();
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    let encoded: usize = seen.one("encoded")["size"].parse().unwrap();
    assert!(encoded > 50, "{encoded}");
    assert_eq!(seen.one("transformed")["size"], encoded.to_string());
    assert_eq!(seen.one("transaction")["size"], encoded.to_string());
}

#[tokio::test]
async fn a_slow_operation_logs_one_line_with_its_steps() {
    let seen = Seen::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(seen.clone()));
    let quick = builder(memory()).build();
    fill(&quick, 2).await;
    assert_eq!(seen.all("slow storage operation").len(), 0);
    let slow = builder(memory()).slow_operation(Duration::ZERO).build();
    slow.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    let line = seen.one("slow storage operation");
    assert_eq!((line["operation"].as_str(), line["key"].as_str()), ("create", "/pods/ns1/a"));
    for step in ["encoded (", "transformed (", "transaction ("] {
        assert!(line["steps"].contains(step), "{}", line["steps"]);
    }
}
