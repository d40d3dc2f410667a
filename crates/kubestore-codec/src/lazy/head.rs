//! Type and metadata of a stored object, whatever its encoding.

use std::borrow::Cow;

use bytes::Bytes;
use kubestore_core::{Codec, CodecError};

use super::{json_head, text::Text};
#[cfg(feature = "cbor")]
use crate::cbor;
#[cfg(feature = "protobuf")]
use crate::protobuf;
#[cfg(any(feature = "cbor", feature = "protobuf"))]
use crate::sniff::{Encoding, sniff};
use crate::{
    Unstructured, UnstructuredCodec,
    value::{Map, Value},
};

/// What is read of an object. Texts are borrowed from its stored bytes where they can be.
#[derive(Default)]
pub(crate) struct HeadRef<'a> {
    pub(crate) api_version: Cow<'a, str>,
    pub(crate) kind: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) namespace: Cow<'a, str>,
    pub(crate) uid: Cow<'a, str>,
    pub(crate) generation: i64,
    pub(crate) labels: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub(crate) annotations: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// The same beside the bytes themselves.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) data: Bytes,
    api_version: Text,
    kind: Text,
    name: Text,
    namespace: Text,
    uid: Text,
    pub(super) generation: i64,
    /// In order of the keys, each of which is there once.
    labels: Box<[(Text, Text)]>,
    annotations: Box<[(Text, Text)]>,
}

impl Head {
    /// Reads the head of a stored value.
    ///
    /// # Errors
    /// It is not an object.
    pub(super) fn read(data: Bytes) -> Result<Self, CodecError> {
        #[cfg(feature = "cbor")]
        if sniff(&data) == Encoding::Cbor {
            return Ok(Self::new(data.clone(), cbor::head(&data)?));
        }
        #[cfg(feature = "protobuf")]
        if sniff(&data) == Encoding::Protobuf {
            return Ok(Self::new(data.clone(), protobuf::head(&data)?));
        }
        let Some(head) = json_head::read(&data) else { return Self::of_odd_json(data) };
        Ok(Self::new(data.clone(), head))
    }

    /// What only the whole decoder reads right.
    fn of_odd_json(data: Bytes) -> Result<Self, CodecError> {
        let object = UnstructuredCodec.decode(data.clone())?;
        Ok(Self::new(data, of_unstructured(&object)))
    }

    fn new(data: Bytes, head: HeadRef<'_>) -> Self {
        let text = |text| Text::new(&data, text);
        Self {
            api_version: text(head.api_version),
            kind: text(head.kind),
            name: text(head.name),
            namespace: text(head.namespace),
            uid: text(head.uid),
            generation: head.generation,
            labels: parts(&data, head.labels),
            annotations: parts(&data, head.annotations),
            data,
        }
    }

    pub(super) fn api_version(&self) -> &str {
        self.api_version.of(&self.data)
    }

    pub(super) fn kind(&self) -> &str {
        self.kind.of(&self.data)
    }

    pub(super) fn name(&self) -> &str {
        self.name.of(&self.data)
    }

    pub(super) fn namespace(&self) -> &str {
        self.namespace.of(&self.data)
    }

    pub(super) fn uid(&self) -> &str {
        self.uid.of(&self.data)
    }

    pub(super) fn labels(&self) -> Texts<'_> {
        Texts { data: &self.data, pairs: &self.labels }
    }

    pub(super) fn annotations(&self) -> Texts<'_> {
        Texts { data: &self.data, pairs: &self.annotations }
    }
}

/// The pairs in order of their keys; of equal keys the last counts.
fn parts(data: &[u8], mut pairs: Vec<(Cow<'_, str>, Cow<'_, str>)>) -> Box<[(Text, Text)]> {
    if !pairs.is_sorted_by(|a, b| a.0 < b.0) {
        // The sort leaves equals in their order.
        pairs.reverse();
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        pairs.dedup_by(|a, b| a.0 == b.0);
    }
    pairs.into_iter().map(|(key, value)| (Text::new(data, key), Text::new(data, value))).collect()
}

/// Labels or annotations.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    data: &'a Bytes,
    pairs: &'a [(Text, Text)],
}

impl<'a> Texts<'a> {
    pub(super) fn get(self, key: &str) -> Option<&'a str> {
        let found = self.pairs.binary_search_by(|(own, _)| own.of(self.data).cmp(key)).ok()?;
        Some(self.pairs[found].1.of(self.data))
    }

    pub(super) fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.pairs.iter().map(move |(key, value)| (key.of(self.data), value.of(self.data)))
    }
}

fn of_unstructured(object: &Unstructured) -> HeadRef<'_> {
    let texts = |texts: Option<&'_ Map>| {
        let pairs = texts.into_iter().flat_map(Map::iter);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        pairs.map(|(key, value)| (Cow::Owned(key.to_owned()), Cow::Owned(text(value)))).collect()
    };
    let generation = object.metadata().and_then(|metadata| metadata.get("generation"));
    HeadRef {
        api_version: object.api_version().into(),
        kind: object.kind().into(),
        name: object.name().into(),
        namespace: object.namespace().into(),
        uid: object.uid().into(),
        generation: generation.and_then(Value::as_i64).unwrap_or_default(),
        labels: texts(object.labels()),
        annotations: texts(object.annotations()),
    }
}
