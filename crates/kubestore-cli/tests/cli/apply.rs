//! Writing.

use kubestore::{
    codec::protobuf::Envelope,
    kv::{GetRequest, Kv, PutRequest, WriteOutcome},
};
use serde_json::Value;

use crate::command::{Kubestore, config_map};

fn field(k: &Kubestore, object: &str, pointer: &str) -> Value {
    let text = k.run(&format!("get {object} -o json")).ok();
    let object: Value = serde_json::from_str(&text).unwrap();
    object.pointer(pointer).cloned().unwrap_or_default()
}

#[test]
fn a_new_object_gets_what_an_api_server_gives_it() {
    let k = Kubestore::durable();
    k.apply(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, uid: mine, resourceVersion: '77', generation: 9, \
         deletionTimestamp: '2020-01-01T00:00:00Z'}\nspec: {replicas: 1}\n",
    );
    let uid = field(&k, "deploy/d", "/metadata/uid");
    assert_eq!(uid.as_str().unwrap().len(), 36, "{uid}");
    let created = field(&k, "deploy/d", "/metadata/creationTimestamp");
    assert!(created.as_str().unwrap().len() == 20 && created.as_str().unwrap().ends_with('Z'), "{created}");
    assert_eq!(field(&k, "deploy/d", "/metadata/namespace"), "default");
    assert_eq!(field(&k, "deploy/d", "/metadata/resourceVersion"), "2");
    assert_eq!(field(&k, "deploy/d", "/metadata/generation"), 1);
    assert!(field(&k, "deploy/d", "/metadata/deletionTimestamp").is_null());
}

#[test]
fn an_existing_object_is_replaced_but_for_what_is_not_the_users() {
    let k = Kubestore::durable();
    let one = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, labels: {a: b}, finalizers: [x/y]}\n\
               spec: {replicas: 1, paused: true}\nstatus: {replicas: 1}\n";
    let two = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 2}\nstatus: {replicas: 9}\n";
    k.apply(one);
    let uid = field(&k, "deploy/d", "/metadata/uid");
    assert_eq!(k.apply(two), "deployment.apps/d configured\n");
    assert_eq!(field(&k, "deploy/d", "/metadata/uid"), uid);
    assert_eq!(field(&k, "deploy/d", "/spec/replicas"), 2);
    assert!(field(&k, "deploy/d", "/spec/paused").is_null());
    assert_eq!(field(&k, "deploy/d", "/status/replicas"), 1);
    assert_eq!(field(&k, "deploy/d", "/metadata/generation"), 2);
    assert!(field(&k, "deploy/d", "/metadata/labels").is_null());
    assert_eq!(field(&k, "deploy/d", "/metadata/finalizers/0"), "x/y");
    assert_eq!(k.apply(two), "deployment.apps/d unchanged\n");
    k.run_words(&["apply", "-f", "-", "--replace-status"], two).ok();
    assert_eq!(field(&k, "deploy/d", "/status/replicas"), 9);
}

#[test]
fn a_file_of_an_older_state_or_of_another_object_is_refused() {
    let k = Kubestore::durable();
    k.apply(&config_map("a", "1"));
    let first = k.run("get cm a -o yaml").ok();
    assert_eq!(k.apply(&first), "configmap/a unchanged\n");
    k.apply(&config_map("a", "2"));
    let error = k.run_words(&["apply", "-f", "-"], &first).error();
    assert_eq!(
        error,
        "standard input:1: configmap/a: the object was changed since the file was made (resource version 2, now 3); get \
         it again, or take metadata.resourceVersion out of the file"
    );
    k.run("delete cm a").ok();
    k.apply(&config_map("a", "3"));
    let other = first.replace("  resourceVersion: \"2\"\n", "");
    let error = k.run_words(&["apply", "-f", "-"], &other).error();
    assert!(error.contains("the file is of another object of this name (UID "), "{error}");
    assert_eq!(field(&k, "cm/a", "/data/key"), "3");
}

#[test]
fn what_one_store_shows_another_takes() {
    let (k, copy) = (Kubestore::durable(), Kubestore::durable());
    k.apply(&[config_map("a", "1"), config_map("b", "text: {odd}")].concat());
    let list = k.run("get cm -o yaml").ok();
    assert_eq!(copy.apply(&list), "configmap/a created\nconfigmap/b created\n");
    assert_eq!(field(&copy, "cm/b", "/data"), field(&k, "cm/b", "/data"));
    let list = k.run("get cm -o json").ok();
    let refused = copy.run_words(&["apply", "-f", "-"], &list);
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
    assert!(refused.stderr.lines().all(|line| line.contains("another object of this name")), "{refused:?}");
    assert_eq!(refused.stderr.lines().count(), 2, "{refused:?}");
}

