//! Objects of several namespaces to list.

use super::{Pod, fixture::Fixture};

/// What a list case begins with.
pub(super) struct Seed {
    /// The resource version before any of the objects.
    pub(super) before: String,
    /// The resource version after all of them.
    pub(super) current: String,
    /// `first/bar`, `second/bar`, `second/foo`, `third/barfoo`, `third/foo`, as stored and in the order of a list. The first
    /// was changed after it was created; `second/baz` was there and is gone.
    pub(super) pods: Vec<Pod>,
}

impl Seed {
    pub(super) async fn plant(fx: &Fixture) -> Self {
        let before = fx.now().await;
        let names =
            [("first", "bar"), ("second", "bar"), ("second", "foo"), ("third", "barfoo"), ("third", "foo")];
        let mut pods = Vec::new();
        for (namespace, name) in names {
            pods.push(fx.create(&Pod::new(namespace, name)).await);
        }
        let gone = fx.create(&Pod::new("second", "baz")).await;
        pods[0] = fx.change(&pods[0].key(), |pod| pod.on_node("fakeNode")).await;
        fx.delete(&gone.key()).await;
        Self { before, current: fx.now().await, pods }
    }

    /// The objects at these places of [`pods`](Self::pods).
    pub(super) fn at(&self, places: &[usize]) -> Vec<Pod> {
        places.iter().map(|place| self.pods[*place].clone()).collect()
    }
}

/// Creates a pod of each name, and gives them as stored with the last one's resource version.
pub(super) async fn create_all(fx: &Fixture, names: &[(&str, &str)]) -> (Vec<Pod>, String) {
    let mut pods = Vec::new();
    for (namespace, name) in names {
        pods.push(fx.create(&Pod::new(namespace, name)).await);
    }
    let last = pods.last().map(|pod| pod.resource_version.clone()).unwrap_or_default();
    (pods, last)
}
