#![doc = include_str!("../README.md")]

mod blocking;
mod bolt;
mod checksum;
mod error;
mod history;
mod index;
mod info;
mod load;
mod options;
mod record;
mod scan;
mod snapshot;
mod source;
mod view;
mod wire;

pub use error::{SnapshotError, SnapshotErrorKind};
pub use info::{SnapshotInfo, SnapshotLease};
pub use options::{Checksum, SnapshotOptions};
pub use snapshot::Snapshot;
