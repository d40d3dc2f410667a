//! One connection to one endpoint: TCP, and TLS where the endpoint wants it.

use std::{error::Error, fmt, io, sync::Arc, time::Duration};

use http::Uri;
use hyper_util::rt::TokioIo;
use kubestore_kv::KvErrorKind;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};

#[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
use crate::tls::{TlsSource, handshake};

/// A connection of either kind.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// An endpoint, and how a connection to it is made.
#[derive(Debug)]
pub(crate) struct Target {
    url: String,
    host: String,
    port: u16,
    limit: Duration,
    #[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
    tls: Option<Arc<TlsSource>>,
}

impl Target {
    /// `url` is `http://host:port` or, with `tls`, `https://host:port`, as [`normalize`](crate::options::normalize)
    /// gives it.
    pub(crate) fn new(
        url: String,
        limit: Duration,
        #[cfg(any(feature = "tls", feature = "tls-aws-lc"))] tls: Option<Arc<TlsSource>>,
    ) -> Self {
        let (scheme, authority) = url.split_once("://").unwrap_or(("http", &url));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (authority, None),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = port.unwrap_or(if scheme == "https" { 443 } else { 80 });
        Self {
            #[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
            tls: tls.filter(|_| scheme == "https"),
            url,
            host,
            port,
            limit,
        }
    }

    /// As tonic takes it. The address it gives is not needed.
    pub(crate) async fn connect(self: Arc<Self>, _uri: Uri) -> Result<TokioIo<Box<dyn Io>>, ConnectFailure> {
        match timeout(self.limit, self.open()).await {
            Ok(opened) => opened.map(TokioIo::new),
            Err(_) => {
                let why = format!("no connection within {:?}", self.limit);
                Err(ConnectFailure::unavailable(&self.url, &why, &io::Error::from(io::ErrorKind::TimedOut)))
            }
        }
    }

    async fn open(&self) -> Result<Box<dyn Io>, ConnectFailure> {
        let failed = |error: io::Error| ConnectFailure::unavailable(&self.url, "no connection", &error);
        let tcp = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(failed)?;
        tcp.set_nodelay(true).map_err(failed)?;
        #[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
        if let Some(tls) = &self.tls {
            return Ok(Box::new(handshake(tcp, tls, &self.url, &self.host).await?));
        }
        Ok(Box::new(tcp))
    }
}

/// A connection that did not come about, so that nothing was sent.
#[derive(Debug)]
pub(crate) struct ConnectFailure {
    /// [`Unauthenticated`](KvErrorKind::Unauthenticated) where one side does not trust the other, which waiting does
    /// not mend.
    pub(crate) kind: KvErrorKind,
    /// With the endpoint.
    pub(crate) message: String,
    /// In the words of whoever found it.
    pub(crate) cause: String,
}

impl ConnectFailure {
    pub(crate) fn new(kind: KvErrorKind, message: String, cause: &dyn Error) -> Self {
        Self { kind, message, cause: cause.to_string() }
    }

    pub(crate) fn unavailable(url: &str, why: &str, cause: &dyn Error) -> Self {
        Self::new(KvErrorKind::Unavailable, format!("{url} cannot be reached: {why}"), cause)
    }
}

impl fmt::Display for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.cause)
    }
}

impl Error for ConnectFailure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_taken_apart() {
        for (url, host, port) in [
            ("http://127.0.0.1:2379", "127.0.0.1", 2379),
            ("http://localhost", "localhost", 80),
            ("https://etcd.local", "etcd.local", 443),
            ("http://[::1]:2379", "::1", 2379),
            ("https://[::1]", "::1", 443),
        ] {
            let target = Target::new(
                url.to_owned(),
                Duration::ZERO,
                #[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
                None,
            );
            assert_eq!((target.host.as_str(), target.port), (host, port), "{url}");
        }
    }
}
