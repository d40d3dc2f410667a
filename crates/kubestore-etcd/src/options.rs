//! How to reach etcd, and the limits of each call.

use std::{fmt, num::NonZeroU64, time::Duration};

use kubestore_kv::{DEFAULT_MAX_REQUEST_BYTES, KvError, KvErrorKind};
use zeroize::Zeroizing;

use crate::TlsOptions;

/// Settings of an [`EtcdKv`](crate::EtcdKv); made by its [builder](crate::EtcdKvBuilder).
#[derive(Clone, Debug)]
pub(crate) struct EtcdOptions {
    pub(crate) dial_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) retry_for: Duration,
    pub(crate) keepalive_interval: Duration,
    pub(crate) keepalive_timeout: Duration,
    pub(crate) max_request_bytes: Option<usize>,
    pub(crate) max_response_bytes: usize,
    pub(crate) page_size: NonZeroU64,
    pub(crate) watch_buffer_events: usize,
    pub(crate) watch_buffer_bytes: usize,
    pub(crate) tls: Option<TlsOptions>,
    pub(crate) credentials: Option<Credentials>,
}

/// A user and the password, of which no output shows the latter.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) user: String,
    pub(crate) password: Zeroizing<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// etcd closes the connection of a client that pings more often.
const MIN_KEEPALIVE: Duration = Duration::from_secs(5);
/// Below this the smallest answers might not fit.
const MIN_RESPONSE_BYTES: usize = 64 * 1024;
/// What Go's client takes, which is gRPC's own ceiling.
const MAX_RESPONSE_BYTES: usize = i32::MAX as usize;

impl Default for EtcdOptions {
    fn default() -> Self {
        Self {
            dial_timeout: Duration::from_secs(20),
            request_timeout: Duration::from_secs(60),
            retry_for: Duration::from_secs(10),
            keepalive_interval: Duration::from_secs(30),
            keepalive_timeout: Duration::from_secs(10),
            max_request_bytes: Some(DEFAULT_MAX_REQUEST_BYTES),
            max_response_bytes: MAX_RESPONSE_BYTES,
            page_size: NonZeroU64::new(500).unwrap_or(NonZeroU64::MIN),
            watch_buffer_events: 8192,
            watch_buffer_bytes: 16 * 1024 * 1024,
            tls: None,
            credentials: None,
        }
    }
}

impl EtcdOptions {
    /// Refuses what cannot work, by the name of the setting.
    pub(crate) fn check(&self) -> Result<(), KvError> {
        if self.keepalive_interval < MIN_KEEPALIVE {
            return Err(invalid(format!(
                "keepalive interval {:?} is too short: etcd cuts off clients that ping more often than every \
                 {MIN_KEEPALIVE:?}",
                self.keepalive_interval
            )));
        }
        if !(MIN_RESPONSE_BYTES..=MAX_RESPONSE_BYTES).contains(&self.max_response_bytes) {
            return Err(invalid(format!(
                "max_response_bytes is {}; it must be from {MIN_RESPONSE_BYTES} to {MAX_RESPONSE_BYTES}",
                self.max_response_bytes
            )));
        }
        for (name, value) in [("dial_timeout", self.dial_timeout), ("request_timeout", self.request_timeout)]
        {
            if value.is_zero() {
                return Err(invalid(format!("{name} is zero; nothing would ever be answered in time")));
            }
        }
        if self.credentials.as_ref().is_some_and(|credentials| credentials.user.is_empty()) {
            return Err(invalid("the user name is empty; give a name, or no user at all".to_owned()));
        }
        Ok(())
    }
}

/// The addresses as `scheme://host:port`, each checked. One without a scheme is `https` where there is TLS.
pub(crate) fn normalize(endpoints: Vec<String>, tls: Option<&TlsOptions>) -> Result<Vec<String>, KvError> {
    if endpoints.is_empty() {
        return Err(invalid(
            "no endpoint given; name at least one, such as http://127.0.0.1:2379".to_owned(),
        ));
    }
    endpoints.into_iter().map(|endpoint| normalize_one(endpoint.trim(), tls)).collect()
}

