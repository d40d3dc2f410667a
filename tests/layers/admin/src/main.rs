//! `kubestore-admin` alone, on nothing but a backend: a made key encrypts what is stored plain, and all of it opens.

use kubestore_admin::{
    CensusOptions, KeyProvider, RewrapOptions, VerifyOptions, census, keygen, plan, rewrap, verify,
};
use kubestore_embedded::Embedded;
use kubestore_kv::{Kv, PutRequest};
use kubestore_transform::EncryptionConfig;

const PLAIN: &str = "- identity: {}\n";

fn config(providers: &str) -> Result<EncryptionConfig, kubestore_transform::ConfigError> {
    let providers: String = providers.lines().map(|line| format!("  {line}\n")).collect();
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  \
         providers:\n{providers}"
    );
    EncryptionConfig::from_str(&text, "example")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kv = Embedded::in_memory();
    for name in ["a", "b", "c"] {
        kv.optimistic_put(PutRequest::create(format!("/registry/secrets/ns/{name}"), "{}")).await?;
    }
    let made = keygen(KeyProvider::Secretbox, "key1")?;
    let (old, new) = (config(PLAIN)?, config(&format!("{}{PLAIN}", made.yaml()))?);
    assert_eq!(plan(&old, &new, None, 3).steps.len(), 4);

    let report = rewrap(&kv, "/registry", &new, &RewrapOptions::default()).await?;
    assert_eq!((report.total.rewritten, report.is_success()), (3, true));
    let census = census(&kv, "/registry", &CensusOptions::default()).await?;
    assert_eq!((census.rows[0].form().as_str(), census.rows[0].values), ("secretbox:key1", 3));
    let report = verify(&kv, "/registry", &config(made.yaml())?, &VerifyOptions::default()).await?;
    assert_eq!((report.total.open, report.total.stale, report.is_success()), (3, 0, true));
    assert!(!verify(&kv, "/registry", &old, &VerifyOptions::default()).await?.is_success());
    Ok(())
}
