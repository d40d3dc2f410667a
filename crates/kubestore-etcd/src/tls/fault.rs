//! What went wrong in a handshake, said so that somebody can mend it.

use std::io;

use kubestore_kv::KvErrorKind;
use rustls::{CertificateError, Error};

use crate::{TlsOptions, connect::ConnectFailure};

/// A handshake that failed.
pub(super) struct Handshake<'a> {
    pub(super) url: &'a str,
    /// The name that the certificate must be for.
    pub(super) wanted: &'a str,
    pub(super) options: &'a TlsOptions,
    /// The server wanted to see a client certificate.
    pub(super) asked: bool,
}

pub(super) fn explain(error: &io::Error, handshake: &Handshake<'_>) -> ConnectFailure {
    let found = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    let (kind, why) = match found {
        Some(Error::InvalidCertificate(fault)) => {
            (KvErrorKind::Unauthenticated, certificate(fault, handshake))
        }
        Some(Error::InvalidMessage(_)) => {
            (KvErrorKind::Unavailable, "what answers does not speak TLS; is it an http endpoint?".to_owned())
        }
        // An alert, or a connection closed without one: the only thing left that it can dislike.
        _ if handshake.asked => (KvErrorKind::Unauthenticated, client_certificate(handshake.options)),
        Some(Error::AlertReceived(_)) => {
            (KvErrorKind::Unavailable, "the server ended the TLS handshake".to_owned())
        }
        _ if error.kind() == io::ErrorKind::UnexpectedEof => (
            KvErrorKind::Unavailable,
            "the server closed the connection during the TLS handshake; is it an http endpoint?".to_owned(),
        ),
        _ => (KvErrorKind::Unavailable, "the TLS handshake failed".to_owned()),
    };
    ConnectFailure::new(kind, format!("{}: {why}", handshake.url), error)
}

/// What is wrong with the server's certificate.
fn certificate(fault: &CertificateError, handshake: &Handshake<'_>) -> String {
    match fault {
        CertificateError::UnknownIssuer => match &handshake.options.ca_file {
            Some(file) => format!(
                "the server's certificate is not from the authority in {}; name the CA file of the cluster",
                file.display()
            ),
            None => "the server's certificate is from no authority that this system trusts; name the CA file of the \
                     cluster"
                .to_owned(),
        },
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired; renew it on the server, or set this machine's clock".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet; is this machine's clock right?".to_owned()
        }
        CertificateError::NotValidForName => {
            format!("the server's certificate is not for {}; {ANOTHER_NAME}", handshake.wanted)
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names = if presented.is_empty() { "no name".to_owned() } else { presented.join(", ") };
            format!("the server's certificate is not for {}, but for {names}; {ANOTHER_NAME}", handshake.wanted)
        }
        CertificateError::BadSignature => match &handshake.options.ca_file {
            Some(file) => format!(
                "the server's certificate was not signed by the authority in {}, which has the same name as its own",
                file.display()
            ),
            None => "the server's certificate is not signed by the authority that it names".to_owned(),
        },
        _ => "the server's certificate is not accepted".to_owned(),
    }
}

const ANOTHER_NAME: &str = "use an endpoint with a name it has, or set the server name to one";

fn client_certificate(options: &TlsOptions) -> String {
    match &options.cert_file {
        Some(file) => format!(
            "the server refused the client certificate in {}; is it from the servers' authority, for clients, and \
             not expired?",
            file.display()
        ),
        None => "the server wants a client certificate and none is given; name a certificate and a key file"
            .to_owned(),
    }
}
