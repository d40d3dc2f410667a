//! `kubestore-transform` alone: a value is sealed, a new key is brought in, and the old value opens as stale.

use std::error::Error;

use kubestore_transform::{Key, Provider, ProviderChain, Transformer, ValueContext};

fn main() -> Result<(), Box<dyn Error>> {
    let here = ValueContext::new(b"/registry/secrets/default/token");
    let (old, new) = (|| Key::new("old", [1; 32]), || Key::new("new", [2; 32]));

    let before = ProviderChain::new([Provider::aes_gcm([old()?])?])?;
    let stored =
        before.transform_to_storage("a secret".into(), here).try_now().map_err(|_| "not local")??;
    assert!(stored.starts_with(b"k8s:enc:aesgcm:v1:old:"));

    let after = ProviderChain::new([Provider::aes_gcm([new()?, old()?])?])?;
    let opened = after.transform_from_storage(stored.clone(), here).try_now().map_err(|_| "not local")??;
    assert_eq!((opened.data.as_ref(), opened.stale), (&b"a secret"[..], true));

    let without = ProviderChain::new([Provider::aes_gcm([new()?])?])?;
    let error = without
        .transform_from_storage(stored, here)
        .try_now()
        .map_err(|_| "not local")?
        .expect_err("key is gone");
    assert!(error.to_string().contains("old"), "{error}");
    Ok(())
}
