//! The store's side, for each form of objects.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
use k8s_openapi::api::core::v1::Pod;
use kubestore::{
    codec::{K8sOpenapiVersioner, K8sPbVersioner, Lazy, LazyCodec, ProstCodec},
    core::{AllowDeletion, Codec as _, GetOptions, ListPart, Object, Storage as _},
    prelude::{
        CreateOptions, DeleteOptions, ListOptions, Predicate, ResponseMeta, StorageError, Store, Stores,
        UpdateOptions, Updated, WatchOptions,
    },
    transform::{Identity, Key, Provider, ProviderChain, Transformer, ValueContext},
};
use kubestore_benches::{Bytes, cluster_key, cluster_pod};

use crate::{
    Outcome,
    arguments::{Arguments, CodecKind, ObjectKind, TransformerKind},
    backend::Backend,
    codecs::{PodCodec, Subject},
    side::Side,
};

/// The key of the reference's program, so that either reads what the other writes.
const KEY: [u8; 32] = *b"0123456789abcdef0123456789abcdef";

fn transformer(kind: TransformerKind) -> Outcome<Arc<dyn Transformer>> {
    Ok(match kind {
        TransformerKind::Identity => Arc::new(Identity),
        TransformerKind::Aesgcm => {
            let provider = Provider::aes_gcm([Key::new("key1", KEY)?])?;
            Arc::new(ProviderChain::new([provider])?)
        }
    })
}

/// Every Pod as it is stored, to be written without a store.
pub(crate) struct Encoded {
    codec: PodCodec,
    transformer: Arc<dyn Transformer>,
    prefix: String,
    values: Vec<Bytes>,
}

impl Encoded {
    pub(crate) fn new(arguments: &Arguments) -> Outcome<Self> {
        let mut encoded = Self {
            codec: PodCodec::new(arguments.codec),
            transformer: transformer(arguments.transformer)?,
            prefix: arguments.prefix.clone(),
            values: Vec::new(),
        };
        let values = (0..arguments.objects).map(|number| encoded.encode(number));
        encoded.values = values.collect::<Outcome<_>>()?;
        Ok(encoded)
    }

    fn encode(&self, number: usize) -> Outcome<Bytes> {
        let (data, key) = (self.codec.encode(&cluster_pod(number)?)?, self.key(number));
        let sealed = self.transformer.transform_to_storage(data, ValueContext::new(key.as_bytes())).try_now();
        Ok(sealed.map_err(|_| "the transformer waits for somebody")??)
    }

    /// The whole key.
    pub(crate) fn key(&self, number: usize) -> String {
        self.prefix.clone() + &cluster_key(number)
    }

    pub(crate) fn value(&self, number: usize) -> Bytes {
        self.values[number % self.values.len()].clone()
    }

    /// Keys and values of `count` writes that go round the objects.
    pub(crate) fn pairs(&self, count: usize) -> impl Iterator<Item = (String, Bytes)> + Send {
        let objects = self.values.len();
        (0..count).map(move |number| (self.key(number % objects), self.value(number)))
    }
}

/// The store as it was asked for.
pub(crate) fn side(backend: &Backend, arguments: &Arguments) -> Outcome<Arc<dyn Side>> {
    let transformer = transformer(arguments.transformer)?;
    let stores =
        Stores::builder(Arc::clone(&backend.kv)).prefix(&arguments.prefix).transformer(transformer).build();
    let codec = PodCodec::new(arguments.codec);
    Ok(match arguments.object {
        ObjectKind::Typed => Stored::side(stores.typed("pods", codec, K8sOpenapiVersioner)),
        ObjectKind::Prost if arguments.codec != CodecKind::Protobuf => {
            return Err("the types of prost are for protobuf only".into());
        }
        ObjectKind::Prost => Stored::<k8s_pb::api::core::v1::Pod>::side(stores.typed(
            "pods",
            ProstCodec::new(),
            K8sPbVersioner,
        )),
        ObjectKind::Lazy => {
            let lazy = LazyCodec::new(codec, K8sOpenapiVersioner);
            Stored::<Lazy<Pod>>::side(stores.typed("pods", lazy.clone(), lazy))
        }
    })
}

