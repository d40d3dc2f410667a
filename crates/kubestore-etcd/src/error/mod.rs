//! What etcd and gRPC say, as callers of this crate see it. The only module that knows their codes and texts.
//!
//! A write may be sent again only where it is certain that no server acted on it. That is certain where
//!
//! - no connection came about: the address was not found, refused or timed out, or the TLS handshake failed;
//! - the connection was found closed before it took the request over;
//! - HTTP/2 says so itself: the server refused the stream before any processing (`REFUSED_STREAM`);
//! - etcd answered that it refused the request (the token, the permission, the condition of the member).
//!
//! A connection that broke, a deadline, `request timed out`, and everything that is not known here leave the outcome
//! unknown.

mod known;

use std::{error::Error, fmt, time::Duration};

use bytes::Bytes;
use kubestore_kv::{KvError, KvErrorKind};
use tonic::{ConnectError, Status};

pub(crate) use self::known::auth_is_off;
use self::known::{DECODE_LIMIT, NO_LEADER, NOT_REACHED, REFUSED_STREAM, SEND_LIMIT, by_code, by_text};
use crate::connect::ConnectFailure;

/// A call that failed, before it is said on whose behalf.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: KvErrorKind,
    /// Whether the server may have done what was asked.
    reached: Reached,
    /// The answer, not the request, was too large.
    pub(crate) answer_too_large: bool,
    message: String,
    cause: Option<Cause>,
}

/// How far a request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// No connection: nothing left this process.
    Nothing,
    /// The server refused it.
    Refused,
    /// It was sent; what became of it is unknown.
    Sent,
}

/// The words of a foreign error, kept without its type.
#[derive(Clone, Debug)]
struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Cause {}

impl Failure {
    fn new(kind: KvErrorKind, reached: Reached, message: impl Into<String>) -> Self {
        Self { kind, reached, answer_too_large: false, message: message.into(), cause: None }
    }

    /// No answer within `limit`.
    pub(crate) fn deadline(limit: Duration) -> Self {
        let message = format!("no answer within {limit:?}; the server may be overloaded or cut off");
        Self::new(KvErrorKind::DeadlineExceeded, Reached::Sent, message)
    }

    /// An endpoint that the client cannot make anything of.
    pub(crate) fn not_an_address(url: &str, why: &dyn fmt::Display) -> Self {
        let message = format!("endpoint {url} is not an address: {why}");
        Self::new(KvErrorKind::InvalidArgument, Reached::Refused, message)
    }

    /// A member that does not say anything any more on a stream that it should speak on.
    pub(crate) fn silent(limit: Duration) -> Self {
        let message = format!("the server has been silent for {limit:?} when asked whether it is there");
        Self::new(KvErrorKind::Unavailable, Reached::Sent, message)
    }

    /// A stream that the server closed without a word.
    pub(crate) fn closed() -> Self {
        Self::new(KvErrorKind::Unavailable, Reached::Sent, "the server closed the stream")
    }

    /// No member knows a leader.
    pub(crate) fn no_leader() -> Self {
        Self::new(KvErrorKind::NoLeader, Reached::Refused, NO_LEADER)
    }

    /// The task that the caller depended on was stopped.
    pub(crate) fn stopped() -> Self {
        let message = "its task was stopped; was the runtime shut down?";
        Self::new(KvErrorKind::Unavailable, Reached::Refused, message)
    }

    /// An answer without a part that it must have.
    pub(crate) fn malformed(what: &str) -> Self {
        Self::new(KvErrorKind::Internal, Reached::Sent, format!("malformed answer: {what}"))
    }

    /// An answer that says clearly that nothing was done, but not in the form it must have.
    pub(crate) fn refused(what: &str) -> Self {
        Self::new(KvErrorKind::Internal, Reached::Refused, format!("malformed answer: {what}"))
    }

    /// Another member may do better, and asking it cannot do harm to a read.
    pub(crate) fn is_the_members(&self) -> bool {
        matches!(self.kind, KvErrorKind::Unavailable | KvErrorKind::NoLeader) || self.was_not_sent()
    }

    /// The member does not serve, so that another should be asked from now on.
    pub(crate) fn is_unreachable(&self) -> bool {
        self.is_the_members() || self.kind == KvErrorKind::DeadlineExceeded
    }

    /// The request never left this process, or was turned away unread.
    pub(crate) fn was_not_sent(&self) -> bool {
        self.reached == Reached::Nothing
    }

