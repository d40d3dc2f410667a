#![doc = include_str!("../README.md")]

mod clock;
mod error;
mod key_value;
mod kv;
mod lease;
mod maintenance;
mod range;
mod status;
mod watch;
mod write;

use std::{future::Future, pin::Pin};

pub use clock::{Clock, SystemClock};
pub use error::{BoxError, KvError, KvErrorKind};
pub use key_value::{KeyValue, LeaseId, Revision, prefix_end};
pub use kv::Kv;
pub use lease::{LeaseGrant, LeaseInfo, MAX_LEASE_TTL};
pub use maintenance::{Maintenance, MemberStatus};
pub use range::{GetRequest, GetResponse, ListChunk, ListEnd, ListRequest, ListResponse};
pub use status::KvStatus;
pub use watch::{
    KvEvent, KvEventKind, KvWatch, WatchGroup, WatchItem, WatchRequest, WatchState, WatchTarget,
};
pub use write::{DEFAULT_MAX_REQUEST_BYTES, DeleteRequest, Expect, OnFailure, PutRequest, WriteOutcome};

/// A future on the heap, as object-safe traits return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// A stream on the heap, as object-safe traits return it.
pub type BoxStream<T> = Pin<Box<dyn futures_core::Stream<Item = T> + Send>>;
