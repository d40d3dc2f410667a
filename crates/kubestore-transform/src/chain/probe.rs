//! Measuring one transformation.

use std::{sync::Arc, time::Instant};

use kubestore_metrics::{
    Direction, Event, Recorder, ResourceLabels,
    names::{PREFIX_UNKNOWN, STATUS_LOCAL_FAILURE, STATUS_OK},
};

/// Where a chain reports to, and as what.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) recorder: Arc<dyn Recorder>,
    /// Group and resource.
    pub(super) resource: Option<(String, String)>,
}

/// A started measurement. Without a recorder it does nothing, and does not ask for the time either.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe<'a>(Option<Running<'a>>);

#[derive(Clone, Copy, Debug)]
struct Running<'a> {
    recorder: &'a dyn Recorder,
    resource: Option<ResourceLabels<'a>>,
    direction: Direction,
    start: Instant,
}

impl<'a> Probe<'a> {
    pub(super) fn new(measured: Option<&'a Measured>, direction: Direction) -> Self {
        Self(measured.map(|measured| Running {
            recorder: &*measured.recorder,
            resource:
                measured.resource.as_ref().map(|(group, resource)| ResourceLabels::new(group, resource)),
            direction,
            start: Instant::now(),
        }))
    }

    /// Something with this prefix was done, from the start until now.
    pub(crate) fn record(self, prefix: &str, ok: bool) {
        if let Some(Running { recorder, resource, direction, start }) = self.0 {
            let status = if ok { STATUS_OK } else { STATUS_LOCAL_FAILURE };
            recorder.record(Event::Transformation {
                resource,
                direction,
                prefix,
                status,
                took: start.elapsed(),
            });
        }
    }

    /// Nothing took the value.
    pub(crate) fn record_unknown(self) {
        self.record(PREFIX_UNKNOWN, false);
    }

    pub(crate) fn record_key_write(self, provider: &str, key: &str) {
        if let Some(Running { recorder, .. }) = self.0 {
            recorder.record(Event::KeyWrite { provider, key });
        }
    }
}