    /// No connection will come about until somebody changes a setting or a certificate.
    pub(crate) fn needs_help(&self) -> bool {
        self.was_not_sent() && self.kind != KvErrorKind::Unavailable
    }

    /// The server refused the token, or that there is none. With another one it may be content.
    pub(crate) fn wants_token(&self) -> bool {
        self.kind == KvErrorKind::Unauthenticated && self.reached == Reached::Refused
    }

    /// The server answered, and dislikes who asked.
    pub(crate) fn is_the_users(&self) -> bool {
        self.wants_token() || self.kind == KvErrorKind::PermissionDenied
    }

    /// As the failure of what a write needed first: the write itself was never taken up.
    pub(crate) fn before_the_write(mut self) -> Self {
        self.reached = Reached::Refused;
        self
    }

    /// As the failure of getting a token for `user`.
    pub(crate) fn of_user(mut self, user: &str) -> Self {
        if self.wants_token() {
            self.message = format!("user {user}: {}", self.message);
        }
        self
    }

    /// What happened, for an error that says the rest itself.
    pub(crate) fn into_cause(self) -> Option<kubestore_kv::BoxError> {
        self.cause.map(Into::into)
    }

    /// As the error of a read.
    pub(crate) fn read(self, operation: &'static str, key: Option<&Bytes>) -> KvError {
        let error = KvError::new(self.kind, operation, self.message);
        let error = if let Some(key) = key { error.with_key(key.clone()) } else { error };
        if let Some(cause) = self.cause { error.with_source(cause) } else { error }
    }

    /// As the error of a write: where the server may have applied it, that is what the error says.
    pub(crate) fn write(mut self, operation: &'static str, key: Option<&Bytes>) -> KvError {
        if self.reached == Reached::Sent {
            let why = std::mem::take(&mut self.message);
            self.message =
                format!("it may have been applied, the answer was lost ({why}); read before trying again");
            self.kind = KvErrorKind::OutcomeUnknown;
        }
        self.read(operation, key)
    }

    /// As the error of a watch or of a part of one, by the text that the server gave for ending it.
    pub(crate) fn from_cancel_reason(reason: &str) -> Self {
        let (kind, message) = by_text(reason)
            .map_or((KvErrorKind::Internal, "the server ended the watch"), |found| {
                (found.kind, found.message)
            });
        let mut failure = Self::new(kind, Reached::Refused, message);
        failure.cause = Some(Cause(reason.to_owned()));
        failure
    }
}

/// For logs: what is wrong, and why.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl From<etcd_client::Error> for Failure {
    fn from(error: etcd_client::Error) -> Self {
        match error {
            etcd_client::Error::GRpcStatus(status) => Self::from(status),
            etcd_client::Error::TransportError(error) => {
                let mut failure = Self::new(KvErrorKind::Unavailable, Reached::Nothing, NOT_REACHED);
                failure.cause = Some(Cause(root_text(&error)));
                failure
            }
            etcd_client::Error::InvalidArgs(text) => {
                Self::new(KvErrorKind::InvalidArgument, Reached::Refused, text)
            }
            etcd_client::Error::InvalidUri(error) => {
                Self::new(KvErrorKind::InvalidArgument, Reached::Nothing, format!("not an address: {error}"))
            }
            other => {
                let mut failure = Self::new(KvErrorKind::Internal, Reached::Sent, "the client failed");
                failure.cause = Some(Cause(other.to_string()));
                failure
            }
        }
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        let local = status.source().is_some();
        let root = if local { root_text(&status) } else { status.message().to_owned() };
        let mut failure = if let Some(found) = in_chain::<ConnectFailure>(&status) {
            let mut failure = Self::new(found.kind, Reached::Nothing, found.message.clone());
            failure.cause = Some(Cause(found.cause.clone()));
            return failure;
        } else if in_chain::<ConnectError>(&status).is_some()
            || in_chain::<hyper::Error>(&status).is_some_and(hyper::Error::is_canceled)
            || (local && root.contains(REFUSED_STREAM))
        {
            Self::new(KvErrorKind::Unavailable, Reached::Nothing, NOT_REACHED)
        } else if status.message().contains(DECODE_LIMIT) || status.message().contains(SEND_LIMIT) {
            let message =
                "the answer is larger than the message limit; ask for less, or raise max_response_bytes";
            let mut failure = Self::new(KvErrorKind::TooLarge, Reached::Sent, message);
            failure.answer_too_large = true;
            failure
        } else if let Some(found) = by_text(status.message()) {
            Self::new(found.kind, found.reached, found.message)
        } else {
            by_code(status.code(), local)
        };
        failure.cause = Some(Cause(root));
        failure
    }
}

