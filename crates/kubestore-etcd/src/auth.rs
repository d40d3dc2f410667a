//! The token of the user: got with the password, sent with every request, and got anew when the server refuses it.

use std::{
    fmt,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use etcd_client::proto::PbAuthenticateResponse;
use http::{HeaderValue, uri::PathAndQuery};
use tokio::{sync::Mutex, time::Instant};
use tonic::{Request, Status, client::Grpc};
use tonic_prost::ProstCodec;

use crate::{
    channel::secret,
    error::{Failure, auth_is_off},
    kv::Shared,
    options::Credentials,
    pool::Member,
};

/// The token in use. There is none without a user, nor while the server has authentication switched off.
#[derive(Debug)]
pub(crate) struct Tokens {
    credentials: Option<Credentials>,
    header: RwLock<Option<HeaderValue>>,
    /// How many tokens there have been.
    generation: AtomicU64,
    /// How often one was asked for.
    attempts: AtomicU64,
    /// Held by whoever asks for one. Holds why the last attempt failed.
    asking: Mutex<Option<Failure>>,
}

/// Which token a request was sent with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation(u64);

/// How many tokens one call may use up. A JWT is refused after every change of users and roles, which might happen
/// again in between.
pub(crate) const MAX_RENEWALS: usize = 2;

impl Tokens {
    pub(crate) fn new(credentials: Option<Credentials>) -> Self {
        Self {
            credentials,
            header: RwLock::new(None),
            generation: AtomicU64::new(0),
            attempts: AtomicU64::new(0),
            asking: Mutex::new(None),
        }
    }

    /// Whether there is a user to get a token for.
    pub(crate) fn can_renew(&self) -> bool {
        self.credentials.is_some()
    }

    /// To be asked before a request is sent, for [`renew_token`](Shared::renew_token).
    pub(crate) fn generation(&self) -> Generation {
        Generation(self.generation.load(Ordering::Acquire))
    }

    pub(crate) fn header(&self) -> Option<HeaderValue> {
        self.header.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, token: Option<HeaderValue>) {
        *self.header.write().unwrap_or_else(PoisonError::into_inner) = token;
        self.generation.fetch_add(1, Ordering::Release);
    }
}

impl Shared {
    /// Gets a token in place of the one of `refused`. Callers that find theirs refused at the same time ask once: the
    /// others wait, and share what came of it.
    pub(crate) async fn renew_token(&self, refused: Generation, deadline: Instant) -> Result<(), Failure> {
        let tokens = &self.tokens;
        let Some(credentials) = &tokens.credentials else { return Ok(()) };
        let attempts = tokens.attempts.load(Ordering::Acquire);
        let mut last = tokens.asking.lock().await;
        if tokens.generation() != refused {
            return Ok(());
        }
        if tokens.attempts.load(Ordering::Acquire) != attempts
            && let Some(failure) = &*last
        {
            return Err(failure.clone());
        }
        let answer = self
            .ask("authenticate", deadline, |member| async move { authenticate(&member, credentials).await })
            .await
            .and_then(|token| token.as_deref().map(secret).transpose());
        tokens.attempts.fetch_add(1, Ordering::AcqRel);
        match answer {
            Ok(token) => {
                tracing::debug!(user = credentials.user, on = token.is_some(), "authenticated");
                tokens.set(token);
                *last = None;
                Ok(())
            }
            Err(failure) => {
                let failure = failure.of_user(&credentials.user);
                *last = Some(failure.clone());
                Err(failure)
            }
        }
    }
}

/// A token of `credentials`, or `None` if the server has authentication switched off.
async fn authenticate(
    member: &Member,
    credentials: &Credentials,
) -> Result<Option<String>, etcd_client::Error> {
    const PATH: &str = "/etcdserverpb.Auth/Authenticate";
    let mut client = Grpc::new(member.bare.clone());
    client.ready().await.map_err(|error| Status::from_error(Box::new(error)))?;
    let request =
        AuthenticateRequest { name: credentials.user.clone(), password: credentials.password.to_string() };
    let codec = ProstCodec::<AuthenticateRequest, PbAuthenticateResponse>::default();
    let answer = client.unary(Request::new(request), PathAndQuery::from_static(PATH), codec).await;
    match answer.map_err(etcd_client::Error::from) {
        Ok(answer) => Ok(Some(answer.into_inner().token)),
        Err(error) if auth_is_off(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// etcd's message, which the client library keeps to itself.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
struct AuthenticateRequest {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    password: String,
}

impl fmt::Debug for AuthenticateRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthenticateRequest").field("name", &self.name).finish_non_exhaustive()
    }
}
