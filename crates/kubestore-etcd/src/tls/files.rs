//! The PEM files, read and understood.

use std::{fmt::Display, path::Path, sync::Arc};

use kubestore_kv::{KvError, KvErrorKind};
use rustls::{
    RootCertStore,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use zeroize::Zeroizing;

use crate::{
    TlsOptions,
    options::{OPEN, invalid},
};

/// The bytes of the files, to tell whether they changed.
#[derive(PartialEq, Eq)]
pub(super) struct Files {
    ca: Option<Vec<u8>>,
    cert: Option<Vec<u8>>,
    key: Option<Zeroizing<Vec<u8>>>,
}

impl Files {
    pub(super) fn read(options: &TlsOptions) -> Result<Self, KvError> {
        let identity = identity_files(options)?;
        let ca = options.ca_file.as_deref().map(|path| read("CA", path)).transpose()?;
        let cert = identity.map(|(cert, _)| read("certificate", cert)).transpose()?;
        let key = identity.map(|(_, key)| read("key", key)).transpose()?.map(Zeroizing::new);
        Ok(Self { ca, cert, key })
    }

    /// The authorities to trust: those of the file, else the system's.
    pub(super) fn roots(&self, options: &TlsOptions) -> Result<RootCertStore, KvError> {
        let mut roots = RootCertStore::empty();
        let (Some(bytes), Some(path)) = (&self.ca, &options.ca_file) else {
            let found = rustls_native_certs::load_native_certs();
            for error in &found.errors {
                tracing::debug!(%error, "part of the system's certificate authorities cannot be read");
            }
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() && !options.skip_verify {
                let message = "no CA file is given and the system knows no certificate authority; name the cluster's \
                               CA file";
                return Err(KvError::new(KvErrorKind::InvalidArgument, OPEN, message));
            }
            return Ok(roots);
        };
        for certificate in certificates("CA", path, bytes)? {
            roots
                .add(certificate)
                .map_err(|error| unusable("CA", path, "a certificate in it cannot be used as one", error))?;
        }
        Ok(roots)
    }

    /// The client's certificate with its key, which must belong together.
    pub(super) fn identity(
        &self,
        options: &TlsOptions,
        provider: &CryptoProvider,
    ) -> Result<Option<Arc<CertifiedKey>>, KvError> {
        let (Some((cert_path, key_path)), Some(cert), Some(key)) =
            (identity_files(options)?, &self.cert, &self.key)
        else {
            return Ok(None);
        };
        let chain = certificates("certificate", cert_path, cert)?;
        // The cause might quote what is in the file, so it is told by its kind alone.
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| {
            refuse("key", key_path, "no usable private key in it; it must be PEM, and not be encrypted")
        })?;
        let key = provider
            .key_provider
            .load_private_key(key)
            .map_err(|error| unusable("key", key_path, "the private key cannot be used", error))?;
        let certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {
                Ok(Some(Arc::new(certified)))
            }
            Err(error) => {
                let what = format!("it is not the key of the certificate in {}", cert_path.display());
                Err(unusable("key", key_path, &what, error))
            }
        }
    }
}

/// The certificate and the key, which are of no use alone.
fn identity_files(options: &TlsOptions) -> Result<Option<(&Path, &Path)>, KvError> {
    match (&options.cert_file, &options.key_file) {
        (Some(cert), Some(key)) => Ok(Some((cert, key))),
        (None, None) => Ok(None),
        (Some(cert), None) => Err(invalid(format!(
            "client certificate {} without its key; name the key file too",
            cert.display()
        ))),
        (None, Some(key)) => Err(invalid(format!(
            "key {} without its client certificate; name the certificate file too",
            key.display()
        ))),
    }
}

fn read(what: &str, path: &Path) -> Result<Vec<u8>, KvError> {
    std::fs::read(path).map_err(|error| refuse(what, path, "it cannot be read").with_source(error))
}

fn certificates(what: &str, path: &Path, bytes: &[u8]) -> Result<Vec<CertificateDer<'static>>, KvError> {
    let found = CertificateDer::pem_slice_iter(bytes)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unusable(what, path, "it is not well-formed PEM", error))?;
    if found.is_empty() {
        return Err(refuse(what, path, "no certificate in it; it must be PEM"));
    }
    Ok(found)
}

fn refuse(what: &str, path: &Path, why: &str) -> KvError {
    let message = format!("{what} file {}: {why}", path.display());
    KvError::new(KvErrorKind::InvalidArgument, OPEN, message)
}

/// With the cause as words, so that no type of another crate is reachable.
fn unusable(what: &str, path: &Path, why: &str, cause: impl Display) -> KvError {
    refuse(what, path, why).with_source(cause.to_string())
}
