//! The settings of etcdctl, from its environment.

use std::{env, ffi::OsString, fmt, path::PathBuf};

use kubestore_kv::KvError;

use crate::{EtcdKv, EtcdKvBuilder, TlsOptions, options::invalid};

/// How to reach etcd, in the terms of etcdctl's options and environment variables.
///
/// A command line fills in what was given there and lets [`or`](Self::or) add what the environment says:
///
/// ```no_run
/// # async fn connect() -> Result<(), kubestore_kv::KvError> {
/// use kubestore_etcd::EtcdctlOptions;
///
/// let mut given = EtcdctlOptions::default();
/// given.endpoints = vec!["https://10.0.0.1:2379".to_owned()];
/// let kv = given.or(EtcdctlOptions::from_env()?).builder()?.connect().await?;
/// # Ok(())
/// # }
/// ```
///
/// `Debug` does not show the password.
#[non_exhaustive]
#[derive(Clone, Default, PartialEq, Eq)]
pub struct EtcdctlOptions {
    /// `--endpoints`, `ETCDCTL_ENDPOINTS` (separated by commas). None is `127.0.0.1:2379`.
    pub endpoints: Vec<String>,
    /// `--cacert`, `ETCDCTL_CACERT`: the authorities to trust.
    pub cacert: Option<PathBuf>,
    /// `--cert`, `ETCDCTL_CERT`: the client's certificate.
    pub cert: Option<PathBuf>,
    /// `--key`, `ETCDCTL_KEY`: its key.
    pub key: Option<PathBuf>,
    /// `--user`, `ETCDCTL_USER`: `name:password`, or a name with the password apart.
    pub user: Option<String>,
    /// `--password`, `ETCDCTL_PASSWORD`; then all of `user` is the name.
    pub password: Option<String>,
    /// The name that the servers' certificates must be for. etcdctl has no such option of its own.
    pub server_name: Option<String>,
    /// `--insecure-skip-tls-verify`, `ETCDCTL_INSECURE_SKIP_TLS_VERIFY`: take any certificate.
    pub insecure_skip_tls_verify: Option<bool>,
    /// `--insecure-transport`, `ETCDCTL_INSECURE_TRANSPORT`: `false` makes endpoints without a scheme `https` even
    /// without any of the files.
    pub insecure_transport: Option<bool>,
}

impl EtcdctlOptions {
    /// What the environment says.
    ///
    /// # Errors
    /// [`InvalidArgument`](kubestore_kv::KvErrorKind::InvalidArgument) for a variable that is not text where it has to
    /// be, or neither true nor false.
    pub fn from_env() -> Result<Self, KvError> {
        Self::from_vars(|name| env::var_os(name))
    }

    /// What `vars` says instead of the environment. Empty variables count as not set.
    ///
    /// # Errors
    /// As for [`from_env`](Self::from_env).
    pub fn from_vars(vars: impl Fn(&str) -> Option<OsString>) -> Result<Self, KvError> {
        let raw = |name: &str| vars(name).filter(|value| !value.is_empty());
        let text = |name: &str| match raw(name).map(OsString::into_string) {
            None => Ok(None),
            Some(Ok(text)) => Ok(Some(text)),
            // The value may be a password, so it is not shown.
            Some(Err(_)) => Err(invalid(format!("variable {name} is not valid UTF-8"))),
        };
        let flag = |name: &str| match text(name)?.as_deref() {
            None => Ok(None),
            Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(Some(true)),
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(Some(false)),
            Some(other) => Err(invalid(format!("variable {name} is {other:?}; it must be true or false"))),
        };
        let endpoints = text("ETCDCTL_ENDPOINTS")?.unwrap_or_default();
        let endpoints = endpoints.split(',').map(str::trim).filter(|endpoint| !endpoint.is_empty());
        Ok(Self {
            endpoints: endpoints.map(str::to_owned).collect(),
            cacert: raw("ETCDCTL_CACERT").map(PathBuf::from),
            cert: raw("ETCDCTL_CERT").map(PathBuf::from),
            key: raw("ETCDCTL_KEY").map(PathBuf::from),
            user: text("ETCDCTL_USER")?,
            password: text("ETCDCTL_PASSWORD")?,
            server_name: None,
            insecure_skip_tls_verify: flag("ETCDCTL_INSECURE_SKIP_TLS_VERIFY")?,
            insecure_transport: flag("ETCDCTL_INSECURE_TRANSPORT")?,
        })
    }

