//! No secret and no value is shown, whatever is printed.

use kubestore_admin::{
    CensusOptions, RewrapOptions, Scope, VerifyOptions, census, keygen, plan, rewrap, verify,
};

use crate::common::{
    Backend, CANARY, FALSE_KEY1, IDENTITY, KEY1, KEY2, cbc, config, gcm, put, put_sealed, put_secrets, secret,
};

#[tokio::test]
async fn reports_errors_and_debug_show_neither_secrets_nor_values() {
    let Backend { kv, .. } = &Backend::memory();
    put_secrets(kv, &config(&[&gcm(&[KEY1])]), 3).await;
    put_sealed(kv, &config(&[&gcm(&[FALSE_KEY1])]), "/registry/secrets/ns/false", secret(1)).await;
    put_sealed(kv, &config(&[&cbc(&[KEY1])]), "/registry/secrets/ns/cbc", secret(1)).await;
    put(kv, "/registry/secrets/ns/plain", secret(1)).await;
    put(kv, "/registry/pods/ns/damaged", format!("k8s:enc:aesgcm:v1:{}", "x".repeat(300) + CANARY)).await;
    let configs = [
        config(&[&gcm(&[KEY1])]),
        config(&[&gcm(&[KEY2, KEY1]), IDENTITY]),
        config(&[IDENTITY]),
        config(&[&cbc(&[FALSE_KEY1])]),
    ];
    let mut shown = vec![format!("{:?}", keygen(kubestore_admin::KeyProvider::AesGcm, "a").unwrap())];
    shown.push(keygen(kubestore_admin::KeyProvider::AesGcm, "a:b").unwrap_err().to_string());
    shown.push(format!("{:?}", Scope::new("/registry").only(["nothing"]).unwrap_err()));
    for config in &configs {
        let options = CensusOptions::default().against(config);
        let census = census(kv, "/registry", &options).await.unwrap();
        shown.push(format!("{config:?} {options:?} {census:?} {}", serde_json::to_string(&census).unwrap()));
        let report = verify(kv, "/registry", config, &VerifyOptions::default()).await.unwrap();
        shown.push(format!("{report:?} {}", serde_json::to_string(&report).unwrap()));
        let report = rewrap(kv, "/registry", config, &RewrapOptions::default().dry_run(true)).await.unwrap();
        assert!(!report.failures.is_empty());
        shown.push(format!("{report:?} {}", serde_json::to_string(&report).unwrap()));
        for other in &configs {
            let plan = plan(config, other, Some(&census), 3);
            shown.push(format!("{plan} {plan:?} {}", serde_json::to_string(&plan).unwrap()));
        }
    }
    let shown = shown.join("\n");
    for needle in [CANARY, "AAECAwQF", "Hx4dHBsa", "ICEiIyQl", "00, 01, 02", "0, 1, 2, 3", "\\x00\\x01\\x02"]
    {
        assert!(!shown.contains(needle), "{needle} is shown");
    }
    // The search finds what is there.
    assert!(shown.contains("aesgcm:key1") && shown.contains("/registry/secrets/ns/false"));
}
