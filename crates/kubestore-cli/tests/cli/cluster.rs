//! What a real API server has written: shown as it shows it, from a snapshot, a directory and an etcd.

use std::{collections::BTreeMap, fs};

use kubestore_etcd::testing::EtcdProcess;
use serde_json::{Value, json};

use crate::command::Kubestore;

/// By resource, what the API server answered.
fn expected(k: &Kubestore) -> BTreeMap<String, Vec<Value>> {
    let text = fs::read_to_string(k.path("cluster/objects.json")).unwrap();
    let mut objects: BTreeMap<String, Vec<Value>> = serde_json::from_str(&text).unwrap();
    // The one resource that is not stored.
    objects.remove("componentstatuses");
    objects
}

/// Checks every object field by field, and returns how many there were, and which are not among the expected ones. What was
/// copied has resource versions of its own.
fn all_is_shown(k: &Kubestore, copied: bool) -> (usize, Vec<String>) {
    let (mut shown, mut others) = (0, Vec::new());
    for (resource, mut wanted) in expected(k) {
        let list: Value = serde_json::from_str(&k.run(&format!("get {resource} -A -o json")).ok()).unwrap();
        assert_eq!((&list["apiVersion"], &list["kind"]), (&json!("v1"), &json!("List")), "{resource}");
        let mut items = list["items"].as_array().unwrap().clone();
        if copied {
            for object in items.iter_mut().chain(&mut wanted) {
                object["metadata"].as_object_mut().unwrap().remove("resourceVersion").unwrap();
            }
        }
        let name = |object: &Value| {
            let part = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
            (part("namespace"), part("name"))
        };
        items.retain(|item| {
            let is_expected = wanted.iter().any(|wanted| name(wanted) == name(item));
            if !is_expected {
                others.push(format!("{resource}/{}", name(item).1));
            }
            is_expected
        });
        items.sort_by_key(name);
        wanted.sort_by_key(name);
        assert_eq!(items.len(), wanted.len(), "{resource}");
        for (item, wanted) in items.iter().zip(&wanted) {
            assert_eq!(item, wanted, "{resource} {:?}", name(wanted));
            shown += 1;
        }
    }
    (shown, others)
}

/// Of the 79 objects, those that are not served are a range of ports and a server's lease; events are served twice.
const SHOWN: usize = 79 - 2 + 1;

#[test]
fn every_object_of_a_snapshot_is_shown_as_its_server_shows_it() {
    assert_eq!(all_is_shown(&Kubestore::cluster(), false), (SHOWN, Vec::new()));
}

/// What the server changed of its own between the answers and the snapshot is not compared.
#[test]
fn objects_of_every_kind_are_shown_as_their_server_shows_them() {
    let (shown, others) = all_is_shown(&Kubestore::kinds(), false);
    assert_eq!(shown, 352);
    let own = [
        "endpoints/kubernetes",
        "endpointslices.discovery.k8s.io/kubernetes",
        "leases.coordination.k8s.io/leader-election-controller",
    ];
    assert_eq!(others, own);
}

/// Puts the keys and values of the cluster into the store.
fn load(k: &Kubestore) {
    let snapshot = k.path("cluster/snapshot.db").display().to_string();
    let exported = k.run_without_store(&format!("export --snapshot {snapshot}"));
    let (lines, _) = exported.noted();
    let report = k.run_words(&["import"], &lines).ok();
    assert_eq!(report, "79 keys: 79 created, 0 overwritten, 0 there already, 2 without their lease\n");
}

#[test]
fn every_object_is_shown_from_a_directory() {
    let k = Kubestore::cluster();
    let data = k.data().display().to_string();
    let k = k.with_storage(&["--data-dir", &data]);
    load(&k);
    assert_eq!(all_is_shown(&k, true), (SHOWN, Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_object_is_shown_from_an_etcd() {
    let etcd = EtcdProcess::start().await.unwrap();
    let k = Kubestore::cluster().with_storage(&["--endpoints", &etcd.endpoint()]);
    load(&k);
    assert_eq!(all_is_shown(&k, true), (SHOWN, Vec::new()));
    let name = "get pods -A -l app=web -o name";
    assert_eq!(k.run(&name.replace("-l app=web", "--field-selector spec.nodeName=node1")).ok(), "pod/p1\n");
}

#[test]
fn tables_yaml_and_short_names_are_of_any_kind() {
    let k = Kubestore::cluster();
    let table = k.run("get deploy,svc,crd -A").ok();
    assert!(table.contains("deployment.apps/web   "), "{table}");
    assert!(table.contains("service/kubernetes   ClusterIP   10.0.0.1 "), "{table}");
    assert!(
        table.contains("customresourcedefinition.apiextensions.k8s.io/widgets.shop.example.com   "),
        "{table}"
    );
    let yaml = k.run("get secret db -o yaml").ok();
    assert!(yaml.starts_with("apiVersion: v1\ndata:\n"), "{yaml}");
    assert_eq!(k.run("get widgets -o name").ok(), "widget.shop.example.com/w1\nwidget.shop.example.com/w2\n");
    assert_eq!(k.run("count widgets,pods -A").ok(), "widgets.shop.example.com\t2\npods\t1\n");
    assert_eq!(
        k.run("get componentstatuses").error(),
        "componentstatuses are answered by an API server and not stored"
    );
}

#[test]
fn a_snapshot_is_not_written_to() {
    let k = Kubestore::cluster();
    for line in [
        "delete secret db",
        "apply -f cluster/objects.json",
        "import cluster/objects.json",
        "encryption rewrap",
    ] {
        let error = k.run(line).usage();
        assert!(
            error.starts_with("--snapshot: a snapshot is only read; name a store to write to"),
            "{line}: {error}"
        );
    }
    let error = k.run("get pods --data-dir x").code;
    assert_eq!(error, 2);
    fs::write(k.path("cut.db"), &fs::read(k.path("cluster/snapshot.db")).unwrap()[..30_000]).unwrap();
    let cut = k.with_storage(&["--snapshot", "cut.db"]);
    let error = cut.run("get pods").error();
    assert!(error.starts_with("cut.db: "), "{error}");
    assert!(cut.with_storage(&["--snapshot", "none.db"]).run("get pods").error().starts_with("none.db: "));
}
