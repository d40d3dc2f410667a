//! How to reach an etcd.

use std::path::PathBuf;

use clap::Args;
use kubestore::etcd::EtcdctlOptions;

/// As etcdctl takes it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Etcd options")]
pub(crate) struct EtcdArgs {
    /// Keep the objects in the etcd at these addresses [env: KUBESTORE_ENDPOINTS, ETCDCTL_ENDPOINTS]
    #[arg(long, global = true, value_name = "URL,…", value_delimiter = ',')]
    pub(crate) endpoints: Vec<String>,

    /// Trust the certificate authorities in this file instead of the system's [env: ETCDCTL_CACERT]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,

    /// Show etcd this certificate [env: ETCDCTL_CERT]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) cert: Option<PathBuf>,

    /// The private key of --cert [env: ETCDCTL_KEY]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,

    /// The user of etcd; a password on the command line is seen by others on this machine [env: ETCDCTL_USER]
    #[arg(long, global = true, value_name = "NAME[:PASSWORD]")]
    pub(crate) user: Option<Secret>,

    /// The password of --user [env: ETCDCTL_PASSWORD]
    #[arg(long, global = true, value_name = "PASSWORD")]
    pub(crate) password: Option<Secret>,

    /// The name that the certificates of etcd must be for [default: the host of each address]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) server_name: Option<String>,

    /// Take any certificate of etcd, for diagnosis only [env: ETCDCTL_INSECURE_SKIP_TLS_VERIFY]
    #[arg(long, global = true)]
    pub(crate) insecure_skip_tls_verify: bool,
}

/// A text that `Debug` does not show.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl EtcdArgs {
    /// An option that makes sense for an etcd only, if one was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--cacert", self.cacert.is_some()),
            ("--cert", self.cert.is_some()),
            ("--key", self.key.is_some()),
            ("--user", self.user.is_some()),
            ("--password", self.password.is_some()),
            ("--server-name", self.server_name.is_some()),
            ("--insecure-skip-tls-verify", self.insecure_skip_tls_verify),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    /// What the command line says, without the environment.
    pub(crate) fn options(&self) -> EtcdctlOptions {
        let text = |secret: &Option<Secret>| secret.as_ref().map(|Secret(text)| text.clone());
        let mut options = EtcdctlOptions::default();
        options.endpoints.clone_from(&self.endpoints);
        options.cacert.clone_from(&self.cacert);
        options.cert.clone_from(&self.cert);
        options.key.clone_from(&self.key);
        options.user = text(&self.user);
        options.password = text(&self.password);
        options.server_name.clone_from(&self.server_name);
        options.insecure_skip_tls_verify = self.insecure_skip_tls_verify.then_some(true);
        options
    }
}
