//! `inspect`, `history`, `diff` and `keys`.

use kubestore::kv::{GetRequest, Kv, PutRequest};
use serde_json::{Value, json};

use crate::{
    command::{Kubestore, config_map},
    rotation::{KEY1, configuration, gcm, lines},
};

fn json_of(k: &Kubestore, line: &str) -> Value {
    serde_json::from_str(&k.run(&format!("{line} -o json")).ok()).unwrap()
}

#[test]
fn inspect_says_how_a_value_is_stored() {
    let k = Kubestore::cluster();
    let shown = lines(&k.run("inspect secret/db").ok());
    assert_eq!(
        shown,
        [
            "Key: /registry/secrets/default/db",
            "Resource: secrets",
            "Namespace: default",
            "Name: db",
            "Created: revision 80",
            "Modified: revision 80, version 1 (newest revision 130)",
            "Lease: -",
            "Stored: 724 bytes",
            "Encryption: aesgcm v1, key \"key1\", current",
            "Encoding: protobuf, 673 bytes",
            "apiVersion: v1",
            "Kind: Secret",
        ]
    );
    let widget = json_of(&k, "inspect /registry/shop.example.com/widgets/default/w1");
    assert_eq!(
        (
            &widget["resource"],
            &widget["encoding"],
            &widget["apiVersion"],
            &widget["kind"],
            &widget["provider"]
        ),
        (
            &json!("widgets.shop.example.com"),
            &json!("json"),
            &json!("shop.example.com/v1"),
            &json!("Widget"),
            &json!("identity")
        )
    );
    let event = json_of(&k, "inspect events/ev1");
    assert_eq!(event["lease"]["grantedSeconds"], json!(3660), "{event}");
    let nothing = k.run("inspect secret/none").error();
    assert!(nothing.starts_with("/registry/secrets/default/none is not there; "), "{nothing}");
    assert!(k.run("inspect secret/db@79").error().contains(" was not there at revision 79; "));
    assert!(k.run("inspect web").error().starts_with("\"web\" is no key; write RESOURCE/NAME (pod/web)"));
}

#[test]
fn inspect_needs_no_key_for_what_is_in_front() {
    let k = Kubestore::cluster();
    let snapshot = k.path("cluster/snapshot.db").display().to_string();
    let shown = k.run_without_store(&format!("inspect secret/db -o json --snapshot {snapshot}")).ok();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(
        (&shown["provider"], &shown["keyName"], &shown["kind"]),
        (&json!("aesgcm"), &json!("key1"), &Value::Null)
    );
    assert!(shown["problem"].as_str().unwrap().contains("only identity is configured"), "{shown}");
    // With a configuration that does not have the key it is an error.
    let other = configuration(
        &k,
        "other.yaml",
        &[&gcm(&["{name: other, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}"])],
    );
    let ran = k.run_without_store(&format!("inspect secret/db --snapshot {snapshot} {other}"));
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("Encryption:  aesgcm v1, key \"key1\"\n"), "{ran:?}");
    assert!(
        ran.stderr.starts_with("error: provider aesgcm, key \"key1\": no key has the name in the value"),
        "{ran:?}"
    );
}

