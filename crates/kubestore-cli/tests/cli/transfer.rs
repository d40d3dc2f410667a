//! `check`, `export`, `import`, and what there is to do about objects that cannot be read.

use std::{fs, os::unix::fs::PermissionsExt};

use kubestore::kv::{GetRequest, Kv, PutRequest, WriteOutcome};
use serde_json::{Value, json};

use crate::{
    command::{Kubestore, config_map},
    rotation::{KEY1, configuration, gcm, lines},
};

#[test]
fn a_store_goes_out_and_in_again_byte_for_byte() {
    let k = Kubestore::cluster();
    let (file, _) = (k.path("cluster.jsonl").display().to_string(), ());
    let (printed, said) = k.run(&format!("export {file}")).noted();
    assert_eq!((printed.as_str(), said.as_str()), ("", "79 keys exported.\n"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(
        k.run(&format!("export {file}")).error().starts_with(&format!("{file}: exists; name another file"))
    );
    let (again, _) = k.run("export -").noted();
    assert_eq!(again, fs::read_to_string(&file).unwrap());

    let data = k.data().display().to_string();
    let k = k.with_storage(&["--data-dir", &data]);
    let report: Value =
        serde_json::from_str(&k.run(&format!("import {file} --leases skip -o json")).ok()).unwrap();
    assert_eq!(
        (&report["created"], &report["leftOut"], &report["revision"]),
        (&json!(77), &json!(2), &json!(130))
    );
    let values = |text: &str| -> Vec<(Value, Value)> {
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["kv"].clone());
        lines
            .filter(|kv| kv["key"].is_string() && kv["lease"].is_null())
            .map(|kv| (kv["key"].clone(), kv["value"].clone()))
            .collect()
    };
    let (copy, _) = k.run("export").noted();
    assert_eq!(values(&copy), values(&again));
    assert_eq!(values(&copy).len(), 77);
    let twice = k.run(&format!("import {file} --leases skip")).ok();
    assert_eq!(twice, "79 keys: 0 created, 0 overwritten, 77 there already, 2 left out for their lease\n");

    k.apply(&config_map("cfg", "mine"));
    let ran = k.run(&format!("import {file} --leases skip"));
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stderr,
        "error: /registry/configmaps/default/cfg: exists with another value\nerror: nothing is overwritten without \
         --overwrite; compare with `kubestore diff` first\n"
    );
    let ran = k.run(&format!("import {file} --leases skip --overwrite")).ok();
    assert!(ran.contains(" 1 overwritten, 76 there already"), "{ran}");
    assert!(k.run("import none.jsonl").error().starts_with("none.jsonl: cannot be read: "));
    let cut: String = again.lines().take(3).map(|line| format!("{line}\n")).collect();
    let error = k.run_words(&["import"], &cut).error();
    assert!(!error.is_empty(), "{error}");
    assert!(k.run_words(&["import"], "apiVersion: v1\n").error().contains("export"));
}

#[test]
fn a_sound_store_passes_the_check() {
    let k = Kubestore::cluster();
    let shown = lines(&k.run("check").ok());
    assert_eq!(shown[0], "RESOURCE SEEN GOOD BAD WHY");
    assert_eq!(shown.last().unwrap(), "79 keys, 79 good, 0 bad, at revision 130");
    let report: Value = serde_json::from_str(&k.run("check --resource secrets -o json").ok()).unwrap();
    assert_eq!((&report["total"]["open"], &report["failures"]["total"]), (&json!(1), &json!(0)));
    assert!(
        k.run("check --resource secretz").usage().starts_with("--resource: unknown resource \"secretz\"")
    );
}

/// Secrets, five of which are damaged in different ways.
async fn damaged() -> (Kubestore, String) {
    let k = Kubestore::etcd().await;
    let flag = configuration(&k, "key1.yaml", &[&gcm(&[KEY1]), "identity: {}"]);
    let mut text = String::new();
    for number in 0..10 {
        text += &format!(
            "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s{number}}}\ndata: {{password: aHVudGVyMg==}}\n"
        );
    }
    k.run_words(&["apply", "-f", "-", &flag], &text).ok();
    let kv = k.kv().await;
    for (name, damage) in
        [("s1", "flip"), ("s3", "cut"), ("s5", "foreign"), ("s7", "undecodable"), ("s9", "other key")]
    {
        let key = format!("/registry/secrets/default/{name}");
        let stored = kv.get(GetRequest::new(key.clone())).await.unwrap().kv.unwrap();
        let mut value = stored.value.to_vec();
        match damage {
            "flip" => *value.last_mut().unwrap() ^= 1,
            "cut" => value.truncate(30),
            "foreign" => value = b"\x00\x01hello".to_vec(),
            "undecodable" => value = br#"{"kind":"Secret""#.to_vec(),
            _ => value = b"k8s:enc:aesgcm:v1:key9:0123456789012345678901234567890123456789".to_vec(),
        }
        let put = PutRequest::update(key, value, stored.mod_revision);
        assert!(matches!(kv.optimistic_put(put).await.unwrap(), WriteOutcome::Done { .. }));
    }
    (k, flag)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_bad_is_named_with_its_cause() {
    let (k, flag) = damaged().await;
    let ran = k.run(&format!("check {flag}"));
    assert_eq!(ran.code, 1);
    let shown = lines(&ran.stdout);
    assert!(shown[1].starts_with("secrets 10 5 5 "), "{shown:?}");
    for cause in
        ["1 authentication failed", "1 truncated", "1 foreign bytes", "1 undecodable", "1 unknown key name"]
    {
        assert!(shown[1].contains(cause), "{cause}: {shown:?}");
    }
    let told: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(told.len(), 5, "{told:?}");
    assert!(told[0].starts_with("error: /registry/secrets/default/s1: "), "{told:?}");

    // Lists show what can be read, and name the rest.
    let ran = k.run(&format!("get secrets -o name {flag}"));
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (1, "secret/s0\nsecret/s2\nsecret/s4\nsecret/s6\nsecret/s8\n")
    );
    let told: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(told.len(), 5, "{told:?}");
    assert!(
        told[4].starts_with("error: /registry/secrets/default/s9: ") && told[4].contains("key9"),
        "{told:?}"
    );
    assert!(!ran.stderr.contains("hunter2") && !ran.stderr.contains("hello"));
    let ran = k.run(&format!("list secrets {flag}"));
    assert_eq!((ran.code, ran.stderr.lines().count()), (1, 6), "{ran:?}");
    let ran = k.run(&format!("delete secrets --all {flag}"));
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(
        ran.stderr.contains("error: nothing was deleted, since it is not known whether these are selected"),
        "{ran:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_cannot_be_read_is_deleted_as_corrupt() {
    let (k, flag) = damaged().await;
    let delete = |names: &str| k.run(&format!("delete secret {names} --only-if-corrupt {flag}"));
    assert_eq!(delete("s1 s3 s5 s7").ok().lines().count(), 4);
    let error = delete("s0").error();
    assert!(error.ends_with("the object is not corrupt; delete it as any other"), "{error}");
    let error = delete("s9").error();
    assert!(
        error.starts_with("secret/s9: the object may be in order, since the configuration has no key for it"),
        "{error}"
    );
    assert!(k.run("delete secret s0 --only-if-corrupt").error().contains("may be in order"));
    assert_eq!(delete("s9 --force").ok(), "secret \"s9\" deleted\n");
    assert!(delete("s1").stderr.contains("not found"));
    assert_eq!(k.run(&format!("get secrets -o name {flag}")).ok().lines().count(), 5);
    assert_eq!(delete("--all").code, 2);
}