#[test]
fn stored_objects_can_be_shown() {
    let k = Kubestore::durable();
    let shown = k.run_words(&["apply", "-f", "-", "-o", "yaml"], &config_map("a", "1")).ok();
    assert_eq!(shown, k.run("get cm a -o yaml").ok());
    let names = k.run_words(
        &["apply", "-f", "-", "-o", "name"],
        &[config_map("a", "1"), config_map("b", "1")].concat(),
    );
    assert_eq!(names.ok(), "configmap/a\nconfigmap/b\n");
}

#[test]
fn what_was_written_beside_a_failure_is_told() {
    let k = Kubestore::durable();
    k.apply(&config_map("c050", "1"));
    let stale = config_map("c050", "2").replace("{name: c050}", "{name: c050, resourceVersion: '1'}");
    let all: String = (0..200)
        .map(|number| if number == 50 { stale.clone() } else { config_map(&format!("c{number:03}"), "1") })
        .collect();
    let ran = k.run_words(&["apply", "-f", "-"], &all);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert!(ran.stderr.contains("configmap/c050: the object was changed since the file was made"), "{ran:?}");
    let created = ran.stdout.lines().count();
    assert!((50..199).contains(&created), "{created} created although the 51st failed");
    assert!(ran.stdout.lines().is_sorted(), "{ran:?}");
    assert_eq!(k.run("count cm").ok(), format!("{}\n", created + 1));
}

#[test]
fn the_later_of_two_documents_of_one_object_counts() {
    let k = Kubestore::durable();
    let all: String = (0..40).map(|number| config_map("a", &number.to_string())).collect();
    let told = k.apply(&all);
    assert!(told.starts_with("configmap/a created\nconfigmap/a configured\n"), "{told}");
    assert_eq!(field(&k, "cm/a", "/data/key"), "39");
}

#[tokio::test(flavor = "multi_thread")]
async fn built_in_kinds_are_stored_as_an_api_server_stores_them() {
    let k = Kubestore::etcd().await;
    let text = "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a}\nspec: {leaseDurationSeconds: 15}\n";
    k.apply(text);
    let inspection: Value = serde_json::from_str(&k.run("inspect lease/a -o json").ok()).unwrap();
    assert_eq!((&inspection["encoding"], &inspection["kind"]), (&"protobuf".into(), &"Lease".into()));
    let error = k.run_words(&["apply", "-f", "-"], &text.replace("leaseDuration", "leasDuration")).error();
    assert!(error.starts_with("standard input:1: lease.coordination.k8s.io/a: "), "{error}");
    assert!(error.contains("spec.leasDurationSeconds"), "{error}");
    let error = k.run_words(&["apply", "-f", "-"], &text.replace("15", "soon")).error();
    assert!(error.contains("spec.leaseDurationSeconds") && !error.contains("soon"), "{error}");
}

/// An object of a later release, in which a field has a number that is not known here.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_later_release_wrote_is_not_lost() {
    let k = Kubestore::etcd().await;
    k.apply("apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a, labels: {of: later}}\nspec: {}\n");
    let (kv, key) = (k.kv().await, "/registry/leases/default/a");
    let stored = kv.get(GetRequest::new(key)).await.unwrap().kv.unwrap();
    let envelope = Envelope::parse(&stored.value).unwrap();
    // Field 99 of the spec, which is field 2.
    let message = [envelope.message(), b"\x12\x03\x98\x06\x01"].concat();
    let later = Envelope::new("coordination.k8s.io/v1", "Lease", &message).to_vec();
    let put = PutRequest::update(key, later.clone(), stored.mod_revision);
    assert!(matches!(kv.optimistic_put(put).await.unwrap(), WriteOutcome::Done { .. }));

    let warning = "warning: field 99 in spec of Lease is of a later release: it is not shown, and objects with it are not \
                   overwritten\n";
    let (shown, said) = k.run("get lease -l of=later -o name").noted();
    assert_eq!((shown.as_str(), said.as_str()), ("lease.coordination.k8s.io/a\n", warning));
    let (inspection, _) = k.run("inspect lease/a -o json").noted();
    assert!(inspection.contains("\"field 99 in spec of Lease\""), "{inspection}");
    let ran = k.run_words(
        &["apply", "-f", "-"],
        "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a}\nspec: {holderIdentity: me}\n",
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("field number 99") || ran.stderr.contains("99"), "{ran:?}");
    let now = kv.get(GetRequest::new(key)).await.unwrap().kv.unwrap();
    assert_eq!(now.value, later);
}
