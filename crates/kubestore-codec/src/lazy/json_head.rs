//! Type and metadata of an object in JSON.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Unexpected, Visitor},
};

use super::head::HeadRef;

/// The head of a document that is in order. `None` leaves it to the whole decoder: what is no JSON, has a name twice, or has
/// metadata of another shape.
pub(super) fn read(data: &[u8]) -> Option<HeadRef<'_>> {
    let text = std::str::from_utf8(data).ok()?;
    let document: Document<'_> = serde_json::from_str(text).ok()?;
    let metadata = document.metadata.unwrap_or_default();
    let api_version = document.api_version.0;
    let one_slash = api_version.bytes().filter(|byte| *byte == b'/').count() <= 1;
    (one_slash && !document.kind.0.is_empty()).then_some(HeadRef {
        api_version,
        kind: document.kind.0,
        name: metadata.name.0,
        namespace: metadata.namespace.0,
        uid: metadata.uid.0,
        generation: metadata.generation.unwrap_or_default(),
        labels: metadata.labels.0,
        annotations: metadata.annotations.0,
    })
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow, default, rename = "apiVersion")]
    api_version: Text<'a>,
    #[serde(borrow, default)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    metadata: Option<Metadata<'a>>,
}

#[derive(Default, Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    namespace: Text<'a>,
    #[serde(borrow, default)]
    uid: Text<'a>,
    #[serde(default)]
    generation: Option<i64>,
    #[serde(borrow, default)]
    labels: Texts<'a>,
    #[serde(borrow, default)]
    annotations: Texts<'a>,
}

/// Text, borrowed unless it is escaped; `null` counts as none.
#[derive(Default)]
struct Text<'a>(Cow<'a, str>);

/// Text and nothing else.
struct OnlyText<'a>(Cow<'a, str>);

struct TextVisitor {
    or_null: bool,
}

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        if self.or_null { Ok(Cow::Borrowed("")) } else { Err(E::invalid_type(Unexpected::Unit, &self)) }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor { or_null: true }).map(Self)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for OnlyText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor { or_null: false }).map(Self)
    }
}

/// Labels or annotations; `null` counts as none.
#[derive(Default)]
struct Texts<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Texts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextsVisitor;

        impl<'de> Visitor<'de> for TextsVisitor {
            type Value = Texts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("names and texts")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Texts<'de>, E> {
                Ok(Texts::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts<'de>, A::Error> {
                let mut pairs = Vec::new();
                // Where one is not text none counts, which the whole decoder knows.
                while let Some((OnlyText(key), OnlyText(value))) = map.next_entry()? {
                    pairs.push((key, value));
                }
                Ok(Texts(pairs))
            }
        }

        deserializer.deserialize_any(TextsVisitor)
    }
}