    /// What is not set here, as `other` has it.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            endpoints: if self.endpoints.is_empty() { other.endpoints } else { self.endpoints },
            cacert: self.cacert.or(other.cacert),
            cert: self.cert.or(other.cert),
            key: self.key.or(other.key),
            // A password belongs to the name it was given with.
            password: if self.user.is_some() { self.password } else { self.password.or(other.password) },
            user: self.user.or(other.user),
            server_name: self.server_name.or(other.server_name),
            insecure_skip_tls_verify: self.insecure_skip_tls_verify.or(other.insecure_skip_tls_verify),
            insecure_transport: self.insecure_transport.or(other.insecure_transport),
        }
    }

    /// Settings to connect with.
    ///
    /// # Errors
    /// [`InvalidArgument`](kubestore_kv::KvErrorKind::InvalidArgument) for a user without a password or the reverse.
    pub fn builder(self) -> Result<EtcdKvBuilder, KvError> {
        let mut endpoints = self.endpoints;
        if endpoints.is_empty() {
            endpoints.push("127.0.0.1:2379".to_owned());
        }
        let tls = TlsOptions {
            ca_file: self.cacert,
            cert_file: self.cert,
            key_file: self.key,
            server_name: self.server_name,
            skip_verify: self.insecure_skip_tls_verify.unwrap_or(false),
        };
        let is_wanted = tls != TlsOptions::new() || self.insecure_transport == Some(false);
        let mut builder = EtcdKv::builder().endpoints(endpoints);
        if is_wanted {
            builder = builder.tls(tls);
        }
        match (self.user, self.password) {
            (None, None) => Ok(builder),
            (Some(user), Some(password)) => Ok(builder.user(user, password)),
            (Some(user), None) => match user.split_once(':') {
                Some((name, password)) => Ok(builder.user(name, password)),
                None => Err(invalid(format!(
                    "user {} without a password; write name:password, or give the password apart",
                    user
                ))),
            },
            (None, Some(_)) => Err(invalid("a password without a user; name the user too".to_owned())),
        }
    }
}

impl fmt::Debug for EtcdctlOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_ref().map(|user| user.split(':').next().unwrap_or_default().to_owned());
        f.debug_struct("EtcdctlOptions")
            .field("endpoints", &self.endpoints)
            .field("cacert", &self.cacert)
            .field("cert", &self.cert)
            .field("key", &self.key)
            .field("user", &user)
            .field("server_name", &self.server_name)
            .field("insecure_skip_tls_verify", &self.insecure_skip_tls_verify)
            .field("insecure_transport", &self.insecure_transport)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use kubestore_kv::KvErrorKind;

    use super::*;

    fn vars(set: &[(&str, &str)]) -> Result<EtcdctlOptions, KvError> {
        EtcdctlOptions::from_vars(|name| {
            set.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_environment_is_read_as_etcdctl_does() {
        let options = vars(&[
            ("ETCDCTL_ENDPOINTS", "https://a:1, b:2,"),
            ("ETCDCTL_CACERT", "/ca"),
            ("ETCDCTL_CERT", "/cert"),
            ("ETCDCTL_KEY", "/key"),
            ("ETCDCTL_USER", "root:se:cret"),
            ("ETCDCTL_PASSWORD", ""),
            ("ETCDCTL_INSECURE_SKIP_TLS_VERIFY", "true"),
        ])
        .unwrap();
        assert_eq!(options.endpoints, ["https://a:1", "b:2"]);
        assert_eq!(options.cacert.as_deref(), Some("/ca".as_ref()));
        assert_eq!((options.password.as_ref(), options.insecure_skip_tls_verify), (None, Some(true)));
        let shown = format!("{options:?} {:?}", options.clone().builder().unwrap());
        assert!(shown.contains("root") && shown.contains("/key") && !shown.contains("cret"), "{shown}");
    }

    #[test]
    fn what_was_given_goes_before_the_environment() {
        let mut given = EtcdctlOptions { user: Some("me:x".to_owned()), ..EtcdctlOptions::default() };
        given.endpoints.push("c:3".to_owned());
        let environment =
            vars(&[("ETCDCTL_USER", "root"), ("ETCDCTL_PASSWORD", "secret"), ("ETCDCTL_CACERT", "/ca")])
                .unwrap();
        let both = given.or(environment.clone());
        assert_eq!((both.endpoints, both.cacert), (vec!["c:3".to_owned()], Some("/ca".into())));
        assert_eq!((both.user, both.password), (Some("me:x".to_owned()), None));
        assert_eq!(EtcdctlOptions::default().or(environment.clone()), environment);
    }

    #[test]
    fn half_of_a_user_and_odd_values_are_refused_without_showing_secrets() {
        for (set, part) in [
            (vars(&[("ETCDCTL_USER", "root")]).unwrap(), "user root without a password"),
            (vars(&[("ETCDCTL_PASSWORD", "secret")]).unwrap(), "a password without a user"),
        ] {
            let error = set.builder().unwrap_err();
            assert_eq!(error.kind(), KvErrorKind::InvalidArgument);
            assert!(error.to_string().contains(part) && !error.to_string().contains("secret"), "{error}");
        }
        let error = vars(&[("ETCDCTL_INSECURE_TRANSPORT", "maybe")]).unwrap_err();
        assert!(error.to_string().contains("ETCDCTL_INSECURE_TRANSPORT"), "{error}");
    }

    #[test]
    fn the_scheme_follows_the_options() {
        let endpoints = |set: &[(&str, &str)]| format!("{:?}", vars(set).unwrap().builder().unwrap());
        assert!(endpoints(&[]).contains("127.0.0.1:2379") && endpoints(&[]).contains("tls: None"));
        assert!(endpoints(&[("ETCDCTL_INSECURE_TRANSPORT", "false")]).contains("tls: Some"));
        assert!(endpoints(&[("ETCDCTL_INSECURE_TRANSPORT", "true")]).contains("tls: None"));
    }
}
