//! Certificates made at run time.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use tempfile::TempDir;

/// A certificate authority of its own for a test, and the folder with what it issued. Dropping it deletes the files.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use kubestore_etcd::testing::TestAuthority;
///
/// let authority = TestAuthority::new()?;
/// let server = authority.server("server", ["127.0.0.1", "etcd.local"])?;
/// assert!(authority.ca_file().is_file() && server.cert_file.is_file() && server.key_file.is_file());
/// # Ok(())
/// # }
/// ```
pub struct TestAuthority {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
}

/// The files of one certificate.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Identity {
    /// The certificate, PEM.
    pub cert_file: PathBuf,
    /// Its private key, PEM.
    pub key_file: PathBuf,
}

impl TestAuthority {
    /// A new authority, unlike any other, though of the same name.
    ///
    /// # Errors
    /// Its files could not be written.
    pub fn new() -> io::Result<Self> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        let folder = TempDir::with_prefix("kubestore-pki-")?;
        std::fs::write(folder.path().join("ca.pem"), certificate.pem())?;
        Ok(Self { folder, issuer: Issuer::new(params, key) })
    }

    /// The authority's own certificate, for those who are to trust it.
    #[must_use]
    pub fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// The folder with the files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A certificate of a server with these names and addresses, in `NAME.pem` and `NAME.key`. One that is there already
    /// is replaced.
    ///
    /// # Errors
    /// A name is none, or the files could not be written.
    pub fn server<I>(&self, name: &str, hosts: I) -> io::Result<Identity>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.issue(name, server_params(hosts)?)
    }

    /// As [`server`](Self::server), but it was valid in the year 2020 only.
    ///
    /// # Errors
    /// As for [`server`](Self::server).
    pub fn expired_server<I>(&self, name: &str, hosts: I) -> io::Result<Identity>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let mut params = server_params(hosts)?;
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.issue(name, params)
    }

    /// A certificate of a client, whose common name is `name`, in `NAME.pem` and `NAME.key`. One that is there already
    /// is replaced.
    ///
    /// # Errors
    /// The files could not be written.
    pub fn client(&self, name: &str) -> io::Result<Identity> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(name, params)
    }

    fn issue(&self, name: &str, mut params: CertificateParams) -> io::Result<Identity> {
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(io::Error::other)?;
        let cert_file = self.folder.path().join(format!("{name}.pem"));
        let key_file = self.folder.path().join(format!("{name}.key"));
        std::fs::write(&cert_file, certificate.pem())?;
        std::fs::write(&key_file, key.serialize_pem())?;
        Ok(Identity { cert_file, key_file })
    }
}

/// etcd also calls itself, as a client, with the certificate it has as a server.
fn server_params<I>(hosts: I) -> io::Result<CertificateParams>
where
    I: IntoIterator,
    I::Item: Into<String>,
{
    let hosts: Vec<String> = hosts.into_iter().map(Into::into).collect();
    let mut params = CertificateParams::new(hosts).map_err(io::Error::other)?;
    params.distinguished_name.push(DnType::CommonName, "etcd");
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    Ok(params)
}

impl fmt::Debug for TestAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestAuthority").field("folder", &self.folder.path()).finish_non_exhaustive()
    }
}
