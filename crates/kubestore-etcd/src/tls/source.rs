//! A configuration that follows its files.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use kubestore_kv::{KvError, KvErrorKind};
use rustls::{ClientConfig, crypto::CryptoProvider, pki_types::ServerName, sign::CertifiedKey};

use super::{files::Files, verify::TakeAny};
use crate::{
    TlsOptions,
    options::{OPEN, invalid},
};

/// The TLS of one client, for all its connections.
pub(crate) struct TlsSource {
    options: TlsOptions,
    provider: Arc<CryptoProvider>,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    files: Files,
    setup: Setup,
}

/// What a handshake needs. Resumption is shared by the handshakes of one setup, so a new certificate is not left out
/// by a session that began with the old one.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) config: Arc<ClientConfig>,
    pub(super) identity: Option<Arc<CertifiedKey>>,
}

impl TlsSource {
    /// Reads the files; they must be good now.
    pub(crate) fn new(options: TlsOptions) -> Result<Self, KvError> {
        if let Some(name) = &options.server_name
            && ServerName::try_from(name.as_str()).is_err()
        {
            return Err(invalid(format!("server name {name:?} is neither a host name nor an address")));
        }
        let provider = Arc::new(provider());
        let files = Files::read(&options)?;
        let setup = Setup::new(&files, &options, &provider)?;
        Ok(Self { options, provider, loaded: Mutex::new(Loaded { files, setup }) })
    }

    pub(super) fn options(&self) -> &TlsOptions {
        &self.options
    }

    /// As the files are now, or as they were when they were last good. Reads files, so not for async code.
    pub(super) fn setup(&self) -> Setup {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        match self.reload(&loaded.files) {
            Ok(None) => {}
            Ok(Some(fresh)) => {
                tracing::info!(
                    tls = self.options.describe(),
                    "TLS files have changed and are used from now on"
                );
                *loaded = fresh;
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::warn!(%error, cause, "TLS files have changed and cannot be used; the earlier ones still are");
            }
        }
        loaded.setup.clone()
    }

    fn reload(&self, known: &Files) -> Result<Option<Loaded>, KvError> {
        let files = Files::read(&self.options)?;
        if files == *known {
            return Ok(None);
        }
        let setup = Setup::new(&files, &self.options, &self.provider)?;
        Ok(Some(Loaded { files, setup }))
    }
}

impl fmt::Debug for TlsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsSource").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Setup {
    fn new(files: &Files, options: &TlsOptions, provider: &Arc<CryptoProvider>) -> Result<Self, KvError> {
        let identity = files.identity(options, provider)?;
        let roots = files.roots(options)?;
        let builder = ClientConfig::builder_with_provider(Arc::clone(provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| {
                KvError::new(KvErrorKind::Internal, OPEN, "TLS cannot be set up")
                    .with_source(error.to_string())
            })?;
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        if options.skip_verify {
            config.dangerous().set_certificate_verifier(Arc::new(TakeAny::new(Arc::clone(provider))));
        }
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { config: Arc::new(config), identity })
    }
}

#[cfg(feature = "tls-aws-lc")]
fn provider() -> CryptoProvider {
    rustls::crypto::aws_lc_rs::default_provider()
}

#[cfg(not(feature = "tls-aws-lc"))]
fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}