struct Stored<T: Object> {
    store: Store<T>,
    /// Objects that wait to be created.
    made: Mutex<Vec<Option<T>>>,
}

impl<T: Subject> Stored<T> {
    fn side(store: Store<T>) -> Arc<dyn Side> {
        Arc::new(Self { store, made: Mutex::default() })
    }

    fn made(&self) -> std::sync::MutexGuard<'_, Vec<Option<T>>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn everything(node: Option<&str>) -> Outcome<ListOptions> {
    Ok(match node {
        Some(node) => {
            let fields = format!("spec.nodeName={node}").parse()?;
            ListOptions::recursive().with_predicate(Predicate::new(Default::default(), fields))
        }
        None => ListOptions::recursive(),
    })
}

#[async_trait]
impl<T: Subject> Side for Stored<T> {
    fn prepare(&self, count: usize) -> Outcome<()> {
        let made = (0..count).map(|number| Ok(Some(T::make(cluster_pod(number)?)?)));
        *self.made() = made.collect::<Outcome<_>>()?;
        Ok(())
    }

    async fn create(&self, number: usize) -> Outcome<()> {
        let object =
            self.made().get_mut(number).and_then(Option::take).ok_or("no such object is prepared")?;
        self.store.create(&cluster_key(number), object, CreateOptions::default()).await?;
        Ok(())
    }

    async fn get(&self, number: usize) -> Outcome<()> {
        self.store.get(&cluster_key(number), GetOptions::default()).await?.ok_or("the object is missing")?;
        Ok(())
    }

    async fn list(&self, limit: i64, node: Option<&str>) -> Outcome<(usize, usize)> {
        let mut options = everything(node)?.with_limit(limit);
        let (mut calls, mut objects) = (0, 0);
        loop {
            let list = self.store.get_list("/pods", options.clone()).await?;
            (calls, objects) = (calls + 1, objects + list.items.len());
            match list.continue_token {
                Some(token) => options.continue_token = token,
                None => return Ok((calls, objects)),
            }
        }
    }

    async fn list_stream(&self) -> Outcome<(usize, usize)> {
        let mut parts = self.store.list_stream("/pods", ListOptions::recursive());
        let (mut count, mut objects) = (0, 0);
        while let Some(part) = parts.next().await {
            if let ListPart::Items(items) = part? {
                (count, objects) = (count + 1, objects + items.len());
            }
        }
        Ok((count, objects))
    }

    async fn update(&self, number: usize, tag: &str) -> Outcome<()> {
        let mut update = |current: Option<T>, _: ResponseMeta| {
            let mut object = current.ok_or_else(|| StorageError::other("the object is missing"))?;
            if !tag.is_empty() {
                let tagged = object.tag(tag);
                tagged.map_err(|cause| StorageError::other("the object is damaged").with_source(cause))?;
            }
            Ok(Updated::new(object))
        };
        self.store
            .guaranteed_update(&cluster_key(number), UpdateOptions::default(), &mut update, None)
            .await?;
        Ok(())
    }

    async fn delete(&self, number: usize) -> Outcome<()> {
        self.store.delete(&cluster_key(number), DeleteOptions::default(), &mut AllowDeletion, None).await?;
        Ok(())
    }

    async fn count(&self) -> Outcome<i64> {
        Ok(self.store.count("/pods").await?)
    }

    async fn watch(&self, revision: i64) -> Outcome<BoxStream<'static, Outcome<usize>>> {
        let options = WatchOptions::recursive().with_resource_version(revision.to_string());
        let events = self.store.watch("/pods", options).await?;
        // The object is taken, and dropped.
        Ok(events.map_ok(|event| usize::from(event.object().is_some())).map_err(Into::into).boxed())
    }
}
