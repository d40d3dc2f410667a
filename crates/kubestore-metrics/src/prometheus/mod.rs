//! The recorder that keeps the metrics in a Prometheus registry.

mod collectors;
mod error;
mod exporter;
mod label_set;
mod recorder;

pub use error::RegisterError;
pub use exporter::PrometheusExporter;
pub use label_set::LabelSet;
pub use recorder::PrometheusRecorder;
