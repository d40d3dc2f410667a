//! One scenario while it runs.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use anyhow::{Result, anyhow, bail};
use kubestore_codec::{Unstructured, UnstructuredCodec, UnstructuredVersioner};
use kubestore_core::{GroupResource, PathPrefix, Storage};
use kubestore_kv::{
    DeleteRequest, GetRequest, Kv, KvErrorKind, LeaseId, ListRequest, PutRequest, WatchGroup, WriteOutcome,
};
use kubestore_store::{LeaseManagerConfig, Store};

use super::{
    arguments::Results, report::StepFailure, traced::Traced, transformer::transformer, watch::Watching,
};
use crate::recording::{Base, Config, Notation, Scenario, TransformerConfig};

/// One store under one prefix, and all that later steps may refer back to.
pub(crate) struct Session {
    /// For steps that act on the backend directly.
    pub(super) raw: Arc<dyn Kv>,
    /// What the store is built over.
    pub(super) traced: Arc<Traced>,
    pub(super) store: Arc<dyn Storage<Unstructured>>,
    pub(super) notation: Notation,
    pub(super) prefix: PathPrefix,
    pub(super) resource: GroupResource,
    /// That of all stores of the session: the reference's share a stream, whatever their transformers.
    group: WatchGroup,
    config: Config,
    pub(super) results: Results,
    pub(super) watches: HashMap<String, Watching>,
    /// In the order in which `leaseOf` steps saw them first.
    pub(super) leases: Vec<LeaseId>,
    pub(super) trace: bool,
    /// Numbers of the steps that ran inside functions.
    pub(super) ran: HashSet<String>,
    pub(super) failures: Vec<StepFailure>,
}

/// A key outside of every prefix: reading it tells the revision, writing it sets a scenario apart from the one before.
const BASE_KEY: &str = "replay-base";

impl Session {
    /// Builds the store of `scenario` over an empty prefix. Writes are made until `pad` revisions are between what was
    /// there and the scenario, at least one.
    pub(crate) async fn start(kv: Arc<dyn Kv>, scenario: &Scenario, pad: u32, trace: bool) -> Result<Self> {
        let config = scenario.config.clone();
        let given = config.prefix.clone().unwrap_or_else(|| format!("/registry-{}", scenario.name));
        let prefix = PathPrefix::new(&given);
        clear(&*kv, &prefix).await?;
        let mut base = Base(0);
        for _ in 0..pad.max(1) {
            base = Base(put(&*kv, BASE_KEY.to_owned(), scenario.name.clone().into_bytes()).await?);
        }
        let traced = Arc::new(Traced::new(Arc::clone(&kv), base));
        let resource = GroupResource::from(config.group_resource.as_deref().unwrap_or("pods"));
        let notation =
            Notation { base, prefix: prefix.as_str().strip_suffix('/').unwrap_or_default().to_owned() };
        let group = WatchGroup::new();
        let store = build(&traced, &config, &config.transformer, &given, (&resource, group))?;
        Ok(Self {
            raw: kv,
            group,
            traced,
            store,
            notation,
            prefix,
            resource,
            config,
            results: Results::new(base),
            watches: HashMap::new(),
            leases: Vec::new(),
            trace,
            ran: HashSet::new(),
            failures: Vec::new(),
        })
    }

    /// Goes on with another transformer, as a new store over the same prefix.
    pub(super) fn rebuild(&mut self, transformer: &TransformerConfig) -> Result<()> {
        self.store = build(
            &self.traced,
            &self.config,
            transformer,
            self.prefix.as_str(),
            (&self.resource, self.group),
        )?;
        Ok(())
    }

    /// The backend's key of a store's key, without any check.
    pub(super) fn backend_key(&self, key: &str) -> String {
        format!("{}{}", self.prefix.as_str(), key.strip_prefix('/').unwrap_or(key))
    }

    /// The backend's revision.
    pub(super) async fn revision(&self) -> Result<String> {
        let head = self.raw.get(GetRequest::new(BASE_KEY)).await?.head;
        Ok(self.notation.base.relative(head.0))
    }

    /// Ends the watches and the leases, so that nothing of this scenario reaches into the next.
    pub(crate) async fn finish(mut self) -> Result<Vec<StepFailure>> {
        self.watches.clear();
        for lease in self.traced.leases() {
            match self.raw.revoke_lease(lease).await {
                Err(error) if error.kind() != KvErrorKind::LeaseNotFound => return Err(error.into()),
                _ => {}
            }
        }
        clear(&*self.raw, &self.prefix).await?;
        Ok(self.failures)
    }
}

fn build(
    kv: &Arc<Traced>,
    config: &Config,
    transformer_config: &TransformerConfig,
    prefix: &str,
    (resource, group): (&GroupResource, WatchGroup),
) -> Result<Arc<dyn Storage<Unstructured>>> {
    let kv: Arc<dyn Kv> = Arc::<Traced>::clone(kv);
    let limits = config.lease.unwrap_or_default();
    let leases = LeaseManagerConfig::default()
        .with_reuse_duration_seconds(limits.reuse_seconds)
        .with_max_object_count(limits.max_object_count);
    let mut builder = Store::builder(kv, Arc::new(UnstructuredCodec), Arc::new(UnstructuredVersioner))
        .prefix(prefix)
        .group_resource(resource.clone())
        .transformer(transformer(transformer_config)?)
        .lease_config(leases)
        .watch_group(group)
        .watch_list(config.watch_list());
    if let Some(resource_prefix) = &config.resource_prefix {
        builder = builder.resource_prefix(resource_prefix.clone());
    }
    Ok(Arc::new(builder.build()))
}

/// Deletes what an earlier run may have left under the prefix.
async fn clear(kv: &dyn Kv, prefix: &PathPrefix) -> Result<()> {
    let left = kv.list(ListRequest::new(prefix.as_str().to_owned()).keys_only()).await?;
    for found in left.kvs {
        kv.optimistic_delete(DeleteRequest::new(found.key, found.mod_revision)).await?;
    }
    Ok(())
}

/// Puts a value whatever is there, and returns the revision.
pub(super) async fn put(kv: &dyn Kv, key: String, value: Vec<u8>) -> Result<i64> {
    for _ in 0..8 {
        let current = kv.get(GetRequest::new(key.clone())).await?.kv;
        let revision = current.map(|kv| kv.mod_revision).unwrap_or_default();
        let request = PutRequest::update(key.clone(), value.clone(), revision);
        if let WriteOutcome::Done { revision } = kv.optimistic_put(request).await? {
            return Ok(revision.0);
        }
    }
    bail!("{key} is written by somebody else all the time; a replay needs a backend of its own")
}

/// Deletes a key whatever is there, and returns how many there were.
pub(super) async fn delete(kv: &dyn Kv, key: String) -> Result<u8> {
    let Some(current) = kv.get(GetRequest::new(key.clone())).await?.kv else { return Ok(0) };
    match kv.optimistic_delete(DeleteRequest::new(key.clone(), current.mod_revision)).await? {
        WriteOutcome::Done { .. } => Ok(1),
        _ => Err(anyhow!("{key} is written by somebody else; a replay needs a backend of its own")),
    }
}