fn states(k: &Kubestore) {
    let flag = configuration(k, "key1.yaml", &[&gcm(&[KEY1]), "identity: {}"]);
    k.apply(&config_map("a", "one"));
    k.apply(&config_map("a", "two"));
    k.run("delete cm a").ok();
    k.apply(&config_map("a", "three"));
    k.apply(&config_map("b", "three"));
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: aHVudGVyMg==}\n";
    k.run_words(&["apply", "-f", "-", &flag], secret).ok();

    let history = json_of(k, "history cm/a");
    let revisions: Vec<i64> = history["states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|state| state["revision"].as_i64().unwrap())
        .collect();
    let first = revisions[0];
    assert_eq!(revisions, [first, first + 1, first + 2, first + 3]);
    let changes: Vec<_> =
        history["states"].as_array().unwrap().iter().map(|state| &state["change"]).collect();
    assert_eq!(changes, ["created", "modified", "deleted", "created"]);
    assert_eq!((&history["states"][1]["version"], &history["states"][3]["version"]), (&json!(2), &json!(1)));
    assert_eq!(history["key"], "/registry/configmaps/default/a");
    // Without managed fields, only of the first state of an object is it known when that was.
    let times: Vec<_> =
        history["states"].as_array().unwrap().iter().map(|state| state["time"].is_string()).collect();
    assert_eq!(times, [true, false, false, true]);
    let table = lines(&k.run("history /registry/configmaps/default/a").ok());
    assert_eq!(table.len(), 5);
    assert!(table[3].ends_with("deleted - - - - - -"), "{table:?}");
    let encrypted = lines(&k.run("history secret/s").ok());
    assert!(
        encrypted[1].contains(" created 1 - - ") && encrypted[1].contains(" aesgcm:key1 "),
        "{encrypted:?}"
    );
    assert!(
        k.run("history cm/none")
            .error()
            .starts_with("nothing is left of /registry/configmaps/default/none: ")
    );

    let patch = k.run(&format!("diff cm/a@{first} cm/a@{}", first + 1)).ok();
    let key = "/registry/configmaps/default/a";
    assert!(patch.starts_with(&format!("--- {key}@{first}\n+++ {key}@{}\n@@ ", first + 1)), "{patch}");
    assert!(patch.contains("\n-  key: one\n+  key: two\n"), "{patch}");
    let since = k.run(&format!("diff cm/a@{first} --exit-code"));
    assert_eq!(
        (since.code, since.stdout.contains("\n+  key: three\n"), since.stderr.as_str()),
        (1, true, "")
    );
    assert!(k.run("diff cm/a cm/b").ok().contains("\n-  name: a\n"));
    assert_eq!(k.run("diff cm/a cm/a --exit-code").ok(), "");
    assert!(k.run(&format!("diff cm/a@{}", first + 2)).error().contains(" was not there at revision "));
    assert!(k.run("diff cm/a").usage().starts_with("say since when: KEY@REVISION"));
    let error = k.run(&format!("diff secret/s@{}", first + 5)).error();
    assert!(error.contains("--encryption-config names the configuration with its key"), "{error}");
    assert_eq!(k.run(&format!("diff secret/s@{} {flag}", first + 5)).ok(), "");
    let error = k.run("diff cm/a@999999").error();
    assert!(error.contains("revision 999999 is above the newest, "), "{error}");
}

#[test]
fn states_of_a_key_in_a_directory() {
    states(&Kubestore::durable());
}

#[tokio::test(flavor = "multi_thread")]
async fn states_of_a_key_on_etcd() {
    let k = Kubestore::etcd().await;
    states(&k);

    let kv = k.kv().await;
    let head = kv.get(GetRequest::new("/")).await.unwrap().head;
    k.apply(&config_map("a", "four"));
    kv.compact(head).await.unwrap();
    let history = json_of(&k, "history cm/a");
    assert_eq!(history["compactedRevision"], json!(head.0));
    let changes: Vec<_> =
        history["states"].as_array().unwrap().iter().map(|state| &state["change"]).collect();
    assert_eq!(changes, ["created", "modified"]);
    assert!(k.run("history cm/none").error().contains(&format!("after the compacted revision {head}; ")));
    let error = k.run("diff cm/a@2").error();
    assert!(error.contains("`kubestore history /registry/configmaps/default/a`"), "{error}");
}