/// The first error of type `E` among the causes of `status`.
fn in_chain<E: Error + 'static>(status: &Status) -> Option<&E> {
    let mut next = status.source();
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The last error of a chain, which says what really happened; those above it only say where.
fn root_text(error: &dyn Error) -> String {
    let mut root = error;
    while let Some(next) = root.source() {
        root = next;
    }
    root.to_string()
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn texts_of_etcd_decide_over_codes() {
        use KvErrorKind as Kind;
        let cases: &[(Code, &str, KvErrorKind, KvErrorKind)] = &[
            (
                Code::OutOfRange,
                "etcdserver: mvcc: required revision has been compacted",
                Kind::Compacted,
                Kind::Compacted,
            ),
            (
                Code::OutOfRange,
                "etcdserver: mvcc: required revision is a future revision",
                Kind::FutureRevision,
                Kind::FutureRevision,
            ),
            (
                Code::ResourceExhausted,
                "etcdserver: mvcc: database space exceeded",
                Kind::NoSpace,
                Kind::NoSpace,
            ),
            (
                Code::ResourceExhausted,
                "grpc: received message larger than max (9 vs. 8)",
                Kind::TooLarge,
                Kind::TooLarge,
            ),
            (Code::InvalidArgument, "etcdserver: request is too large", Kind::TooLarge, Kind::TooLarge),
            (
                Code::InvalidArgument,
                "etcdserver: revision of auth store is old",
                Kind::Unauthenticated,
                Kind::Unauthenticated,
            ),
            (Code::Unavailable, "etcdserver: no leader", Kind::NoLeader, Kind::NoLeader),
            (Code::Unavailable, "etcdserver: request timed out", Kind::Unavailable, Kind::OutcomeUnknown),
            (Code::Unavailable, "etcdserver: leader changed", Kind::Unavailable, Kind::OutcomeUnknown),
            (Code::Unavailable, "etcdserver: server stopped", Kind::Unavailable, Kind::OutcomeUnknown),
            (
                Code::InvalidArgument,
                "etcdserver: key is not provided",
                Kind::InvalidArgument,
                Kind::InvalidArgument,
            ),
            (Code::Unknown, "something new", Kind::Internal, Kind::OutcomeUnknown),
        ];
        for (code, text, read, write) in cases {
            let failure = || Failure::from(Status::new(*code, *text));
            let error = failure().read("get", None);
            assert_eq!(error.kind(), *read, "{text}");
            assert_eq!(failure().write("optimistic_put", None).kind(), *write, "{text}");
            assert_eq!(error.source().map(ToString::to_string).as_deref(), Some(*text));
            assert!(!error.to_string().contains(text), "the cause is said twice: {error}");
        }
    }

    #[test]
    fn a_broken_connection_leaves_a_write_unknown_and_a_read_unavailable() {
        let broken = || {
            let status =
                Status::from_error(Box::new(std::io::Error::from(std::io::ErrorKind::ConnectionReset)));
            Failure::from(status)
        };
        assert_eq!(broken().read("get", None).kind(), KvErrorKind::Unavailable);
        assert_eq!(broken().write("optimistic_put", None).kind(), KvErrorKind::OutcomeUnknown);
    }

    #[test]
    fn a_refused_connection_sent_nothing() {
        let refused = || {
            let cause = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
            Failure::from(Status::from_error(Box::new(ConnectError(Box::new(cause)))))
        };
        assert!(refused().was_not_sent());
        let error = refused().write("optimistic_put", Some(&Bytes::from_static(b"/k")));
        assert_eq!(error.kind(), KvErrorKind::Unavailable);
        assert_eq!(error.key(), Some(&b"/k"[..]));
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("connection refused"));
    }

    #[test]
    fn an_answer_above_the_limit_is_told_apart_from_a_request_above_it() {
        let text = "Error, decoded message length too large: found 9 bytes, the limit is: 8 bytes";
        let failure = Failure::from(Status::new(Code::OutOfRange, text));
        assert_eq!(failure.kind, KvErrorKind::TooLarge);
        assert!(failure.answer_too_large);
        let failure = Failure::from(Status::new(Code::InvalidArgument, "etcdserver: request is too large"));
        assert!(!failure.answer_too_large);
    }
}
