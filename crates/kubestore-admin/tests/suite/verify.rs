//! What a check says of values that do not open.

use bytes::Bytes;
use kubestore_admin::{FailureCause, MOST_FAILURES, RewrapOptions, VerifyOptions, rewrap, verify};
use kubestore_kv::PutRequest;

use crate::common::{
    Backend, FALSE_KEY1, IDENTITY, KEY1, KEY2, all, cbc, config, done, gcm, get, put, put_sealed,
    put_secrets, rules, seal, secret,
};

/// Key, provider and key name in the envelope, cause.
type Told<'a> = (&'a str, Option<&'a str>, Option<&'a str>, FailureCause);

#[tokio::test]
async fn every_cause_is_told_apart_and_named() {
    let Backend { kv, .. } = &Backend::memory();
    let key1 = config(&[&gcm(&[KEY1]), IDENTITY]);
    put_sealed(kv, &key1, "/registry/secrets/ns/a-good", secret(1)).await;
    put(kv, "/registry/secrets/ns/b-plain", secret(1)).await;
    let moved = get(kv, "/registry/secrets/ns/a-good").await.unwrap().value;
    put(kv, "/registry/secrets/ns/c-moved", moved.clone()).await;
    put(kv, "/registry/secrets/ns/d-truncated", moved.slice(..30)).await;
    put(kv, "/registry/secrets/ns/e-cut-in-header", moved.slice(..20)).await;
    put_sealed(kv, &config(&[&gcm(&[KEY2])]), "/registry/secrets/ns/f-unknown", secret(1)).await;
    put_sealed(kv, &config(&[&cbc(&[KEY1])]), "/registry/secrets/ns/g-provider", secret(1)).await;
    put_sealed(kv, &config(&[&gcm(&[FALSE_KEY1])]), "/registry/secrets/ns/h-false", secret(1)).await;
    put(kv, "/registry/pods/ns/i-not-configured", moved).await;

    let report = verify(kv, "/registry", &key1, &VerifyOptions::default()).await.unwrap();
    let told: Vec<Told<'_>> = report
        .failures
        .first
        .iter()
        .map(|failure| {
            let key = failure.key.rsplit('/').next().unwrap();
            (key, failure.provider.as_deref(), failure.key_name.as_deref(), failure.cause)
        })
        .collect();
    let gcm1 = (Some("aesgcm"), Some("key1"));
    assert_eq!(
        told,
        [
            ("i-not-configured", gcm1.0, gcm1.1, FailureCause::EncryptedButIdentity),
            ("c-moved", gcm1.0, gcm1.1, FailureCause::AuthenticationFailed),
            ("d-truncated", gcm1.0, gcm1.1, FailureCause::Truncated),
            ("e-cut-in-header", gcm1.0, None, FailureCause::Truncated),
            ("f-unknown", gcm1.0, Some("key2"), FailureCause::UnknownKeyName),
            ("g-provider", Some("aescbc"), gcm1.1, FailureCause::ProviderNotConfigured),
            ("h-false", gcm1.0, gcm1.1, FailureCause::AuthenticationFailed),
        ]
    );
    let unknown = &report.failures.first[4];
    assert_eq!(
        unknown.message,
        "provider aesgcm, key \"key2\": no key has the name in the value (configured: key1); add the key that it was \
         written with"
    );
    assert_eq!((report.total.seen, report.total.open, report.total.stale, report.total.failed), (9, 2, 1, 7));
    assert_eq!(report.total.causes[&FailureCause::AuthenticationFailed], 2);
    assert_eq!(report.failures.by_cause[&FailureCause::Truncated], 2);
    let secrets = &report.resources.iter().find(|(resource, _)| resource.to_string() == "secrets").unwrap().1;
    assert_eq!((secrets.open, secrets.failed), (2, 6));
    assert!(!report.is_success());

    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["resources"]["pods"]["causes"]["encryptedButIdentity"], 1);
    assert_eq!(json["failures"]["first"][4]["keyName"], "key2");

    // What does not open is left as it is by a re-encryption, and told in the same words.
    let before = all(kv).await;
    let report_of_rewrap = rewrap(kv, "/registry", &key1, &RewrapOptions::default()).await.unwrap();
    assert_eq!(report_of_rewrap.failures, report.failures);
    assert_eq!((report_of_rewrap.total.rewritten, report_of_rewrap.is_success()), (1, false));
    let changed = before.iter().zip(&all(kv).await).filter(|(old, new)| old != new).count();
    assert_eq!(changed, 1);
}

#[tokio::test]
async fn plain_values_need_identity() {
    let Backend { kv, .. } = &Backend::memory();
    put(kv, "/registry/secrets/ns/a", secret(1)).await;
    let report = verify(kv, "/registry", &config(&[&gcm(&[KEY1])]), &VerifyOptions::default()).await.unwrap();
    assert_eq!(report.failures.first[0].cause, FailureCause::NotEncrypted);
}

