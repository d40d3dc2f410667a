//! `kubestore encryption keygen`.

use std::io::{self, Write};

use anyhow::Result;
use kubestore_admin::{KeyProvider, keygen};

use crate::{
    args::{KeygenArgs, Provider},
    failure::Usage,
};

pub(super) fn run(args: &KeygenArgs) -> Result<()> {
    let provider = match args.provider {
        Provider::Aesgcm => KeyProvider::AesGcm,
        Provider::Aescbc => KeyProvider::AesCbc,
        Provider::Secretbox => KeyProvider::Secretbox,
    };
    let snippet = keygen(provider, &args.name).map_err(|error| match error {
        kubestore_admin::AdminError::KeyName { .. } => Usage::new(error.to_string()).into(),
        error => anyhow::Error::from(error),
    })?;
    io::stdout().write_all(snippet.yaml().as_bytes())?;
    Ok(())
}
