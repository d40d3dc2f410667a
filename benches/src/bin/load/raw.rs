//! The bare client's side: the requests that a store makes, and nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use etcd_client::{
    Client, Compare, CompareOp, GetOptions, GetResponse, KeyValue, KvClient, Txn, TxnOp, TxnOpResponse,
    WatchOptions,
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
use kubestore_benches::{Bytes, cluster_key};

use crate::{Outcome, arguments::Arguments, backend::Backend, side::Side, stored::Encoded};

/// Pages grow up to this when a selector drops objects.
const MAX_PAGE: i64 = 10_000;

/// Parts of a list that is dropped as it comes.
const PART: i64 = 1_000;

pub(crate) fn side(backend: &Backend, arguments: &Arguments, encoded: &Encoded) -> Outcome<Arc<dyn Side>> {
    let client = backend.client.clone().ok_or("the bare client is for etcd only")?;
    let values = (0..arguments.objects).map(|number| encoded.value(number)).collect();
    Ok(Arc::new(Raw { client, prefix: arguments.prefix.clone(), values }))
}

struct Raw {
    client: Client,
    prefix: String,
    values: Vec<Bytes>,
}

impl Raw {
    fn key(&self, number: usize) -> String {
        self.prefix.clone() + &cluster_key(number)
    }

    fn all(&self) -> String {
        self.prefix.clone() + "/pods/"
    }

    fn value(&self, number: usize) -> Bytes {
        self.values[number % self.values.len()].clone()
    }

    fn kv(&self) -> KvClient {
        self.client.kv_client().max_decoding_message_size(usize::MAX)
    }

    async fn current(&self, kv: &mut KvClient, key: &str) -> Outcome<KeyValue> {
        Ok(kv.get(key, None).await?.take_kvs().pop().ok_or("the key is missing")?)
    }

    /// Reads from `key` to the end of all, page by page.
    async fn pages(&self, limit: i64, grow: bool) -> Outcome<(usize, usize)> {
        let (mut kv, mut key) = (self.kv(), self.all().into_bytes());
        let end = [self.prefix.as_bytes(), b"/pods0"].concat();
        let (mut limit, mut revision) = (limit, 0);
        let (mut calls, mut objects) = (0, 0);
        loop {
            let options = GetOptions::new().with_range(end.clone()).with_limit(limit).with_revision(revision);
            let answer: GetResponse = kv.get(key, Some(options)).await?;
            (calls, objects) = (calls + 1, objects + answer.kvs().len());
            revision = answer.header().map_or(0, etcd_client::ResponseHeader::revision);
            match answer.kvs().last() {
                Some(last) if answer.more() => key = [last.key(), b"\0"].concat(),
                _ => return Ok((calls, objects)),
            }
            if grow {
                limit = (limit * 2).min(MAX_PAGE);
            }
        }
    }
}

fn unchanged(key: &str, revision: i64) -> Compare {
    Compare::mod_revision(key, CompareOp::Equal, revision)
}

#[async_trait]
impl Side for Raw {
    fn prepare(&self, _: usize) -> Outcome<()> {
        Ok(())
    }

    async fn create(&self, number: usize) -> Outcome<()> {
        let key = self.key(number);
        let create = Txn::new().when([unchanged(&key, 0)]).and_then([TxnOp::put(
            key.as_str(),
            self.value(number),
            None,
        )]);
        if self.kv().txn(create).await?.succeeded() { Ok(()) } else { Err("the key exists".into()) }
    }

    async fn get(&self, number: usize) -> Outcome<()> {
        self.current(&mut self.kv(), &self.key(number)).await?;
        Ok(())
    }

    async fn list(&self, limit: i64, node: Option<&str>) -> Outcome<(usize, usize)> {
        self.pages(limit, node.is_some()).await
    }

    async fn list_stream(&self) -> Outcome<(usize, usize)> {
        self.pages(PART, false).await
    }

    async fn update(&self, number: usize, tag: &str) -> Outcome<()> {
        let (mut kv, key) = (self.kv(), self.key(number));
        let mut current = self.current(&mut kv, &key).await?;
        while !tag.is_empty() {
            let update = Txn::new()
                .when([unchanged(&key, current.mod_revision())])
                .and_then([TxnOp::put(key.as_str(), self.value(number), None)])
                .or_else([TxnOp::get(key.as_str(), None)]);
            let answer = kv.txn(update).await?;
            if answer.succeeded() {
                break;
            }
            let Some(TxnOpResponse::Get(mut newer)) = answer.op_responses().into_iter().next() else {
                return Err("a transaction without the answer to its read".into());
            };
            current = newer.take_kvs().pop().ok_or("the key is missing")?;
        }
        Ok(())
    }

    async fn delete(&self, number: usize) -> Outcome<()> {
        let (mut kv, key) = (self.kv(), self.key(number));
        let current = self.current(&mut kv, &key).await?;
        let delete = Txn::new()
            .when([unchanged(&key, current.mod_revision())])
            .and_then([TxnOp::delete(key.as_str(), None)])
            .or_else([TxnOp::get(key.as_str(), None)]);
        if kv.txn(delete).await?.succeeded() { Ok(()) } else { Err("somebody else wrote".into()) }
    }

    async fn count(&self) -> Outcome<i64> {
        let options = GetOptions::new().with_prefix().with_count_only();
        Ok(self.kv().get(self.all(), Some(options)).await?.count())
    }

    async fn watch(&self, revision: i64) -> Outcome<BoxStream<'static, Outcome<usize>>> {
        let options = WatchOptions::new().with_prefix().with_start_revision(revision + 1).with_prev_key();
        let mut client = self.client.watch_client().max_decoding_message_size(usize::MAX);
        let stream = client.watch(self.all(), Some(options)).await?;
        Ok(stream.map_ok(|answer| answer.events().len()).map_err(Into::into).boxed())
    }
}
