//! `kubestore-metrics` alone, without Prometheus: a recorder that adds up what lists cost.

use std::sync::atomic::{AtomicU64, Ordering};

use kubestore_metrics::{Event, NoRecorder, Recorder, ResourceLabels, names};

#[derive(Debug, Default)]
struct Wasted(AtomicU64);

impl Recorder for Wasted {
    fn record(&self, event: Event<'_>) {
        if let Event::List { fetched, returned, .. } = event {
            self.0.fetch_add(fetched.saturating_sub(returned), Ordering::Relaxed);
        }
    }
}

fn main() {
    let resource = ResourceLabels::new("apps", "deployments");
    let list = Event::List { resource, fetched: 500, evaluated: 500, returned: 20 };
    let wasted = Wasted::default();
    for recorder in [&wasted as &dyn Recorder, &NoRecorder] {
        recorder.record(list);
        recorder.record(Event::DecodeError { resource });
    }
    assert_eq!(wasted.0.into_inner(), 480);
    assert_eq!(resource.combined(), "deployments.apps");
    assert_eq!(names::STATUS_OK, "OK");
}