/// One secret in 256 makes nonsense of AES-CBC without an error; it must not be sealed anew as if it was somebody's data.
#[tokio::test]
async fn nonsense_from_cbc_is_not_believed() {
    let Backend { kv, .. } = &Backend::memory();
    let true_key1 = config(&[&cbc(&[KEY1])]);
    let false_key1 = config(&[&cbc(&[FALSE_KEY1])]);
    let key = "/registry/secrets/ns/a";
    let transformer = false_key1.transformer_for("", "secrets");
    let context = kubestore_transform::ValueContext::new(key.as_bytes());
    let nonsense = loop {
        let sealed = seal(&true_key1, key, &Bytes::from(secret(1))).await;
        if transformer.transform_from_storage(sealed.clone(), context).await.is_ok() {
            break sealed;
        }
    };
    done(kv.optimistic_put(PutRequest::create(key, nonsense.clone())).await.unwrap());

    let rotated = config(&[&gcm(&[KEY2]), &cbc(&[FALSE_KEY1])]);
    let report = rewrap(kv, "/registry", &rotated, &RewrapOptions::default()).await.unwrap();
    let failure = &report.failures.first[0];
    assert_eq!(
        (failure.cause, failure.provider.as_deref(), failure.key_name.as_deref()),
        (FailureCause::NotAnObject, Some("aescbc"), Some("key1"))
    );
    assert_eq!(get(kv, key).await.unwrap().value, nonsense);
    let report = verify(kv, "/registry", &rotated, &VerifyOptions::default()).await.unwrap();
    assert_eq!(report.total.causes[&FailureCause::NotAnObject], 1);
    // With the right secret all is well.
    let rotated = config(&[&gcm(&[KEY2]), &cbc(&[KEY1])]);
    let report = rewrap(kv, "/registry", &rotated, &RewrapOptions::default()).await.unwrap();
    assert_eq!((report.total.rewritten, report.is_success()), (1, true));
}

#[tokio::test]
async fn a_value_that_would_not_open_again_is_not_written() {
    let Backend { kv, .. } = &Backend::memory();
    // Sealed twice by mistake: plain, it would look encrypted.
    put_sealed(kv, &config(&[&gcm(&[KEY1])]), "/registry/secrets/ns/a", "k8s:enc:aesgcm:v1:key1:inner").await;
    let before = all(kv).await;
    let plain = config(&[IDENTITY, &gcm(&[KEY1])]);
    let report = rewrap(kv, "/registry", &plain, &RewrapOptions::default()).await.unwrap();
    assert_eq!(report.failures.first[0].cause, FailureCause::NotReversible);
    assert_eq!(all(kv).await, before);
}

#[tokio::test]
async fn of_many_failures_the_first_are_told_one_by_one() {
    let Backend { kv, .. } = &Backend::memory();
    put_secrets(kv, &config(&[&gcm(&[KEY1])]), MOST_FAILURES + 20).await;
    let report = verify(kv, "/registry", &config(&[IDENTITY]), &VerifyOptions::default()).await.unwrap();
    assert_eq!((report.failures.total, report.failures.first.len()), (120, MOST_FAILURES));
    assert_eq!(report.failures.first[0].key, "/registry/secrets/ns/00000");
}

/// The value's envelope names one key, and another one of the configuration opens it.
#[tokio::test]
async fn a_key_that_opens_all_the_same_is_named() {
    let Backend { kv, .. } = &Backend::memory();
    let renamed = KEY2.replace("key2", "key1");
    put_sealed(kv, &config(&[&gcm(&[&renamed])]), "/registry/secrets/ns/a-renamed", secret(1)).await;
    put_sealed(kv, &config(&[&gcm(&[KEY2])]), "/registry/secrets/ns/b-other-rule", secret(1)).await;
    put_sealed(kv, &config(&[&cbc(&[KEY2])]), "/registry/secrets/ns/c-not-configured", secret(1)).await;
    put_sealed(kv, &config(&[&gcm(&[FALSE_KEY1])]), "/registry/secrets/ns/d-lost", secret(1)).await;
    let config = rules(&[
        ("secrets", &[&gcm(&[KEY1]), IDENTITY]),
        ("configmaps, '*.apps'", &[&gcm(&[KEY2]), &cbc(&[KEY2])]),
    ]);
    let report = verify(kv, "/registry", &config, &VerifyOptions::default()).await.unwrap();
    let told: Vec<_> = report
        .failures
        .first
        .iter()
        .map(|failure| {
            let other = failure.opened_by.as_ref();
            (failure.cause, other.map(|other| (other.provider.as_str(), other.key_name.as_str())))
        })
        .collect();
    assert_eq!(
        told,
        [
            (FailureCause::AuthenticationFailed, Some(("aesgcm", "key2"))),
            (FailureCause::UnknownKeyName, Some(("aesgcm", "key2"))),
            (FailureCause::ProviderNotConfigured, Some(("aescbc", "key2"))),
            (FailureCause::AuthenticationFailed, None),
        ]
    );
    let first = &report.failures.first[0];
    assert_eq!(first.opened_by.as_ref().unwrap().resources, ["configmaps", "*.apps"]);
    let end = "it opens with the key \"key2\" of provider aesgcm in the rule for configmaps, *.apps";
    assert!(first.message.ends_with(end), "{}", first.message);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["failures"]["first"][0]["openedBy"]["keyName"], "key2");
    assert_eq!(json["failures"]["first"][3].get("openedBy"), None);
}

