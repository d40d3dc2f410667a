//! The channel of an endpoint: connections of our own making, probed while in use, and the token on every request.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use http::{HeaderValue, Request, Response};
use tonic::{
    body::Body,
    transport::{Channel, Endpoint},
};
use tower::{BoxError, Service, ServiceExt, service_fn, util::BoxCloneSyncService};

use crate::{auth::Tokens, connect::Target, error::Failure, options::EtcdOptions};

/// Requests to one endpoint, with or without the token.
pub(crate) type Transport = BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>;

/// A channel that connects when it is first used, and again after it broke.
pub(crate) fn lazy(url: &str, target: &Arc<Target>, options: &EtcdOptions) -> Result<Channel, Failure> {
    Ok(connecting(&endpoint(url, options)?, target))
}

/// The same for streams that are read as slowly as their consumers like: each may fill its own window, and none holds up
/// the others by filling that of the connection.
pub(crate) fn lazy_for_streams(
    url: &str,
    target: &Arc<Target>,
    options: &EtcdOptions,
) -> Result<Channel, Failure> {
    const LARGEST: u32 = i32::MAX.cast_unsigned();
    Ok(connecting(&endpoint(url, options)?.initial_connection_window_size(LARGEST), target))
}

fn connecting(endpoint: &Endpoint, target: &Arc<Target>) -> Channel {
    let target = Arc::clone(target);
    endpoint.connect_with_connector_lazy(service_fn(move |uri| Arc::clone(&target).connect(uri)))
}

fn endpoint(url: &str, options: &EtcdOptions) -> Result<Endpoint, Failure> {
    // The scheme of the origin is what the server is told. TLS is up to our own connector, of which tonic must not know.
    let unusable = |error: &dyn std::fmt::Display| Failure::not_an_address(url, error);
    let plain = url.replacen("https://", "http://", 1);
    Ok(Endpoint::from_shared(plain)
        .map_err(|error| unusable(&error))?
        .origin(url.parse().map_err(|error| unusable(&error))?)
        .http2_keep_alive_interval(options.keepalive_interval)
        .keep_alive_timeout(options.keepalive_timeout)
        .keep_alive_while_idle(false))
}

/// `channel` with the current token on every request.
pub(crate) fn with_token(channel: Channel, tokens: &Arc<Tokens>) -> Transport {
    let service = WithToken { channel, tokens: Arc::clone(tokens) };
    BoxCloneSyncService::new(service.map_err(Into::into))
}

#[derive(Clone)]
struct WithToken {
    channel: Channel,
    tokens: Arc<Tokens>,
}

impl Service<Request<Body>> for WithToken {
    type Response = Response<Body>;
    type Error = <Channel as Service<Request<Body>>>::Error;
    type Future = <Channel as Service<Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Service::<Request<Body>>::poll_ready(&mut self.channel, cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        if let Some(token) = self.tokens.header() {
            request.headers_mut().insert("token", token);
        }
        self.channel.call(request)
    }
}

/// As a header whose value no debug output shows.
pub(crate) fn secret(token: &str) -> Result<HeaderValue, Failure> {
    let mut header =
        HeaderValue::from_str(token).map_err(|_| Failure::malformed("a token that is no header value"))?;
    header.set_sensitive(true);
    Ok(header)
}
