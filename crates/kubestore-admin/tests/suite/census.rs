//! What a census finds and how it judges it.

use kubestore_admin::{Census, CensusOptions, PlainEncoding, Scope, Standing, census};

use crate::common::{
    Backend, IDENTITY, KEY1, KEY2, cbc, config, gcm, put, put_sealed, rules, secret, secretbox,
};

#[tokio::test]
async fn forms_are_told_apart_by_resource_provider_version_key_and_encoding() {
    let Backend { kv, .. } = &Backend::memory();
    put_sealed(kv, &config(&[&gcm(&[KEY1])]), "/registry/secrets/ns/a", secret(1)).await;
    put_sealed(kv, &config(&[&cbc(&[KEY1])]), "/registry/secrets/ns/b", secret(1)).await;
    put_sealed(kv, &config(&[&secretbox(&[KEY2])]), "/registry/secrets/ns/c", secret(1)).await;
    for (key, value) in [
        ("secrets/ns/d", &b"k8s:enc:kms:v2:plugin:\x0a\x01"[..]),
        ("secrets/ns/e", b"k8s:enc:kms:v1:plugin:\x0a\x01"),
        ("secrets/ns/f", b"k8s:enc:aesgcm:v1:key1"),
        ("secrets/ns/g", b"k8s:enc:"),
        ("pods/ns/a", b"k8s\0\x0a"),
        ("pods/ns/b", b"k8s\0\x0a"),
        ("shop.example.com/widgets/ns/a", b"\xd9\xd9\xf7\xa0"),
        ("shop.example.com/widgets/ns/b", b"{}"),
        ("foos/ns/a", b"what is this"),
    ] {
        put(kv, &format!("/registry/{key}"), value).await;
    }
    put(kv, "/registryx/secrets/ns/a", "{}").await;

    let census = census(kv, "/registry", &CensusOptions::default()).await.unwrap();
    let rows: Vec<_> =
        census.rows.iter().map(|row| (row.resource.to_string(), row.form(), row.values)).collect();
    let row = |resource: &str, form: &str, values| (resource.to_owned(), form.to_owned(), values);
    assert_eq!(
        rows,
        [
            row("pods", "protobuf", 2),
            row("secrets", "damaged envelope", 1),
            row("secrets", "aescbc:key1", 1),
            row("secrets", "aesgcm", 1),
            row("secrets", "aesgcm:key1", 1),
            row("secrets", "kms:plugin", 1),
            row("secrets", "kms:v2:plugin", 1),
            row("secrets", "secretbox:key2", 1),
            row("widgets.shop.example.com", "json", 1),
            row("widgets.shop.example.com", "cbor", 1),
            row("/foos", "unknown", 1),
        ]
    );
    assert_eq!(census.values, 12);
    assert_eq!(census.bytes, census.rows.iter().map(|row| row.bytes).sum::<u64>());
    assert!(census.rows.iter().all(|row| row.standing.is_none()));
    assert_eq!((census.revision, census.last_revision), (14, 14));
}

#[tokio::test]
async fn forms_are_judged_by_a_configuration() {
    let Backend { kv, .. } = &Backend::memory();
    put_sealed(kv, &config(&[&gcm(&[KEY1])]), "/registry/secrets/ns/a", secret(1)).await;
    put_sealed(kv, &config(&[&gcm(&[KEY2])]), "/registry/secrets/ns/b", secret(1)).await;
    put(kv, "/registry/secrets/ns/c", "{}").await;
    put(kv, "/registry/secrets/ns/d", "k8s:enc:aesgcm:v1:key3:xxxx").await;
    put(kv, "/registry/secrets/ns/e", "k8s:enc:aesgcm:v2:key2:xxxx").await;
    put(kv, "/registry/pods/ns/a", "{}").await;
    put(kv, "/registry/pods/ns/b", "k8s:enc:aesgcm:v1:key2:xxxx").await;
    put(kv, "/registry/ranges/serviceips", "k8s\0").await;
    put(kv, "/registry/foos/ns/a", "{}").await;

    let judged = async |rules_text: &[(&str, &[&str])]| {
        let options = CensusOptions::default().against(&rules(rules_text));
        let census = census(kv, "/registry", &options).await.unwrap();
        let row = |row: &kubestore_admin::CensusRow| {
            format!("{} {} {}", row.resource, row.form(), row.standing.unwrap().as_str())
        };
        census.rows.iter().map(row).collect::<Vec<_>>()
    };
    let both = &[&*gcm(&[KEY2, KEY1]), IDENTITY];
    assert_eq!(
        judged(&[("secrets", both)]).await,
        [
            "pods json current",
            "pods aesgcm:key2 unreadable",
            "ranges protobuf current",
            "secrets json stale",
            "secrets aesgcm:key1 stale",
            "secrets aesgcm:key2 current",
            "secrets aesgcm:key3 unreadable",
            "secrets aesgcm:v2:key2 unreadable",
            "/foos json current",
        ]
    );
    // Under a rule for everything plain values are stale, but for what API servers never encrypt.
    let judged_by_wildcard = judged(&[("*.*", both)]).await;
    assert_eq!(judged_by_wildcard[0], "pods json stale");
    assert_eq!(judged_by_wildcard[2], "ranges protobuf current");
    assert_eq!(judged_by_wildcard[8], "/foos json stale");
    // A rule for a group may be meant for what has none in its key.
    assert_eq!(judged(&[("'*.example'", both), ("*.*", both)]).await[8], "/foos json unknown");
}

#[tokio::test]
async fn json_has_names_in_camel_case_and_can_be_read_again() {
    let Backend { kv, .. } = &Backend::memory();
    let key1 = config(&[&gcm(&[KEY1])]);
    put_sealed(kv, &key1, "/registry/secrets/ns/a", "{}").await;
    put(kv, "/registry/pods/ns/a", "{}").await;
    let scope = Scope::new("/registry").only(["secrets"]).unwrap();
    let census = census(kv, &scope, &CensusOptions::default().against(&key1)).await.unwrap();
    let json = serde_json::to_value(&census).unwrap();
    let wanted = serde_json::json!({
        "prefix": "/registry/",
        "revision": 3,
        "lastRevision": 3,
        "values": 1,
        "bytes": 53,
        "rows": [{
            "resource": "secrets",
            "provider": "aesgcm",
            "version": "v1",
            "keyName": "key1",
            "values": 1,
            "bytes": 53,
            "standing": "current",
        }],
    });
    assert_eq!(json, wanted);
    assert_eq!(serde_json::from_value::<Census>(json).unwrap(), census);
    assert_eq!(census.values_that_are(Standing::Current), 1);
    assert!(census.rows[0].is_encrypted());
    assert_eq!(serde_json::to_value(PlainEncoding::Protobuf).unwrap(), "protobuf");
}

#[tokio::test]
async fn names_in_damaged_envelopes_do_not_fill_the_memory() {
    let Backend { kv, .. } = &Backend::memory();
    for number in 0..10_050 {
        let value = format!("k8s:enc:aesgcm:v1:{number}:");
        put(kv, &format!("/registry/secrets/ns/{number}"), value).await;
    }
    let census = census(kv, "/registry", &CensusOptions::default()).await.unwrap();
    assert_eq!((census.rows.len(), census.values), (10_001, 10_050));
    let others: Vec<_> = census.rows.iter().filter(|row| row.form() == "damaged envelope").collect();
    assert_eq!((others.len(), others[0].values), (1, 50));
}
