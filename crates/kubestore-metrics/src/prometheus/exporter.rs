//! A recorder and its registry in one.

use prometheus::{Registry, TextEncoder};

use super::{LabelSet, PrometheusRecorder, RegisterError};
use crate::{Event, Recorder};

/// A [`PrometheusRecorder`] with a registry of its own, for programs that have none. Clones share the metrics.
///
/// ```
/// use kubestore_metrics::{Event, LabelSet, PrometheusExporter, Recorder, ResourceLabels};
///
/// let exporter = PrometheusExporter::new(LabelSet::Combined)?;
/// exporter.record(Event::DecodeError { resource: ResourceLabels::new("", "pods") });
/// assert!(exporter.text().contains(r#"apiserver_storage_decode_errors_total{resource="pods"} 1"#));
/// # Ok::<(), kubestore_metrics::RegisterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PrometheusExporter {
    registry: Registry,
    recorder: PrometheusRecorder,
}

impl PrometheusExporter {
    /// A new registry with all metrics.
    ///
    /// # Errors
    /// As [`PrometheusRecorder::new`].
    pub fn new(labels: LabelSet) -> Result<Self, RegisterError> {
        let registry = Registry::new();
        let recorder = PrometheusRecorder::new(&registry, labels)?;
        Ok(Self { registry, recorder })
    }

    /// All metrics in Prometheus' text format, as a scrape wants them.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // A metric family that cannot be written as text is left out; ours all can.
        let _ = TextEncoder::new().encode_utf8(&self.registry.gather(), &mut text);
        text
    }
}

impl Recorder for PrometheusExporter {
    fn record(&self, event: Event<'_>) {
        self.recorder.record(event);
    }
}
