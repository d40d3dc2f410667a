//! `decode`.

use base64::{Engine, prelude::BASE64_STANDARD};
use kubestore::kv::{GetRequest, Kv};
use kubestore_etcd::testing::EtcdProcess;
use serde_json::{Value, json};

use crate::command::Kubestore;

const WIDGET: &str =
    r#"{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3}}"#;

/// What is stored in the cluster at a key.
fn stored(k: &Kubestore, key: &str) -> Vec<u8> {
    let (lines, _) = k.run("export").noted();
    let kv = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["kv"].clone());
    let kv = kv.into_iter().find(|kv| kv["key"] == key).unwrap();
    BASE64_STANDARD.decode(kv["value"].as_str().unwrap()).unwrap()
}

#[test]
fn a_value_is_decoded_in_whatever_it_comes() {
    let k = Kubestore::cluster();
    let pod = stored(&k, "/registry/pods/default/p1");
    let wanted: Value = serde_json::from_str(&k.run("get pod p1 -o json").ok()).unwrap();
    let encoded = BASE64_STANDARD.encode(&pod);
    let etcdctl =
        json!({"kvs": [{"key": BASE64_STANDARD.encode("/registry/pods/default/p1"), "value": encoded}]});
    for input in
        [pod.clone(), [&pod[..], b"\n"].concat(), encoded.into_bytes(), etcdctl.to_string().into_bytes()]
    {
        let shown = k.run_with_input("decode -o json", &input).ok();
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(
            (&shown["spec"], &shown["metadata"]["uid"]),
            (&wanted["spec"], &wanted["metadata"]["uid"])
        );
    }
    let yaml = k.run_words(&["decode", "-"], WIDGET).ok();
    assert_eq!(
        yaml,
        "apiVersion: shop.example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  size: 3\n"
    );
    let file = k.file("value", WIDGET);
    assert_eq!(k.run_without_store(&format!("decode {file}")).ok(), yaml);
}

#[test]
fn what_a_terminal_did_is_undone_and_said() {
    let k = Kubestore::cluster();
    let pod = stored(&k, "/registry/pods/default/p1");
    let mut damaged = Vec::new();
    for byte in &pod {
        if *byte == b'\n' {
            damaged.push(b'\r');
        }
        damaged.push(*byte);
    }
    let (shown, said) = k.run_with_input("decode", &damaged).noted();
    assert_eq!(shown, k.run_with_input("decode", &pod).ok());
    assert!(
        said.starts_with("warning: standard input: every line feed had become carriage return and line feed, which was undone"),
        "{said}"
    );
    let cut = k.run_with_input("decode", &pod[..pod.len() - 40]);
    assert_eq!((cut.code, cut.stdout.as_str()), (1, ""), "{cut:?}");
    assert!(cut.stderr.contains("error: standard input: the value is damaged: "), "{cut:?}");
}

#[test]
fn encrypted_values_need_their_key_and_the_configuration() {
    let k = Kubestore::cluster();
    let secret = stored(&k, "/registry/secrets/default/db");
    let shown = k.run_with_input("decode --etcd-key /registry/secrets/default/db", &secret).ok();
    assert!(shown.starts_with("apiVersion: v1\ndata:\n"), "{shown}");
    let error = k.run_with_input("decode", &secret).error();
    assert!(
        error.starts_with(
            "standard input: the value is encrypted by provider aesgcm with key \"key1\", and its"
        ),
        "{error}"
    );
    let error = k.run_with_input("decode --etcd-key /registry/secrets/default/other", &secret).error();
    assert!(error.contains("authentication failed"), "{error}");
    let file = k.path("value").display().to_string();
    std::fs::write(&file, &secret).unwrap();
    let error =
        k.run_without_store(&format!("decode {file} --etcd-key /registry/secrets/default/db")).error();
    assert!(error.contains("--encryption-config names the configuration with its key"), "{error}");
}

#[test]
fn several_values_are_documents_and_a_bad_one_is_named() {
    let k = Kubestore::cluster();
    let kv = |key: &str, value: &[u8]| json!({"key": BASE64_STANDARD.encode(key), "value": BASE64_STANDARD.encode(value)});
    let secret = stored(&k, "/registry/secrets/default/db");
    let all = json!({"kvs": [
        kv("/registry/shop.example.com/widgets/a/a", WIDGET.as_bytes()),
        kv("/registry/secrets/default/db", &secret),
    ]});
    let shown = k.run_words(&["decode"], &all.to_string()).ok();
    let kinds: Vec<_> = shown.split("---\n").map(|document| document.contains("kind: Secret\n")).collect();
    assert_eq!(kinds, [false, true], "{shown}");
    let bad =
        json!({"kvs": [kv("/registry/secrets/a/b", &secret), kv("/registry/x.y/z/a/a", WIDGET.as_bytes())]});
    let ran = k.run_words(&["decode", "-o", "json"], &bad.to_string());
    assert_eq!((ran.code, ran.stdout.contains("\"Widget\"")), (1, true));
    assert!(
        ran.stderr.starts_with(
            "error: /registry/secrets/a/b: provider aesgcm, key \"key1\": authentication failed"
        )
    );
    let none = k.run_words(&["decode"], r#"{"header":{"revision":3}}"#).error();
    assert!(none.starts_with("standard input: etcdctl found no key; check the key"), "{none}");
    for nothing in ["", "hello", "[1]"] {
        let error = k.run_words(&["decode"], nothing).error();
        assert!(error.starts_with("standard input: "), "{error}");
    }
    assert!(k.run("decode missing.bin").error().starts_with("missing.bin: cannot be read: "));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_on_etcd_is_what_is_decoded() {
    let etcd = EtcdProcess::start().await.unwrap();
    let k = Kubestore::cluster().with_storage(&["--endpoints", &etcd.endpoint()]);
    k.apply("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: aHVudGVyMg==}\n");
    let kv = k.kv().await;
    let key = "/registry/secrets/default/s";
    let value = kv.get(GetRequest::new(key)).await.unwrap().kv.unwrap().value;
    let shown = k.run_with_input(&format!("decode --etcd-key {key}"), &value).ok();
    assert!(shown.contains("  password: aHVudGVyMg==\n"), "{shown}");
}
