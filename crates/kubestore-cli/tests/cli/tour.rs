//! The main job, on a directory and on etcd.

use crate::command::{Kubestore, config_map, pod};

const ENCRYPTION: &str = "\
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aesgcm: {keys: [{name: key1, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}
  - identity: {}
";

#[test]
fn tour_on_a_directory() {
    tour(&Kubestore::durable());
}

#[tokio::test(flavor = "multi_thread")]
async fn tour_on_etcd() {
    tour(&Kubestore::etcd().await);
}

/// Each step is a process of its own, so each sees what another one has written.
fn tour(k: &Kubestore) {
    let objects = [pod("a", "app: web", "n1"), pod("b", "app: db", "n2"), config_map("c", "one")].concat();
    let file = k.file("objects.yaml", &objects);
    let apply = format!("apply -f {file}");
    assert_eq!(k.run(&apply).ok(), "pod/a created\npod/b created\nconfigmap/c created\n");
    assert_eq!(k.run(&apply).ok(), "pod/a unchanged\npod/b unchanged\nconfigmap/c unchanged\n");
    k.file("objects.yaml", &objects.replace("one", "two"));
    assert_eq!(k.run(&apply).ok(), "pod/a unchanged\npod/b unchanged\nconfigmap/c configured\n");

    let pods = k.run("get pods -o name").ok();
    assert_eq!(pods, "pod/a\npod/b\n");
    assert_eq!(k.run("get pod a b --no-headers -L app").ok().lines().count(), 2);
    assert!(k.run("get cm/c -o yaml").ok().contains("\ndata:\n  key: two\nkind: ConfigMap\n"));
    assert_eq!(k.run("get pods -l app=db -o name").ok(), "pod/b\n");
    assert_eq!(k.run("count pods").ok(), "2\n");
    assert_eq!(k.run("count pods,cm -A").ok(), "pods\t2\nconfigmaps\t1\n");

    let (page, more) = k.run("get pods --limit 1 -o name").noted();
    assert_eq!(page, "pod/a\n");
    let token = more.trim_end().rsplit(' ').next().unwrap();
    assert_eq!(k.run_words(&["get", "pods", "-o", "name", "--continue", token], "").ok(), "pod/b\n");

    let encryption = k.file("encryption.yaml", ENCRYPTION);
    let secret = k.file(
        "secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: aHVudGVyMg==}\n",
    );
    let encrypted = format!("--encryption-config {encryption}");
    assert_eq!(k.run(&format!("apply -f {secret} {encrypted}")).ok(), "secret/s created\n");
    assert!(
        k.run(&format!("get secret s -o json {encrypted}")).ok().contains("\"password\": \"aHVudGVyMg==\"")
    );
    assert!(k.run("get secret s").error().contains("only identity is configured"));

    assert_eq!(k.run("delete pod a").ok(), "pod \"a\" deleted\n");
    assert_eq!(k.run("get pods a").error(), "pods \"a\" not found in namespace \"default\"");
    assert_eq!(k.run(&format!("delete -f {file} --ignore-not-found -o name")).ok(), "pod/b\nconfigmap/c\n");
    let (nothing, note) = k.run("get pods,cm").noted();
    assert_eq!((nothing.as_str(), note.as_str()), ("", "No resources found in default namespace.\n"));
}
