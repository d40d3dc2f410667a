//! Cases: watches with selectors of cluster-scoped and namespaced objects.

use std::collections::HashMap;

use kubestore_core::{ListOptions, Predicate, Scope, WatchOptions};

use super::{
    Pod, StorageHarness,
    events::Kind::{self, Added, Deleted, Modified},
    fixture::{Fixture, fields},
};

/// What an object becomes, and what the watch tells of it.
type Step = (Pod, Option<Kind>);

/// A watch and what it sees. A watch of one object is by its key, any other of a folder.
struct Row {
    key: String,
    scope: Scope,
    predicate: Predicate,
    steps: Vec<Step>,
}

impl Row {
    async fn check(self, fx: &Fixture) {
        let options = ListOptions::recursive().with_predicate(self.predicate.clone());
        let version = fx.list("/pods", options).await.resource_version;
        let mut options =
            WatchOptions::default().with_resource_version(version.to_string()).with_predicate(self.predicate);
        options.scope = self.scope;
        let mut events = fx.watch(&self.key, options).await;
        let untold_at_the_end = self.steps.last().is_some_and(|(_, told)| told.is_none());
        let mut known: HashMap<String, Pod> = HashMap::new();
        for (pod, told) in self.steps {
            let now = fx.set(&pod.key(), &pod).await;
            let before = known.insert(pod.key(), now.clone()).unwrap_or_default();
            match told {
                Some(Deleted) => events.expect(Deleted, &before.at(&now.resource_version)).await,
                Some(kind) => events.expect(kind, &now).await,
                None => {}
            }
        }
        // What should not have been told would have come before the next event; after the last there is none.
        if untold_at_the_end {
            events.nothing_more().await;
        }
    }
}

/// A folder, everything below it.
fn folder(key: &str, selector: &str, steps: Vec<Step>) -> Row {
    Row { key: key.to_owned(), scope: Scope::Recursive, predicate: fields(selector), steps }
}

/// One object.
fn object(key: &str, selector: &str, steps: Vec<Step>) -> Row {
    Row { scope: Scope::Single, ..folder(key, selector, steps) }
}

/// Steps from texts: `name`, a stage (`new`, `run`, or `@node`), and what is told: `+`, `~`, `-` or nothing.
fn steps(namespaced: bool, script: &str) -> Vec<Step> {
    script.split(", ").map(|step| one_step(namespaced, step)).collect()
}

fn one_step(namespaced: bool, step: &str) -> Step {
    let words: Vec<&str> = step.split(' ').collect();
    let [path, stage, told] = words[..] else { panic!("the case's own step {step:?} has not three words") };
    let (namespace, name) = path.split_once('/').unwrap_or(("", path));
    assert_eq!(namespaced, !namespace.is_empty(), "the case's own step {step:?}");
    let pod = Pod::new(namespace, name);
    let pod = match (stage, stage.strip_prefix('@')) {
        ("new", _) => pod,
        ("run", _) => pod.running(),
        (_, Some(node)) => pod.on_node(node),
        _ => panic!("the case's own stage {stage:?}"),
    };
    let told = match told {
        "+" => Some(Added),
        "~" => Some(Modified),
        "-" => Some(Deleted),
        _ => None,
    };
    (pod, told)
}

/// Watches of objects without a namespace.
pub async fn cluster_scoped_watch(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let steps = |script| steps(false, script);
    let rows = [
        folder("/pods", "", steps("1a new +, 1a run ~, 1b @n +")),
        folder("/pods", "spec.nodeName=n2", steps("2a new ., 2a @n2 +")),
        folder("/pods", "spec.nodeName!=n3", steps("3a new +, 3b new +, 3a run ~, 3a @n3 -")),
        object("/pods/4a", "metadata.name=4a", steps("4a new +, 4b new ., 4a run ~, 4b run .")),
        object(
            "/pods/5a",
            "metadata.name=5a,spec.nodeName=n5",
            steps("5a new ., 5b new ., 5a run ., 5b run ., 5a @n5 +"),
        ),
        object(
            "/pods/6a",
            "spec.nodeName!=n6,metadata.name=6a",
            steps("6a new +, 6b new ., 6a run ~, 6a @n6 -, 6b @n6 ."),
        ),
    ];
    for row in rows {
        row.check(&fx).await;
    }
}

