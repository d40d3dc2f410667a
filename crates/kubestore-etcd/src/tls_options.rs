//! How to speak TLS with etcd: whom to trust, who to be.

use std::path::PathBuf;

/// TLS towards the endpoints. The defaults trust the system's certificate authorities and show no certificate.
///
/// The files are PEM. They are read when connecting, and again for every new connection, so that certificates may be
/// replaced while the program runs: connections that are open go on with what they began with, as in Go's client. A
/// replacement that cannot be read, or whose key is not that of its certificate, is logged, and what was read before
/// goes on being used.
///
/// ```
/// use kubestore_etcd::{EtcdKv, TlsOptions};
///
/// let tls = TlsOptions::new()
///     .ca_file("/etc/kubernetes/pki/etcd/ca.crt")
///     .identity("/etc/kubernetes/pki/apiserver-etcd-client.crt", "/etc/kubernetes/pki/apiserver-etcd-client.key");
/// let builder = EtcdKv::builder().endpoints(["https://10.0.0.1:2379"]).tls(tls);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// The certificate authorities to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// The client's certificate, followed by those between it and the server's authority. Needs a
    /// [`key_file`](Self::key_file).
    pub cert_file: Option<PathBuf>,
    /// The private key of the client's certificate: PKCS#8, PKCS#1 or SEC1, not encrypted.
    pub key_file: Option<PathBuf>,
    /// The name that the servers' certificates must be for, instead of the host of each endpoint.
    pub server_name: Option<String>,
    /// Takes any certificate of the server. The connection is encrypted, but with whom is not known: for
    /// diagnosis only.
    pub skip_verify: bool,
}

impl TlsOptions {
    /// The system's authorities, no client certificate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts the authorities in `path` instead of the system's.
    #[must_use]
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(path.into());
        self
    }

    /// Shows the certificate in `cert_file`, whose private key is in `key_file`.
    #[must_use]
    pub fn identity(mut self, cert_file: impl Into<PathBuf>, key_file: impl Into<PathBuf>) -> Self {
        self.cert_file = Some(cert_file.into());
        self.key_file = Some(key_file.into());
        self
    }

    /// Wants certificates for `name` instead of the host of each endpoint.
    #[must_use]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Whether to take any certificate; see [`skip_verify`](Self::skip_verify).
    #[must_use]
    pub fn skip_verify(mut self, on: bool) -> Self {
        self.skip_verify = on;
        self
    }

    /// The settings in use, for errors that say that they are in the way.
    pub(crate) fn describe(&self) -> String {
        let files = [("CA", &self.ca_file), ("certificate", &self.cert_file), ("key", &self.key_file)];
        let mut parts: Vec<_> = files
            .into_iter()
            .filter_map(|(what, file)| Some(format!("{what} {}", file.as_ref()?.display())))
            .collect();
        parts.extend(self.server_name.as_ref().map(|name| format!("server name {name}")));
        if self.skip_verify {
            parts.push("no verification".to_owned());
        }
        if parts.is_empty() { "the system's authorities".to_owned() } else { parts.join(", ") }
    }
}
