#![doc = include_str!("../README.md")]

mod callbacks;
mod codec;
mod continue_token;
mod error;
mod feed;
mod group_resource;
mod key;
mod list;
mod options;
mod preconditions;
mod quote;
mod resource_version;
mod selector;
mod storage;
mod storage_ext;
mod versioner;
mod wanted;
mod watch_event;

use std::pin::Pin;

pub use callbacks::{AllowDeletion, AsyncUpdate, ResponseMeta, UpdateFn, Updated, ValidateDeletion};
pub use codec::{Codec, CodecError};
pub use continue_token::{ContinueToken, InvalidContinueToken};
pub use error::{BoxError, CorruptObjects, ErrorKind, Status, StatusCause, StorageError};
pub use feed::{Feed, FeedEvent};
pub use group_resource::GroupResource;
pub use key::{InvalidKey, PathPrefix};
pub use list::{List, ListPart};
pub use options::{
    CreateOptions, DeleteOptions, GetOptions, ListOptions, NotFound, OnCorruptObject, ResourceVersionMatch,
    ResourceVersionText, Scope, UpdateOptions, WatchOptions,
};
pub use preconditions::Preconditions;
pub use quote::quote;
pub use resource_version::{InvalidResourceVersion, parse_resource_version};
pub use selector::{
    FieldSelector, FieldTerm, InvalidSelector, LabelOperator, LabelRequirement, LabelSelector, Predicate,
};
pub use storage::{Object, Storage};
pub use storage_ext::StorageExt;
pub use versioner::Versioner;
pub use wanted::{Found, Wanted};
pub use watch_event::{WatchEvent, WatchStream};

/// A stream on the heap, as object-safe traits return it.
pub type BoxStream<T> = Pin<Box<dyn futures_core::Stream<Item = T> + Send>>;
/// What a storage operation returns.
pub type Result<T, E = StorageError> = std::result::Result<T, E>;
