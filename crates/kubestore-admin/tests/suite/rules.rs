//! Which rule applies to a key, and what is never encrypted.

use kubestore_admin::{FailureCause, RewrapOptions, rewrap};

use crate::common::{Backend, IDENTITY, KEY1, gcm, get, put, rules};

async fn rewritten(rules_text: &[(&str, &[&str])]) -> (Vec<String>, Vec<(String, FailureCause)>) {
    let Backend { kv, .. } = &Backend::memory();
    for key in [
        "secrets/ns/a",
        "events/ns/a",
        "deployments/ns/a",
        "shop.example.com/widgets/ns/a",
        "ranges/serviceips",
        "masterleases/10.0.0.1",
        "peerserverleases/a",
        "foos/ns/a",
    ] {
        put(kv, &format!("/registry/{key}"), "{}").await;
    }
    let report = rewrap(kv, "/registry", &rules(rules_text), &RewrapOptions::default()).await.unwrap();
    let written = report.resources.iter().filter(|(_, counts)| counts.rewritten == 1);
    let failed = report.failures.first.iter().map(|failure| (failure.key.clone(), failure.cause));
    (written.map(|(resource, _)| resource.to_string()).collect(), failed.collect())
}

#[tokio::test]
async fn a_rule_for_everything_leaves_out_what_api_servers_keep_for_themselves() {
    let (written, failed) = rewritten(&[("*.*", &[&gcm(&[KEY1]), IDENTITY])]).await;
    assert_eq!(written, ["events", "secrets", "deployments.apps", "widgets.shop.example.com", "/foos"]);
    assert_eq!(failed, []);
}

#[tokio::test]
async fn rules_are_by_group_and_resource() {
    let (written, failed) =
        rewritten(&[("deployments.apps, widgets.shop.example.com", &[&gcm(&[KEY1]), IDENTITY])]).await;
    assert_eq!(written, ["deployments.apps", "widgets.shop.example.com"]);
    assert_eq!(failed, []);
    let (written, _) = rewritten(&[("deployments, widgets, events", &[&gcm(&[KEY1]), IDENTITY])]).await;
    assert_eq!(written, ["events"], "there are no such resources in the core group");
}

#[tokio::test]
async fn what_cannot_be_decided_is_left_alone_and_told() {
    for rule in ["'*.example.com'", "foos.example.com"] {
        let (written, failed) = rewritten(&[(rule, &[&gcm(&[KEY1]), IDENTITY])]).await;
        assert!(!written.contains(&"/foos".to_owned()));
        assert_eq!(failed, [("/registry/foos/ns/a".to_owned(), FailureCause::UnknownResource)], "{rule}");
    }
}

#[tokio::test]
async fn another_prefix_is_part_of_what_is_authenticated() {
    let Backend { kv, .. } = &Backend::memory();
    put(kv, "/tenant/secrets/ns/a", "{}").await;
    let key1 = rules(&[("secrets", &[&gcm(&[KEY1]), IDENTITY])]);
    let report = rewrap(kv, "tenant", &key1, &RewrapOptions::default()).await.unwrap();
    assert_eq!(report.total.rewritten, 1);
    let stored = get(kv, "/tenant/secrets/ns/a").await.unwrap();
    assert_eq!(crate::common::open(&key1, &stored).await, "{}");
}
