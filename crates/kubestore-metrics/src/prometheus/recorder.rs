//! Events to metrics.

use std::time::Duration;

use prometheus::Registry;

use super::{LabelSet, RegisterError, collectors::Collectors};
use crate::{EtcdOperation, Event, Recorder, ResourceLabels, names::STATUS_OK};

/// Keeps the metrics in a [`Registry`]. Clones share them.
///
/// ```
/// use kubestore_metrics::{Event, LabelSet, PrometheusRecorder, Recorder, ResourceLabels};
///
/// let registry = prometheus::Registry::new();
/// let recorder = PrometheusRecorder::new(&registry, LabelSet::Combined)?;
/// recorder.record(Event::DecodeError { resource: ResourceLabels::new("apps", "deployments") });
/// let text = prometheus::TextEncoder::new().encode_to_string(&registry.gather())?;
/// assert!(text.contains(r#"apiserver_storage_decode_errors_total{resource="deployments.apps"} 1"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PrometheusRecorder {
    labels: LabelSet,
    metrics: Collectors,
}

impl PrometheusRecorder {
    /// Registers all metrics in `registry`.
    ///
    /// # Errors
    /// The registry has one of the names already, most likely from another recorder: make one, and clone it. Nothing
    /// is registered then.
    pub fn new(registry: &Registry, labels: LabelSet) -> Result<Self, RegisterError> {
        let metrics = Collectors::new(labels).map_err(RegisterError)?;
        registry.register(Box::new(metrics.clone())).map_err(RegisterError)?;
        Ok(Self { labels, metrics })
    }

    fn request(&self, operation: EtcdOperation, resource: ResourceLabels<'_>, ok: bool, took: Duration) {
        self.labels.with_request(operation.label(), resource, |values| {
            self.metrics.request_duration.with_label_values(values).observe(took.as_secs_f64());
            self.metrics.requests.with_label_values(values).inc();
            if !ok {
                self.metrics.request_errors.with_label_values(values).inc();
            }
        });
    }

    fn list(&self, resource: ResourceLabels<'_>, [fetched, evaluated, returned]: [u64; 3]) {
        self.labels.with_resource(resource, |values| {
            self.metrics.lists.with_label_values(values).inc();
            self.metrics.list_fetched.with_label_values(values).inc_by(fetched);
            self.metrics.list_evaluated.with_label_values(values).inc_by(evaluated);
            self.metrics.list_returned.with_label_values(values).inc_by(returned);
        });
    }

    fn object_count(&self, resource: ResourceLabels<'_>, count: Option<u64>) {
        let count = count.map_or(-1, saturating);
        self.metrics.storage_objects.with_label_values(&[resource.combined()]).set(count);
        if let Some(gauge) = &self.metrics.resource_objects {
            self.labels.with_resource(resource, |values| gauge.with_label_values(values).set(count));
        }
    }

    fn transformation(&self, resource: Option<ResourceLabels<'_>>, rest: [&str; 3], took: Duration) {
        let [direction, prefix, status] = rest;
        self.labels.with_transformation(resource, rest, |values| {
            self.metrics.transformations.with_label_values(values).inc();
        });
        if status == STATUS_OK {
            let timed = self.metrics.transformation_duration.with_label_values(&[direction, prefix]);
            timed.observe(took.as_secs_f64());
        }
    }
}

impl Recorder for PrometheusRecorder {
    fn record(&self, event: Event<'_>) {
        let (labels, metrics) = (self.labels, &self.metrics);
        match event {
            Event::EtcdRequest { operation, resource, ok, took } => {
                self.request(operation, resource, ok, took)
            }
            Event::List { resource, fetched, evaluated, returned } => {
                self.list(resource, [fetched, evaluated, returned]);
            }
            Event::Decode { resource, took } => labels.with_resource(resource, |values| {
                metrics.decode_duration.with_label_values(values).observe(took.as_secs_f64());
            }),
            Event::DecodeError { resource } => {
                labels
                    .with_resource(resource, |values| metrics.decode_errors.with_label_values(values).inc());
            }
            Event::WatchEvents { resource, count } => labels.with_resource(resource, |values| {
                metrics.events_received.with_label_values(values).inc_by(count);
            }),
            Event::WatchBookmark { resource } => {
                labels.with_resource(resource, |values| metrics.bookmarks.with_label_values(values).inc());
            }
            Event::WatchLag { resource, took } => labels.with_resource(resource, |values| {
                metrics.watch_lag.with_label_values(values).observe(took.as_secs_f64());
            }),
            Event::LeaseObjects { count } => {
                #[expect(clippy::cast_precision_loss, reason = "a lease holds far fewer than 2^53 objects")]
                metrics.lease_objects.with_label_values::<&str>(&[]).observe(count as f64);
            }
            Event::ObjectCount { resource, count } => self.object_count(resource, count),
            Event::StorageSize { cluster, bytes } => {
                metrics.storage_size.with_label_values(&[cluster]).set(saturating(bytes));
            }
            Event::Transformation { resource, direction, prefix, status, took } => {
                self.transformation(resource, [direction.label(), prefix, status], took);
            }
            Event::KeyWrite { provider, key } => metrics.key_writes.with_label_values(&[provider, key]).inc(),
        }
    }
}

fn saturating(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
