#![doc = include_str!("../README.md")]

mod event;
mod labels;
pub mod names;
#[cfg(feature = "prometheus")]
mod prometheus;
mod recorder;

#[cfg(feature = "prometheus")]
pub use self::prometheus::{LabelSet, PrometheusExporter, PrometheusRecorder, RegisterError};
pub use event::Event;
pub use labels::{Direction, EtcdOperation, ResourceLabels};
pub use recorder::{NoRecorder, Recorder};
