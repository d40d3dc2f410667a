//! The recorder that keeps the metrics in a Prometheus registry.

mod collectors;
mod error;
mod label_set;
mod recorder;

pub use error::RegisterError;
pub use label_set::LabelSet;
pub use recorder::PrometheusRecorder;
