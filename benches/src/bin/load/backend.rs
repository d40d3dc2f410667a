//! What the objects are kept in, and what is done to it that is not measured.

use std::sync::Arc;

use etcd_client::{Client, CompactionOptions, DeleteOptions, Txn, TxnOp};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kubestore::{
    kv::{DeleteRequest, GetRequest, Kv, ListRequest, PutRequest, Revision},
    prelude::{Embedded, EtcdKv},
};
use kubestore_benches::Bytes;
use tempfile::TempDir;

use crate::{
    Outcome,
    arguments::{Arguments, BackendKind},
};

/// Objects of one transaction that is not measured.
const AT_ONCE: usize = 50;

pub(crate) struct Backend {
    pub(crate) kv: Arc<dyn Kv>,
    /// The bare client, on etcd.
    pub(crate) client: Option<Client>,
    embedded: Option<Embedded>,
    /// Removed at the end.
    _directory: Option<TempDir>,
}

impl Backend {
    pub(crate) async fn open(arguments: &Arguments) -> Outcome<Self> {
        match arguments.backend {
            BackendKind::Etcd => {
                let kv = EtcdKv::connect([arguments.endpoint.as_str()]).await?;
                let client = Client::connect([arguments.endpoint.as_str()], None).await?;
                Ok(Self { kv: Arc::new(kv), client: Some(client), embedded: None, _directory: None })
            }
            BackendKind::Memory => {
                let embedded = Embedded::in_memory();
                Ok(Self {
                    kv: Arc::new(embedded.clone()),
                    client: None,
                    embedded: Some(embedded),
                    _directory: None,
                })
            }
            BackendKind::Durable => {
                let directory = match &arguments.dir {
                    Some(parent) => TempDir::new_in(parent)?,
                    None => TempDir::new()?,
                };
                let embedded = Embedded::open(directory.path().join("data")).await?;
                Ok(Self {
                    kv: Arc::new(embedded.clone()),
                    client: None,
                    embedded: Some(embedded),
                    _directory: Some(directory),
                })
            }
        }
    }

    pub(crate) async fn close(self) -> Outcome<()> {
        if let Some(embedded) = self.embedded {
            embedded.close().await;
        }
        Ok(())
    }

    pub(crate) async fn head(&self) -> Outcome<i64> {
        Ok(self.kv.status().await?.head.0)
    }

    /// Puts all of these, `batch` to a revision where that can be.
    pub(crate) async fn put_all(
        &self,
        pairs: impl Iterator<Item = (String, Bytes)> + Send,
        batch: usize,
    ) -> Outcome<()> {
        let mut pairs = pairs.peekable();
        let Some(client) = &self.client else {
            let puts = pairs.map(|(key, value)| self.put(key, value));
            return stream::iter(puts).buffered(32).try_collect().await;
        };
        let mut client = client.clone();
        while pairs.peek().is_some() {
            let puts = pairs.by_ref().take(batch).map(|(key, value)| TxnOp::put(key, value, None));
            client.txn(Txn::new().and_then(puts.collect::<Vec<_>>())).await?;
        }
        Ok(())
    }

    pub(crate) async fn fill(&self, pairs: impl Iterator<Item = (String, Bytes)> + Send) -> Outcome<()> {
        self.put_all(pairs, AT_ONCE).await
    }

    async fn put(&self, key: String, value: Bytes) -> Outcome<()> {
        let current = self.kv.get(GetRequest::new(key.clone())).await?.kv;
        let revision = current.map_or(Revision(0), |kv| kv.mod_revision);
        self.kv.optimistic_put(PutRequest::update(key, value, revision)).await?;
        Ok(())
    }

    /// Deletes everything under `prefix` and compacts, waiting for the end of it: a compaction that still runs would slow
    /// what is measured next.
    pub(crate) async fn clean(&self, prefix: &str) -> Outcome<()> {
        if let Some(client) = &self.client {
            let mut client = client.clone();
            let deleted = client.delete(prefix, Some(DeleteOptions::new().with_prefix())).await?;
            let head = deleted.header().map_or(0, etcd_client::ResponseHeader::revision);
            // It may be compacted already.
            drop(client.compact(head, Some(CompactionOptions::new().with_physical())).await);
            return Ok(());
        }
        let all = self.kv.list(ListRequest::new(prefix.to_owned()).keys_only()).await?;
        let deletions = all
            .kvs
            .into_iter()
            .map(|kv| self.kv.optimistic_delete(DeleteRequest::new(kv.key, kv.mod_revision)));
        let mut deletions = stream::iter(deletions).buffered(32);
        while let Some(deleted) = deletions.next().await {
            deleted?;
        }
        let head = self.kv.status().await?.head;
        drop(self.kv.compact(head).await);
        Ok(())
    }
}
