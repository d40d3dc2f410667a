//! Upkeep per endpoint, apart from [`Kv`](crate::Kv) so that kine and toys need not have it.

use std::fmt;

use async_trait::async_trait;

use crate::{KvError, Revision};

/// Calls that speak to one member of a cluster.
#[async_trait]
pub trait Maintenance: fmt::Debug + Send + Sync + 'static {
    /// The state of each endpoint, in the order they were configured.
    ///
    /// # Errors
    /// None of them answered.
    async fn members(&self) -> Result<Vec<MemberStatus>, KvError>;

    /// Gives the space of deleted and compacted revisions back to the file system. The member serves nothing
    /// meanwhile.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::KvErrorKind::InvalidArgument) for an endpoint that is not configured, else what the
    /// member said.
    async fn defragment(&self, endpoint: &str) -> Result<(), KvError>;
}

/// One member.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct MemberStatus {
    /// Its address as configured.
    pub endpoint: String,
    /// Whether it leads.
    pub leader: bool,
    /// Version of the server.
    pub version: String,
    /// Its newest revision.
    pub head: Revision,
    /// Bytes of its file.
    pub db_size: u64,
    /// Bytes of it in use.
    pub db_in_use: u64,
    /// Its quota in bytes, where it says (3.6 and later).
    pub quota: Option<u64>,
    /// Alarms raised, by etcd's names (`NOSPACE`, `CORRUPT`).
    pub alarms: Vec<String>,
}
