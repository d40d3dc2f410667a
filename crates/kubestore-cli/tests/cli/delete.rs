//! Deleting.

use crate::command::{Kubestore, config_map, pod};

#[test]
fn objects_are_deleted_by_name_file_and_selector() {
    let k = Kubestore::durable();
    let pods = [pod("a", "app: web", "n1"), pod("b", "app: web", "n1"), pod("c", "app: db", "n1")].concat();
    k.apply(&[pods.as_str(), &config_map("m", "1")].concat());
    assert_eq!(k.run("delete pod/a cm/m").ok(), "pod \"a\" deleted\nconfigmap \"m\" deleted\n");
    assert_eq!(k.run("delete pods -l app=web").ok(), "pod \"b\" deleted\n");
    assert_eq!(k.run("delete pods --field-selector metadata.name=c -o name").ok(), "pod/c\n");
    assert_eq!(k.run("delete pods --all").noted().1, "No resources found\n");
    let ran = k.run_words(&["delete", "-f", "-"], &pods);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stderr.lines().count(), 3);
    assert_eq!(ran.stderr.lines().next(), Some("error: pods \"a\" not found in namespace \"default\""));
}

#[test]
fn all_is_all_of_the_namespace_unless_said_otherwise() {
    let k = Kubestore::durable();
    k.apply(&config_map("a", "1"));
    k.run_words(&["apply", "-f", "-", "-n", "other"], &config_map("a", "1")).ok();
    k.run("delete cm --all").ok();
    assert_eq!(k.run("count cm -A").ok(), "1\n");
    k.run("delete cm --all -A").ok();
    assert_eq!(k.run("count cm -A").ok(), "0\n");
}

#[test]
fn nothing_is_deleted_by_leaving_something_out() {
    let k = Kubestore::durable();
    k.apply(&config_map("a", "1"));
    assert!(k.run("delete cm").usage().starts_with("say which: give names, a selector, or --all"));
    assert!(
        k.run("delete cm a --all").usage().starts_with("names do not go together with selectors and --all")
    );
    assert!(k.run("delete cm a -A").usage().starts_with("a name is looked up in one namespace"));
    assert!(k.run("delete cm -l a=b --field-selector x=y").usage().contains("no field \"x\""));
    assert_eq!(
        k.run("delete cm missing").error(),
        "configmaps \"missing\" not found in namespace \"default\""
    );
    assert_eq!(k.run("delete cm missing --ignore-not-found").ok(), "");
    assert_eq!(k.run("count cm").ok(), "1\n");
}

#[test]
fn finalizers_protect_an_object() {
    let k = Kubestore::durable();
    k.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, finalizers: [example.com/clean]}\n");
    assert_eq!(
        k.run("delete cm a").error(),
        "configmap/a: the object has finalizers (example.com/clean), whose owners would not be asked; delete it all the \
         same with --force"
    );
    assert_eq!(k.run("delete cm a --force").ok(), "configmap \"a\" deleted\n");
}
