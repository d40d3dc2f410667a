//! New keys.

use kubestore_admin::{KeyProvider, keygen};
use kubestore_transform::EncryptionConfig;

#[test]
fn a_new_key_can_be_used_as_it_is() {
    for provider in KeyProvider::ALL {
        // A name that YAML would take for a boolean, and one for a number.
        for name in ["key-2026.05", "true", "1e3"] {
            let snippet = keygen(provider, name).unwrap();
            assert_eq!((snippet.provider(), snippet.name()), (provider, name));
            let text = format!(
                "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  \
                 providers:\n{}",
                snippet.yaml().lines().map(|line| format!("  {line}\n")).collect::<String>()
            );
            let config = EncryptionConfig::from_str(&text, "made").unwrap();
            let made = config.providers_for("", "secrets")[0];
            assert_eq!((made.name(), made.key_names()), (provider.name(), vec![name]));
        }
    }
    let text = |name| keygen(KeyProvider::AesGcm, name).unwrap().yaml().to_owned();
    assert_ne!(text("a"), text("a"), "no secret is made twice");
}

#[test]
fn names_that_cannot_be_in_an_envelope_are_refused() {
    for (name, reason) in [
        ("", "it is empty"),
        ("a:b", "it may have letters"),
        ("a b", "it may have letters"),
        ("a\"b", "it may have letters"),
        ("ü", "it may have letters"),
        (&*"a".repeat(254), "it has more than 253 characters"),
    ] {
        let error = keygen(KeyProvider::Secretbox, name).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn debug_does_not_show_the_secret() {
    let snippet = keygen(KeyProvider::AesGcm, "key1").unwrap();
    assert_eq!(format!("{snippet:?}"), "KeySnippet { provider: AesGcm, name: \"key1\", .. }");
}
