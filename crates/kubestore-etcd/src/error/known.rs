//! The codes and texts of etcd and gRPC.

use kubestore_kv::KvErrorKind;
use tonic::Code;

use KvErrorKind as Kind;
use Reached::{Refused, Sent};

use super::{Failure, Reached};

pub(super) const NO_LEADER: &str = "the cluster has no leader; are enough members up?";
pub(super) const NOT_REACHED: &str = "the server cannot be reached";
/// gRPC's limit on this side: tonic's text, under the code that etcd uses for revisions.
pub(super) const DECODE_LIMIT: &str = "decoded message length too large";
/// gRPC's limit on the server's side for an answer.
pub(super) const SEND_LIMIT: &str = "trying to send message larger than max";

/// HTTP/2's promise that nothing was done, in the words of the library.
pub(super) const REFUSED_STREAM: &str = "refused stream before processing any application logic";

pub(super) struct Known {
    pub(super) kind: KvErrorKind,
    pub(super) reached: Reached,
    pub(super) message: &'static str,
}

/// etcd's errors by their text. The code alone does not tell them apart, some lose it on the way, and a cancelled watch
/// has only the text.
const KNOWN: &[(&str, KvErrorKind, Reached, &str)] = &[
    (
        "required revision has been compacted",
        Kind::Compacted,
        Refused,
        "the revision is compacted; read a newer one",
    ),
    (
        "required revision is a future revision",
        Kind::FutureRevision,
        Refused,
        "the revision is above the newest; was the server restored from an older state?",
    ),
    (
        "database space exceeded",
        Kind::NoSpace,
        Refused,
        "the quota is full; compact, defragment every member, then disarm the alarm",
    ),
    ("requested lease not found", Kind::LeaseNotFound, Refused, "no such lease; grant a new one"),
    ("request is too large", Kind::TooLarge, Refused, "the request is larger than the server takes"),
    (
        "received message larger than max",
        Kind::TooLarge,
        Refused,
        "the request is larger than the server takes",
    ),
    (
        "permission denied",
        Kind::PermissionDenied,
        Refused,
        "the user lacks the permission; grant it to one of the user's roles, or the role root for upkeep",
    ),
    ("invalid auth token", Kind::Unauthenticated, Refused, "the token is not or no longer valid"),
    (
        "revision of auth store is old",
        Kind::Unauthenticated,
        Refused,
        "the token is older than the users and roles",
    ),
    ("user name is empty", Kind::Unauthenticated, Refused, "the server wants a user and a password"),
    ("user name not found", Kind::Unauthenticated, Refused, "there is no such user"),
    ("authentication failed", Kind::Unauthenticated, Refused, "wrong user or password"),
    ("etcdserver: no leader", Kind::NoLeader, Refused, NO_LEADER),
    ("raft: no leader", Kind::NoLeader, Refused, NO_LEADER),
    // Said before the request is in the log, as while the lead is handed over.
    ("raft proposal dropped", Kind::Unavailable, Refused, "the cluster is changing its leader"),
    ("too many requests", Kind::Unavailable, Refused, "the server has too much to do"),
    (
        "not supported for learner",
        Kind::Unavailable,
        Refused,
        "the member is a learner and does not serve yet",
    ),
    ("not capable", Kind::Unsupported, Refused, "the server has no such operation"),
    ("corrupt cluster", Kind::Corrupt, Refused, "the members' data differ; see the CORRUPT alarm"),
    ("alarm: CORRUPT", Kind::Corrupt, Refused, "the members' data differ; see the CORRUPT alarm"),
    ("request timed out", Kind::Unavailable, Sent, "the cluster did not agree in time"),
];

/// What etcd says by `text`, if that is known.
pub(super) fn by_text(text: &str) -> Option<Known> {
    let (_, kind, reached, message) = KNOWN.iter().find(|(part, ..)| text.contains(part))?;
    Some(Known { kind: *kind, reached: *reached, message })
}

/// What is left when the text says nothing. `local` statuses were made on this side, from a broken connection.
pub(super) fn by_code(code: Code, local: bool) -> Failure {
    if local {
        return Failure::new(Kind::Unavailable, Sent, "the connection broke");
    }
    let (kind, reached, message) = match code {
        Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::FailedPrecondition
        | Code::OutOfRange => (Kind::InvalidArgument, Refused, "the server refused the request"),
        Code::PermissionDenied => (
            Kind::PermissionDenied,
            Refused,
            "the user lacks the permission; grant it to one of the user's roles, or the role root for upkeep",
        ),
        Code::Unauthenticated => (Kind::Unauthenticated, Refused, "the credentials were refused"),
        Code::Unimplemented => (Kind::Unsupported, Refused, "the server has no such operation"),
        Code::DeadlineExceeded => (Kind::DeadlineExceeded, Sent, "the server gave up waiting"),
        Code::DataLoss => (Kind::Corrupt, Sent, "the server's data are damaged"),
        Code::Unavailable | Code::Aborted | Code::ResourceExhausted => {
            (Kind::Unavailable, Sent, "the server is not available")
        }
        Code::Cancelled => (Kind::Unavailable, Sent, "the server cancelled the request"),
        Code::Ok | Code::Unknown | Code::Internal => (Kind::Internal, Sent, "the server failed"),
    };
    Failure::new(kind, reached, message)
}

/// Whether the server says that it has no users at all, when asked to authenticate one.
pub(crate) fn auth_is_off(error: &etcd_client::Error) -> bool {
    matches!(error, etcd_client::Error::GRpcStatus(status) if status.message().contains("authentication is not enabled"))
}
