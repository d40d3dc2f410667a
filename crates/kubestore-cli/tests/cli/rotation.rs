//! `kubestore encryption`: a rotation from its first key to plain values, and what the commands say on the way.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use kubestore::{
    etcd::EtcdKv,
    kv::{Kv, PutRequest},
};
use serde_json::Value;

use crate::command::Kubestore;

pub(crate) const KEY1: &str = "{name: key1, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}";
pub(crate) const KEY2: &str = "{name: key2, secret: ISEhISEhISEhISEhISEhISEhISEhISEhISEhISEhISE=}";
const FALSE_KEY1: &str = "{name: key1, secret: ISEhISEhISEhISEhISEhISEhISEhISEhISEhISEhISE=}";

/// Writes a configuration for secrets, and returns the flag that names it.
pub(crate) fn configuration(k: &Kubestore, name: &str, providers: &[&str]) -> String {
    let providers: String = providers.iter().map(|provider| format!("  - {provider}\n")).collect();
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  \
         providers:\n{providers}"
    );
    format!("--encryption-config={}", k.file(name, &text))
}

pub(crate) fn gcm(keys: &[&str]) -> String {
    format!("aesgcm: {{keys: [{}]}}", keys.join(", "))
}

const IDENTITY: &str = "identity: {}";

/// Secrets in three namespaces, and something that is not encrypted.
fn apply(k: &Kubestore, flag: &str, each: usize) {
    let mut text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n".to_owned();
    for number in 0..3 * each {
        let (namespace, number) = (["a", "b", "c"][number % 3], number / 3);
        text += &format!(
            "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s{number}, namespace: {namespace}}}\n\
             data: {{password: aHVudGVyMg==}}\n"
        );
    }
    k.run_words(&["apply", "-f", "-", flag], &text).ok();
}

pub(crate) fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn status(k: &Kubestore, more: &str) -> Vec<String> {
    lines(&k.run(&format!("encryption status {more}")).ok())
}

fn rotation(k: &Kubestore) {
    let key1 = configuration(k, "key1.yaml", &[&gcm(&[KEY1]), IDENTITY]);
    let key2 = configuration(k, "key2.yaml", &[&gcm(&[KEY2, KEY1]), IDENTITY]);
    let plain = configuration(k, "plain.yaml", &[IDENTITY, &gcm(&[KEY2])]);
    apply(k, &key1, 50);

    let before = status(k, "");
    assert_eq!(before[0], "RESOURCE PROVIDER KEY ENCODING VALUES SHARE BYTES");
    assert!(before[1].starts_with("configmaps identity - protobuf 1 100 % "), "{before:?}");
    assert!(before[2].starts_with("secrets aesgcm key1 - 150 100 % "), "{before:?}");
    assert!(before[3].starts_with("151 values, ") && before.len() == 4, "{before:?}");
    let judged = status(k, &key2);
    assert!(judged[1].ends_with(" current") && judged[2].ends_with(" stale"), "{judged:?}");
    assert!(judged[3].ends_with(", 1 current, 150 stale"), "{judged:?}");

    let dry = lines(&k.run(&format!("encryption rewrap --dry-run {key2}")).ok());
    assert_eq!(dry.last().unwrap(), "150 would be rewritten, 0 failed, 0 retries");
    let rewrap = lines(&k.run(&format!("encryption rewrap {key2}")).ok());
    assert_eq!(
        rewrap,
        [
            "RESOURCE SEEN FRESH REWRITTEN RETRIES VANISHED FAILED",
            "configmaps 1 1 0 0 0 0",
            "secrets 150 0 150 0 0 0",
            "150 rewritten, 0 failed, 0 retries",
        ]
    );
    let after = status(k, &key2);
    assert!(after[2].starts_with("secrets aesgcm key2 - 150 100 % "), "{after:?}");
    assert!(after[3].ends_with(", 151 current, 0 stale"), "{after:?}");
    let again = lines(&k.run(&format!("encryption rewrap {key2}")).ok());
    assert_eq!(again.last().unwrap(), "0 rewritten");
    let verify = lines(&k.run(&format!("encryption verify --current {key2}")).ok());
    assert_eq!(verify.last().unwrap(), "151 open, 0 stale, 0 failed");

    let due = k.run(&format!("encryption verify --current {plain}"));
    assert_eq!((due.code, lines(&due.stdout).last().unwrap().as_str()), (1, "151 open, 150 stale, 0 failed"));
    assert_eq!(due.stderr, "error: 150 values are stale; kubestore encryption rewrap\n");
    let rewrap = lines(&k.run(&format!("encryption rewrap {plain} --resource secrets")).ok());
    assert_eq!(rewrap[1..], ["secrets 150 0 150 0 0 0", "150 rewritten, 0 failed, 0 retries"]);
    let after = status(k, "--resource secret");
    assert!(after[1].starts_with("secrets identity - protobuf 150 100 % ") && after.len() == 3, "{after:?}");
    let verify = lines(&k.run(&format!("encryption verify --current {plain}")).ok());
    assert_eq!(verify.last().unwrap(), "151 open, 0 stale, 0 failed");
    assert!(k.run("get secret s7 -n b -o yaml").ok().contains("password: aHVudGVyMg=="));
}