/// Watches of objects with a namespace: of all of them, of one namespace, of one object.
pub async fn namespace_scoped_watch(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    for row in of_all_namespaces().into_iter().chain(of_one_namespace()).chain(of_one_name()) {
        row.check(&fx).await;
    }
}

fn of_all_namespaces() -> Vec<Row> {
    let steps = |script| steps(true, script);
    vec![
        folder("/pods", "", steps("1m/a new +, 1n/b new +, 1m/a run ~, 1n/b run ~")),
        folder("/pods", "metadata.namespace=2m", steps("2m/a new +, 2n/a new ., 2m/a run ~, 2n/a run .")),
        folder("/pods", "spec.nodeName=n3", steps("3m/a new ., 3n/b new ., 3m/a @n3 +, 3n/b @n3 +")),
        folder("/pods", "spec.nodeName!=n4", steps("4m/a new +, 4m/b new +, 4m/a run ~, 4m/a @n4 -")),
        folder(
            "/pods",
            "metadata.name=a10",
            steps("10m/a10 new +, 10n/a10 new +, 10m/b10 new ., 10m/a10 run ~, 10m/a10 @n ~"),
        ),
        folder(
            "/pods",
            "metadata.name=a11,metadata.namespace=11m",
            steps("11m/a11 new +, 11m/b11 new ., 11n/a11 new ., 11m/a11 run ~, 11m/a11 @n ~"),
        ),
        folder(
            "/pods",
            "metadata.name=a12,spec.nodeName=n12",
            steps("12m/a12 new ., 12m/a12 run ., 12m/a12 @n12 +"),
        ),
        folder(
            "/pods",
            "spec.nodeName!=n15,metadata.name=a15",
            steps("15m/a15 new +, 15m/b15 new ., 15m/a15 run ~, 15m/a15 @n15 -, 15m/a15 @n16 +"),
        ),
    ]
}

fn of_one_namespace() -> Vec<Row> {
    let steps = |script| steps(true, script);
    vec![
        folder("/pods/5m", "", steps("5m/a new +, 5n/a new ., 5m/b new +, 5m/a run ~, 5n/a run .")),
        folder("/pods/6m", "metadata.namespace=6m", steps("6m/a new +, 6n/a new ., 6m/a run ~")),
        folder("/pods/7m", "metadata.namespace=7n", steps("7m/a new ., 7n/a new ., 7m/a run ., 7n/a run .")),
        folder("/pods/8m", "spec.nodeName=n8", steps("8m/a new ., 8m/a @other ., 8n/a @n8 ., 8m/a @n8 +")),
        folder("/pods/9n", "spec.nodeName!=n9", steps("9m/a new ., 9n/a new +, 9n/a @n9 -, 9n/a @other +")),
    ]
}

fn of_one_name() -> Vec<Row> {
    let steps = |script| steps(true, script);
    vec![
        object("/pods/16m/a", "metadata.name=a", steps("16m/a new +, 16m/b new ., 16m/a run ~, 16m/a @n ~")),
        object(
            "/pods/17m/b",
            "metadata.name=b,metadata.namespace=17m",
            steps("17m/a new ., 17m/b new +, 17m/a run ., 17m/b @n ~"),
        ),
        object(
            "/pods/18m/a",
            "metadata.name=a,metadata.namespace=18m,spec.nodeName=n18",
            steps("18m/a new ., 18m/b new ., 18n/a new ., 18m/a run ., 18m/a @n18 +"),
        ),
        object(
            "/pods/19m/b",
            "spec.nodeName!=n19,metadata.name=b,metadata.namespace=19m",
            steps("19m/a new ., 19n/b new ., 19m/b new +, 19m/b run ~, 19m/b @n19 -"),
        ),
    ]
}
