//! One handshake, and whether the server was content with it.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rustls::{SignatureScheme, client::ResolvesClientCert, pki_types::ServerName, sign::CertifiedKey};
use tokio::{io::AsyncBufReadExt, net::TcpStream, task::spawn_blocking, time::timeout};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{
    fault::{Handshake, explain},
    source::{Setup, TlsSource},
};
use crate::connect::ConnectFailure;

/// How long to wait for what a server says of a client certificate. With TLS 1.3 the client is done before the server
/// has looked at it, and a request sent right away would meet a broken connection instead of the reason. Servers of
/// HTTP/2 speak first, so that hardly any of this time is used.
const VERDICT: Duration = Duration::from_millis(500);

/// Speaks TLS on `tcp` with the server at `url`, whose certificate must be for `host` unless the options say otherwise.
pub(crate) async fn handshake(
    tcp: TcpStream,
    source: &Arc<TlsSource>,
    url: &str,
    host: &str,
) -> Result<TlsStream<TcpStream>, ConnectFailure> {
    let reading = Arc::clone(source);
    let Setup { config, identity } = spawn_blocking(move || reading.setup())
        .await
        .map_err(|error| ConnectFailure::unavailable(url, "its TLS files were not read", &error))?;
    let wanted = source.options().server_name.as_deref().unwrap_or(host);
    let name = ServerName::try_from(wanted.to_owned()).map_err(|error| {
        ConnectFailure::unavailable(url, "its host is no name that a certificate can be for", &error)
    })?;
    let asked = Arc::new(AtomicBool::new(false));
    let mut config = (*config).clone();
    config.client_auth_cert_resolver =
        Arc::new(Identity { certificate: identity.clone(), asked: Arc::clone(&asked) });
    let attempt = |error: &io::Error| {
        let asked = asked.load(Ordering::Relaxed);
        explain(error, &Handshake { url, wanted, options: source.options(), asked })
    };
    let mut stream =
        TlsConnector::from(Arc::new(config)).connect(name, tcp).await.map_err(|error| attempt(&error))?;
    if asked.load(Ordering::Relaxed) {
        match timeout(VERDICT, stream.fill_buf()).await {
            Ok(Err(error)) => return Err(attempt(&error)),
            Ok(Ok([])) => return Err(attempt(&io::Error::from(io::ErrorKind::UnexpectedEof))),
            Ok(Ok(_)) | Err(_) => {}
        }
    }
    Ok(stream)
}

/// Shows the client's certificate, if there is one, and remembers that the server wanted to see it.
#[derive(Debug)]
struct Identity {
    certificate: Option<Arc<CertifiedKey>>,
    asked: Arc<AtomicBool>,
}

impl ResolvesClientCert for Identity {
    fn resolve(&self, _issuers: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Ordering::Relaxed);
        self.certificate.clone()
    }

    /// Always true: otherwise nobody would be told that the server asked.
    fn has_certs(&self) -> bool {
        true
    }
}