#[test]
fn keys_are_rotated_and_encryption_is_switched_off_in_a_directory() {
    rotation(&Kubestore::durable());
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_rotated_and_encryption_is_switched_off_on_etcd() {
    rotation(&Kubestore::etcd().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_it_goes_on_where_it_was() {
    let k = Kubestore::etcd().await;
    let key1 = configuration(&k, "key1.yaml", &[&gcm(&[KEY1])]);
    let key2 = configuration(&k, "key2.yaml", &[&gcm(&[KEY2, KEY1])]);
    apply(&k, &key1, 20);
    let mut rewrap = k.start(&format!("encryption rewrap --rate 20 --resource secrets {key2}"));
    let under_key2 = || {
        let census: Value = serde_json::from_str(&k.run("encryption status -o json").ok()).unwrap();
        let rows = census["rows"].as_array().unwrap();
        rows.iter().find(|row| row["keyName"] == "key2").map_or(0, |row| row["values"].as_u64().unwrap())
    };
    let until = Instant::now() + Duration::from_secs(60);
    while under_key2() < 5 {
        assert!(Instant::now() < until, "it rewrites nothing");
    }
    rewrap.kill().unwrap();
    rewrap.wait().unwrap();
    let done = under_key2();
    assert!((5..60).contains(&done), "{done}");
    let report: Value =
        serde_json::from_str(&k.run(&format!("encryption rewrap -o json --resource secrets {key2}")).ok())
            .unwrap();
    assert_eq!(
        (&report["total"]["fresh"], &report["total"]["rewritten"]),
        (&done.into(), &(60 - done).into())
    );
    assert_eq!((&report["complete"], &report["failures"]["total"]), (&true.into(), &0.into()));
    assert_eq!(under_key2(), 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_it_says_how_far_it_came() {
    let k = Kubestore::etcd().await;
    let key1 = configuration(&k, "key1.yaml", &[&gcm(&[KEY1])]);
    let key2 = configuration(&k, "key2.yaml", &[&gcm(&[KEY2, KEY1])]);
    apply(&k, &key1, 20);
    let rewrap = k.start(&format!("encryption rewrap --rate 10 {key2}"));
    let until = Instant::now() + Duration::from_secs(60);
    while !k.run("encryption status").ok().contains(" key2 ") {
        assert!(Instant::now() < until, "it rewrites nothing");
    }
    Command::new("kill").args(["-INT", &rewrap.id().to_string()]).status().unwrap();
    let output = rewrap.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
    assert!(said.starts_with("error: interrupted after "), "{said}");
    assert!(said.ends_with(" values were rewritten; do it again to go on from there\n"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_open_is_named_and_makes_the_command_fail() {
    let k = Kubestore::etcd().await;
    let key1 = configuration(&k, "key1.yaml", &[&gcm(&[KEY1])]);
    apply(&k, &key1, 1);
    let kv = EtcdKv::connect([k.storage()[1].clone()]).await.unwrap();
    kv.optimistic_put(PutRequest::create("/registry/secrets/z/moved", "k8s:enc:aesgcm:v1:key3:abc"))
        .await
        .unwrap();

    let false_key = configuration(&k, "false.yaml", &[&gcm(&[FALSE_KEY1])]);
    let verify = k.run(&format!("encryption verify {false_key}"));
    assert_eq!(verify.code, 1);
    let shown = lines(&verify.stdout);
    assert_eq!(
        shown[1..],
        [
            "configmaps 1 1 0 0",
            "secrets 4 0 0 4 3 authentication failed; 1 unknown key name",
            "1 open, 0 stale, 4 failed"
        ]
    );
    let told: Vec<_> = verify.stderr.lines().collect();
    assert_eq!(told.len(), 4);
    assert!(
        told[0].starts_with(
            "error: /registry/secrets/a/s0: provider aesgcm, key \"key1\": authentication failed"
        )
    );
    assert_eq!(
        told[3],
        "error: /registry/secrets/z/moved: provider aesgcm, key \"key3\": no key has the name in the value \
         (configured: key1); add the key that it was written with"
    );

    let key2 = configuration(&k, "key2.yaml", &[&gcm(&[KEY2, KEY1])]);
    let rewrap = k.run(&format!("encryption rewrap {key2}"));
    assert_eq!((rewrap.code, rewrap.stderr.lines().count()), (1, 1), "{rewrap:?}");
    assert_eq!(lines(&rewrap.stdout).last().unwrap(), "3 rewritten, 1 failed, 0 retries");
    for ran in [&verify, &rewrap] {
        for secret in ["hunter2", "aHVudGVyMg", "AAECAwQF", "ISEhISEh"] {
            assert!(!format!("{ran:?}").contains(secret), "{ran:?}");
        }
    }
}

#[test]
fn a_plan_says_what_to_do_and_warns() {
    let k = Kubestore::durable();
    let key1 = configuration(&k, "key1.yaml", &[&gcm(&[KEY1])]);
    configuration(&k, "key2.yaml", &[&gcm(&[KEY2])]);
    apply(&k, &key1, 1);
    let plan = k.run("encryption plan key1.yaml key2.yaml").ok();
    let kinds = ["danger: secrets: servers with the old", "danger: secrets: aesgcm:key1 is missing"];
    assert!(kinds.iter().zip(plan.lines()).all(|(kind, line)| line.starts_with(kind)), "{plan}");
    assert!(plan.contains(", and 3 values are stored so"), "{plan}");
    assert!(plan.contains("\n1. give every server the new keys for reading"), "{plan}");
    assert!(plan.contains("\n   secrets: aesgcm:key1, aesgcm:key2\n"), "{plan}");

    let one: Value = serde_json::from_str(
        &k.run_without_store("encryption plan key1.yaml key2.yaml --servers 1 --offline -o json").ok(),
    )
    .unwrap();
    assert_eq!(one["steps"][0]["kind"], "changeWriter");
    let without_store = k.run_without_store("encryption plan key1.yaml key2.yaml").error();
    assert!(without_store.contains("--offline leaves that out"), "{without_store}");
    assert_eq!(k.run("encryption plan key1.yaml key1.yaml").ok(), "nothing to do\n");
}

#[test]
fn a_key_is_made_without_a_store() {
    let k = Kubestore::durable();
    let made = k.run_without_store("encryption keygen key9").ok();
    assert!(made.starts_with("- aesgcm:\n    keys:\n    - name: \"key9\"\n      secret: "), "{made}");
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  \
         providers:\n{}",
        made.lines().map(|line| format!("  {line}\n")).collect::<String>()
    );
    apply(&k, &format!("--encryption-config={}", k.file("made.yaml", &text)), 1);
    assert!(status(&k, "")[2].starts_with("secrets aesgcm key9 - 3 "));
    let boxed = k.run_without_store("encryption keygen --provider secretbox b").ok();
    assert!(boxed.starts_with("- secretbox:\n"), "{boxed}");
    let refused = k.run_without_store("encryption keygen a:b").usage();
    assert!(refused.starts_with("a key cannot be named \"a:b\""), "{refused}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let k = Kubestore::durable();
    for command in ["rewrap", "verify"] {
        let missing = k.run(&format!("encryption {command}")).usage();
        assert!(missing.starts_with("--encryption-config is needed"), "{missing}");
    }
    let none = k.run("encryption status").error();
    assert!(none.starts_with("there is no store in "), "{none}");
    let key1 = configuration(&k, "key1.yaml", &[&gcm(&[KEY1])]);
    apply(&k, &key1, 1);
    let unknown = k.run("encryption status --resource secretz").usage();
    assert!(unknown.starts_with("--resource: unknown resource \"secretz\""), "{unknown}");
}
