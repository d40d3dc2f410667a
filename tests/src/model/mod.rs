//! A small model of the store: what each step of a scenario should come to.
//!
//! It exists for the scenarios in which kubestore is meant to differ and goes another way from there on, so that what was
//! recorded says nothing about the later steps. It is run twice, once as the reference, which has to come to what was
//! recorded, and once as kubestore should be. It keeps every key's whole history in a map, waits for nothing, and shares
//! no code with the store but the vocabulary, the codec and the transformers, which have tests of their own.

mod direct;
mod keys;
mod leases;
mod list;
mod read;
mod run;
mod watch;
mod write;

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::Result;
use kubestore_core::{GroupResource, PathPrefix};
use kubestore_transform::Transformer;

use self::{keys::Keys, leases::Leases, watch::ModelWatch};
use crate::{
    recording::{Base, Config, Notation, Scenario},
    replay::{Results, transformer},
};

/// Whose behaviour is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// What was recorded.
    Reference,
    /// Kubestore's.
    Own,
}

/// The store and its backend.
#[derive(Debug)]
pub(crate) struct Model {
    behaviour: Behaviour,
    keys: Keys,
    leases: Leases,
    /// Leases in the order in which `leaseOf` steps saw them.
    named: Vec<i64>,
    transformer: Arc<dyn Transformer>,
    notation: Notation,
    prefix: PathPrefix,
    resource: GroupResource,
    watch_list: bool,
    pub(crate) results: Results,
    watches: HashMap<String, ModelWatch>,
    now: Duration,
}

/// Where the model begins. Far above 0, so that no revision before the scenario is mistaken for "any".
const BASE: i64 = 1_000_000;

impl Model {
    /// An empty store as the scenario configures it.
    pub(crate) fn new(scenario: &Scenario, behaviour: Behaviour) -> Result<Self> {
        let config: &Config = &scenario.config;
        let given = config.prefix.clone().unwrap_or_else(|| format!("/registry-{}", scenario.name));
        let prefix = PathPrefix::new(&given);
        let base = Base(BASE);
        Ok(Self {
            behaviour,
            keys: Keys::new(BASE),
            leases: Leases::new(config.lease.unwrap_or_default()),
            named: Vec::new(),
            transformer: transformer(&config.transformer)?,
            notation: Notation {
                base,
                prefix: prefix.as_str().strip_suffix('/').unwrap_or_default().to_owned(),
            },
            prefix,
            resource: GroupResource::from(config.group_resource.as_deref().unwrap_or("pods")),
            watch_list: config.watch_list(),
            results: Results::new(base),
            watches: HashMap::new(),
            now: Duration::ZERO,
        })
    }

    /// The backend's revision, relative to where the scenario began.
    pub(crate) fn head(&self) -> i64 {
        self.keys.head - BASE
    }

    fn backend_key(&self, key: &str) -> String {
        format!("{}{}", self.prefix.as_str(), key.strip_prefix('/').unwrap_or(key))
    }
}