#[test]
fn keys_are_listed_and_summed_up() {
    let k = Kubestore::cluster();
    assert_eq!(k.run("keys").ok().lines().count(), 79);
    assert_eq!(
        k.run("keys widgets -n default").ok(),
        "/registry/shop.example.com/widgets/default/w1\n/registry/shop.example.com/widgets/default/w2\n"
    );
    assert_eq!(k.run("keys /registry/secrets/").ok(), "/registry/secrets/default/db\n");
    let table = lines(&k.run("keys secrets -o table").ok());
    assert_eq!(
        table,
        ["KEY BYTES VERSION CREATED MODIFIED LEASE", "/registry/secrets/default/db 724 1 80 80 -"]
    );
    let keys = json_of(&k, "keys events");
    assert_eq!(
        (&keys[0]["key"], keys[0]["lease"].is_string()),
        (&json!("/registry/events/default/ev1"), true)
    );

    let sizes = json_of(&k, "keys --sizes");
    assert_eq!((&sizes["total"]["keys"], &sizes["revision"]), (&json!(79), &json!(130)));
    let rows = sizes["rows"].as_array().unwrap();
    let sum: u64 = rows.iter().map(|row| row["storedBytes"].as_u64().unwrap()).sum();
    assert_eq!(sizes["total"]["storedBytes"], json!(sum));
    let widgets = rows.iter().find(|row| row["resource"] == "widgets.shop.example.com").unwrap();
    assert_eq!((&widgets["namespace"], &widgets["keys"]), (&json!("default"), &json!(2)));
    let table = k.run("keys --sizes").ok();
    let first = lines(&table).swap_remove(1);
    assert!(first.starts_with("apiservices.apiregistration.k8s.io - 22 18.93 KiB 29 % "), "{table}");
    assert!(table.lines().last().unwrap().starts_with("79 keys, values of "), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_are_compared() {
    let k = Kubestore::cluster();
    let snapshot = k.path("cluster/snapshot.db").display().to_string();
    assert_eq!(k.run(&format!("diff --from {snapshot} --exit-code")).ok(), "0 added, 0 removed, 0 changed\n");

    let data = k.data().display().to_string();
    let (exported, _) = k.run("export --resource configmaps,secrets,widgets.shop.example.com").noted();
    let k = k.with_storage(&["--data-dir", &data]);
    k.run_words(&["import"], &exported).ok();
    k.run("delete widgets.shop.example.com w2").ok();
    k.apply(&config_map("new", "1"));
    let changed = k.run("get widgets.shop.example.com w1 -o yaml").ok().replace("  size: 3\n", "  size: 4\n");
    k.run_words(&["apply", "-f", "-"], &changed).ok();
    let line = format!("diff --from {snapshot} --resource cm,secrets,widgets.shop.example.com");
    let shown = lines(&k.run(&line).ok());
    assert_eq!(shown.last().unwrap(), "1 added, 1 removed, 1 changed", "{shown:?}");
    assert!(shown[1].starts_with("+ /registry/configmaps/default/new - "), "{shown:?}");
    assert!(shown[2].starts_with("~ /registry/shop.example.com/widgets/default/w1 101 "), "{shown:?}");
    assert!(shown[3].starts_with("- /registry/shop.example.com/widgets/default/w2 106 - "), "{shown:?}");
    let report = json_of(&k, &line);
    assert_eq!((&report["changed"], &report["keys"][1]["change"]), (&json!(1), &json!("changed")));
    let patch = k.run(&format!("{line} --patch --exit-code"));
    assert_eq!(patch.code, 1);
    assert!(patch.stdout.contains("\n-  size: 3\n+  size: 4\n"), "{patch:?}");
    assert!(patch.stdout.contains("--- /dev/null\n+++ /registry/configmaps/default/new@"), "{patch:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_move_a_cursor_are_shown_harmless() {
    let k = Kubestore::etcd().await;
    let kv = k.kv().await;
    kv.optimistic_put(PutRequest::create("/registry/pods/a/\u{1b}[2J", "x")).await.unwrap();
    for line in ["keys", "keys -o table", "keys --sizes", "check"] {
        let ran = k.run(line);
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{line}: {ran:?}");
    }
}
