//! Selectors.

use crate::command::{Kubestore, pod};

fn with_pods() -> Kubestore {
    let k = Kubestore::durable();
    k.apply(
        &[
            pod("a", "app: web, tier: front", "n1"),
            pod("b", "app: web", "n2"),
            pod("c", "app: db", "n1"),
            pod("d", "", "n3"),
        ]
        .concat(),
    );
    k
}

#[test]
fn labels_select_in_all_their_forms() {
    let k = with_pods();
    for (selector, wanted) in [
        ("app=web", "a b"),
        ("app==web,tier=front", "a"),
        ("app!=web", "c d"),
        ("app in (web, db)", "a b c"),
        ("app notin (web)", "c d"),
        ("tier", "a"),
        ("!app", "d"),
        ("app=nothing", ""),
    ] {
        let names = k.run_words(&["get", "pods", "-o", "name", "-l", selector], "").ok();
        let names: Vec<_> = names.lines().map(|name| name.trim_start_matches("pod/")).collect();
        assert_eq!(names.join(" "), wanted, "{selector}");
    }
}

#[test]
fn fields_select_and_unknown_ones_are_refused() {
    let k = with_pods();
    for (selector, wanted) in [
        ("spec.nodeName=n1", "pod/a\npod/c\n"),
        ("spec.nodeName!=n1,metadata.name!=d", "pod/b\n"),
        ("metadata.namespace=default,metadata.name=d", "pod/d\n"),
        ("spec.hostNetwork=false,metadata.name=a", "pod/a\n"),
    ] {
        assert_eq!(
            k.run(&format!("get pods -o name --field-selector {selector}")).ok(),
            wanted,
            "{selector}"
        );
    }
    let error = k.run("get secrets --field-selector spec.nodeName=n1").usage();
    assert_eq!(
        error,
        "--field-selector: secrets have no field \"spec.nodeName\" to select by; there are: metadata.name, \
         metadata.namespace, type"
    );
    let error = k.run("get nodes --field-selector spec.foo=1").usage();
    assert!(error.contains("nodes have no field \"spec.foo\""), "{error}");
    assert!(error.ends_with("spec.unschedulable"), "{error}");
}

#[test]
fn malformed_selectors_are_refused() {
    let k = with_pods();
    let error = k.run_words(&["get", "pods", "-l", "a in"], "").usage();
    assert_eq!(
        error,
        "--selector: selector \"a in\" cannot be read: expected '(' before the values of \"a\""
    );
    let error = k.run("get pods --field-selector metadata.name").usage();
    assert!(error.starts_with("--field-selector: selector \"metadata.name\" cannot be read: "), "{error}");
    assert!(k.run("get pods a -l app=web").usage().starts_with("names and selectors do not go together"));
}
