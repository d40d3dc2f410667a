//! Reading: names of resources, and forms of output.

use serde_json::{Value, json};

use crate::command::{Kubestore, config_map, pod};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn resources_have_many_names() {
    let k = Kubestore::durable();
    k.apply(&pod("a", "app: web", "n1"));
    let deployment =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: x}\nspec: {replicas: 2}\n";
    k.apply(deployment);
    for name in ["pods", "pod", "po", "Pod", "PODS", "pods.v1"] {
        assert_eq!(k.run(&format!("get {name} -o name")).ok(), "pod/a\n", "{name}");
        assert_eq!(k.run(&format!("get {name}/a -o name")).ok(), "pod/a\n", "{name}");
        assert_eq!(k.run(&format!("get {name} a -o name")).ok(), "pod/a\n", "{name}");
    }
    for name in ["deploy", "deployments", "deploy.apps", "deployments.v1.apps", "Deployment"] {
        assert_eq!(k.run(&format!("get {name} -n x -o name")).ok(), "deployment.apps/d\n", "{name}");
    }
    assert_eq!(k.run("get all -A -o name").ok(), "pod/a\ndeployment.apps/d\n");
}

#[test]
fn namespaces_hold_apart_what_is_in_them() {
    let k = Kubestore::durable();
    k.apply(&config_map("a", "1"));
    k.run_words(&["apply", "-f", "-", "-n", "other"], &config_map("a", "2")).ok();
    k.apply("apiVersion: v1\nkind: Node\nmetadata: {name: n1, namespace: ignored}\n");
    assert_eq!(k.run("count cm").ok(), "1\n");
    assert_eq!(k.run("count cm -A").ok(), "2\n");
    assert!(k.run("get cm a -n other -o yaml").ok().contains("key: \"2\""));
    let table = k.run("get cm -A").ok();
    let columns: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().take(3).collect()).collect();
    assert_eq!(columns, [["NAMESPACE", "NAME", "DATA"], ["default", "a", "1"], ["other", "a", "1"]]);
    // Cluster-scoped kinds are in no namespace, whatever is said.
    assert_eq!(k.run("get nodes -n other -o name").ok(), "node/n1\n");
    assert!(!k.run("get node n1 -o yaml").ok().contains("namespace"));
    let (nothing, note) = k.run("get cm -n empty").noted();
    assert_eq!((nothing.as_str(), note.as_str()), ("", "No resources found in empty namespace.\n"));
    let (nothing, note) = k.run("get secrets -A").noted();
    assert_eq!((nothing.as_str(), note.as_str()), ("", "No resources found\n"));
}

#[test]
fn tables_have_the_columns_of_the_kind() {
    let k = Kubestore::durable();
    k.apply(
        "
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {app: web, tier: front}}
spec: {nodeName: n1, containers: [{name: c}, {name: d}]}
status:
  phase: Running
  podIP: 10.0.0.1
  containerStatuses:
  - {name: c, ready: true, restartCount: 2, state: {running: {}}}
  - {name: d, ready: false, restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}}
---
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {type: NodePort, clusterIP: 10.0.0.9, ports: [{port: 80, nodePort: 30080}, {port: 53, protocol: UDP}]}
",
    );
    let table = k.run("get pods -L app --show-labels").ok();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[0], "NAME   READY   STATUS             RESTARTS   AGE   APP   LABELS");
    assert!(lines[1].starts_with("a      1/2     CrashLoopBackOff   3          "), "{table}");
    assert!(lines[1].ends_with("s    web   app=web,tier=front"), "{table}");
    let wide = k.run("get pods -o wide --no-headers").ok();
    let cells: Vec<_> = wide.split_whitespace().skip(5).collect();
    assert_eq!(cells, ["10.0.0.1", "n1", "<none>", "<none>"]);
    let both = k.run("get svc,po").ok();
    let lines: Vec<_> = both.lines().collect();
    assert!(
        lines[0].starts_with("NAME        TYPE       CLUSTER-IP   EXTERNAL-IP   PORT(S)               AGE"),
        "{both}"
    );
    assert!(
        lines[1].starts_with("service/s   NodePort   10.0.0.9     <none>        80:30080/TCP,53/UDP   "),
        "{both}"
    );
    assert_eq!(lines[2], "");
    assert!(lines[4].starts_with("pod/a "), "{both}");
}

#[test]
fn one_object_is_shown_by_itself_and_several_as_a_list() {
    let k = Kubestore::durable();
    k.apply(&[config_map("a", "1"), config_map("b", "2")].concat());
    let one = parsed(&k.run("get cm a -o json").ok());
    assert_eq!((&one["kind"], &one["data"]), (&json!("ConfigMap"), &json!({"key": "1"})));
    for (line, version) in [("get cm -o json", json!("3")), ("get cm a b -o json", json!(""))] {
        let list = parsed(&k.run(line).ok());
        assert_eq!(list["kind"], "List", "{line}");
        assert_eq!(list["apiVersion"], "v1", "{line}");
        assert_eq!(list["metadata"], json!({"resourceVersion": version}), "{line}");
        let names: Vec<_> =
            list["items"].as_array().unwrap().iter().map(|item| &item["metadata"]["name"]).collect();
        assert_eq!(names, ["a", "b"], "{line}");
    }
    let none = parsed(&k.run("get pods -o json").ok());
    assert_eq!(none["items"], json!([]));
    assert_eq!(
        k.run("get pods -o yaml").ok(),
        "apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: \"3\"\n"
    );
    let json = k.run("get cm a -o json").ok();
    assert!(
        json.starts_with("{\n    \"apiVersion\": \"v1\",\n    \"data\": {\n        \"key\": \"1\"\n    },\n"),
        "{json}"
    );
}

#[test]
fn a_missing_name_does_not_keep_the_others_back() {
    let k = Kubestore::durable();
    k.apply(&config_map("a", "1"));
    let ran = k.run("get cm a b --no-headers");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.starts_with("a   1 "), "{ran:?}");
    assert_eq!(ran.stderr, "error: configmaps \"b\" not found in namespace \"default\"\n");
    assert_eq!(k.run("get cm a b -o name --ignore-not-found").ok(), "configmap/a\n");
    assert_eq!(k.run("get cm b --ignore-not-found").ok(), "");
    assert_eq!(k.run("get node n1").error(), "nodes \"n1\" not found");
}

#[test]
fn the_past_is_read_by_its_resource_version() {
    let k = Kubestore::durable();
    k.apply(&config_map("a", "old"));
    k.apply(&config_map("a", "new"));
    k.apply(&config_map("b", "1"));
    let exact = "--resource-version 2 --resource-version-match Exact -o yaml";
    assert!(k.run(&format!("get cm a {exact}")).ok().contains("key: old"));
    let list = k.run(&format!("get cm {exact}")).ok();
    assert!(
        list.contains("key: old") && !list.contains("name: b") && list.contains("resourceVersion: \"2\"\n"),
        "{list}"
    );
    assert!(k.run("get cm a --resource-version 2 -o yaml").ok().contains("key: new"));
    let error = k.run("get cm --resource-version 99").error();
    assert!(error.contains("resource version 99 has not happened yet, the newest is 4"), "{error}");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let k = Kubestore::durable();
    let many: String =
        (0..200).map(|number| config_map(&format!("a{number}"), &"x".repeat(30_000))).collect();
    k.apply(&many);
    let mut child = k.start("get cm -o json");
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}