#[tokio::test]
async fn contents_are_checked_if_asked_for() {
    let Backend { kv, .. } = &Backend::memory();
    let gcm1 = config(&[&gcm(&[KEY1]), IDENTITY]);
    let protobuf =
        b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Secret\x12\x0c\x0a\x0a\x0a\x01a\x12\0\x1a\x03ns1\x1a\0\"\0";
    let whole = [
        ("json", &br#"{"kind":"Secret","apiVersion":"v1"}"#[..]),
        ("protobuf", protobuf),
        ("cbor", b"\xd9\xd9\xf7\xa2\x44kind\x46Secret\x4aapiVersion\x42v1"),
    ];
    for (name, plain) in whole {
        put_sealed(kv, &gcm1, &format!("/registry/secrets/ns/{name}"), plain).await;
        put_sealed(kv, &gcm1, &format!("/registry/secrets/ns/{name}-cut"), &plain[..plain.len() - 3]).await;
    }
    put_sealed(kv, &gcm1, "/registry/secrets/ns/sealed-foreign", &b"canary-in-the-value"[..]).await;
    put(kv, "/registry/pods/ns/plain-foreign", "canary-in-the-value").await;
    let any = verify(kv, "/registry", &gcm1, &VerifyOptions::default()).await.unwrap();
    assert_eq!((any.total.open, any.is_success()), (8, true));

    let options = VerifyOptions::default().check_contents(true);
    let report = verify(kv, "/registry", &gcm1, &options).await.unwrap();
    let told: Vec<_> = report
        .failures
        .first
        .iter()
        .map(|failure| (failure.key.rsplit('/').next().unwrap(), failure.cause))
        .collect();
    assert_eq!(
        told,
        [
            ("plain-foreign", FailureCause::Foreign),
            ("cbor-cut", FailureCause::Undecodable),
            ("json-cut", FailureCause::Undecodable),
            ("protobuf-cut", FailureCause::Undecodable),
            ("sealed-foreign", FailureCause::Foreign),
        ]
    );
    assert_eq!((report.total.open, report.total.failed), (3, 5));
    assert!(!serde_json::to_string(&report).unwrap().contains("canary-in"));

    let options = VerifyOptions::default().decode_with(|key, plain| {
        if key.ends_with(b"json") { Err(format!("{} bytes too many", plain.len())) } else { Ok(()) }
    });
    let report = verify(kv, "/registry", &gcm1, &options).await.unwrap();
    assert_eq!(report.failures.total, 1);
    assert_eq!(report.failures.first[0].message, "35 bytes too many");
}

/// Several parts at once come to the same as one after the other, in the same order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_side_by_side_are_told_in_order() {
    let Backend { kv, .. } = &Backend::memory();
    let sealed = config(&[&gcm(&[KEY1])]);
    for number in 0..3000 {
        let key = format!("/registry/secrets/ns/{number:05}");
        if number % 100 == 7 {
            put(kv, &key, "k8s:enc:x").await
        } else {
            put(kv, &key, seal(&sealed, &key, &secret(number).into()).await).await
        };
    }
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let observed = std::sync::Arc::clone(&seen);
    let options = VerifyOptions::default()
        .concurrency(4)
        .on_progress(move |progress| observed.lock().unwrap().push((progress.done, progress.failed)));
    let report = verify(kv, "/registry", &sealed, &options).await.unwrap();
    assert_eq!((report.total.open, report.failures.total), (2970, 30));
    let keys: Vec<_> = report.failures.first.iter().map(|failure| failure.key.as_str()).collect();
    assert!(keys.is_sorted());
    assert_eq!(keys[1], "/registry/secrets/ns/00107");
    let one = VerifyOptions::default().concurrency(1);
    assert_eq!(verify(kv, "/registry", &sealed, &one).await.unwrap(), report);
    assert_eq!(seen.lock().unwrap().last(), Some(&(3000, 30)));
}