fn normalize_one(endpoint: &str, tls: Option<&TlsOptions>) -> Result<String, KvError> {
    let default = if tls.is_some() { "https" } else { "http" };
    let (scheme, rest) = endpoint.split_once("://").unwrap_or((default, endpoint));
    match (scheme, tls) {
        ("http", Some(tls)) => {
            return Err(invalid(format!(
                "endpoint {endpoint}: TLS options are given ({}), but http is not encrypted; write https, or leave \
                 the options out",
                tls.describe()
            )));
        }
        ("https", _) if !cfg!(any(feature = "tls", feature = "tls-aws-lc")) => {
            let message =
                format!("endpoint {endpoint}: TLS is not built in; build with the feature tls, or use http");
            return Err(KvError::new(KvErrorKind::Unsupported, OPEN, message));
        }
        ("http" | "https", _) => {}
        _ => return Err(invalid(format!("endpoint {endpoint}: the scheme must be http or https"))),
    }
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    let odd = |c: char| c.is_whitespace() || matches!(c, '/' | ',' | '@' | '?' | '#');
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (authority, "80"),
    };
    if host.is_empty() || authority.contains(odd) || port.parse::<u16>().is_err() {
        return Err(invalid(format!("endpoint {endpoint:?} is not of the form {default}://host:port")));
    }
    Ok(format!("{scheme}://{authority}"))
}

pub(crate) fn invalid(message: String) -> KvError {
    KvError::new(KvErrorKind::InvalidArgument, OPEN, message)
}

/// The operation that errors of connecting name.
pub(crate) const OPEN: &str = "open";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_normalized_or_refused_by_name() {
        for (given, wanted) in [
            ("http://127.0.0.1:2379", "http://127.0.0.1:2379"),
            ("http://127.0.0.1:2379/", "http://127.0.0.1:2379"),
            (" localhost:2379 ", "http://localhost:2379"),
            ("http://[::1]:2379", "http://[::1]:2379"),
            ("[::1]", "http://[::1]"),
        ] {
            assert_eq!(normalize(vec![given.to_owned()], None).unwrap(), [wanted]);
        }
        for given in [
            "",
            "http://",
            "http://:2379",
            "http://a:port",
            "http://a:1,http://b:2",
            "unix:///x",
            "http://a/b:1",
        ] {
            let error = normalize(vec![given.to_owned()], None).unwrap_err();
            assert_eq!(error.kind(), KvErrorKind::InvalidArgument, "{given}");
            assert!(error.to_string().contains(given), "{error}");
        }
        assert_eq!(normalize(Vec::new(), None).unwrap_err().kind(), KvErrorKind::InvalidArgument);
    }

    #[test]
    fn the_scheme_and_the_options_agree_about_tls() {
        let tls = TlsOptions::new().ca_file("/pki/ca.pem");
        #[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
        {
            let given = vec!["a:1".to_owned(), "https://b:2".to_owned()];
            assert_eq!(normalize(given, Some(&tls)).unwrap(), ["https://a:1", "https://b:2"]);
            assert_eq!(normalize(vec!["https://a:1".to_owned()], None).unwrap(), ["https://a:1"]);
        }
        #[cfg(not(any(feature = "tls", feature = "tls-aws-lc")))]
        {
            let error = normalize(vec!["https://a:1".to_owned()], None).unwrap_err();
            assert_eq!(error.kind(), KvErrorKind::Unsupported);
        }
        let error = normalize(vec!["http://a:1".to_owned()], Some(&tls)).unwrap_err();
        assert_eq!(error.kind(), KvErrorKind::InvalidArgument);
        assert!(
            error.to_string().contains("http://a:1") && error.to_string().contains("/pki/ca.pem"),
            "{error}"
        );
    }

    #[test]
    fn no_output_shows_a_password() {
        let credentials =
            Some(Credentials { user: "root".to_owned(), password: "hunter2".to_owned().into() });
        let shown = format!("{:?}", EtcdOptions { credentials, ..EtcdOptions::default() });
        assert!(shown.contains("root") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn settings_that_cannot_work_are_named() {
        let named = |change: fn(&mut EtcdOptions)| {
            let mut options = EtcdOptions::default();
            change(&mut options);
            options.check().unwrap_err().to_string()
        };
        assert!(EtcdOptions::default().check().is_ok());
        assert!(named(|o| o.keepalive_interval = Duration::from_secs(1)).contains("keepalive interval 1s"));
        assert!(named(|o| o.max_response_bytes = 1).contains("max_response_bytes is 1"));
        assert!(named(|o| o.request_timeout = Duration::ZERO).contains("request_timeout is zero"));
    }
}
