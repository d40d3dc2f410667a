//! What the struct tags of Go say about the types of Kubernetes.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

/// The list that `xtask/schema/facts.go` prints.
pub(super) struct Facts {
    /// From `apiVersion` and kind to the type.
    pub(super) kinds: BTreeMap<(String, String), String>,
    pub(super) types: BTreeMap<String, Vec<Field>>,
}

/// A field of a Go type.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) protobuf_name: String,
    pub(super) json_name: String,
    pub(super) shape: Shape,
    pub(super) inline: bool,
    pub(super) omit_empty: bool,
    pub(super) omit_zero: bool,
    /// The one field of a type that is a slice in Go.
    pub(super) list: bool,
    /// The minor version of Kubernetes that it came with, or the earliest that was looked at.
    pub(super) since: u8,
}

/// How often a field is there, and of what type it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Value(Scalar),
    Pointer(Scalar),
    List(Scalar),
    /// The keys are text.
    Map(Scalar),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Text,
    Bool,
    Int32,
    Int64,
    Double,
    Bytes,
    /// A type by its path in Go.
    Message(String),
}

impl Facts {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut facts = Self { kinds: BTreeMap::new(), types: BTreeMap::new() };
        let mut name = String::new();
        for line in text.lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            match columns[..] {
                ["kind", version, kind, of] => {
                    facts.kinds.insert((version.to_owned(), kind.to_owned()), of.to_owned());
                }
                ["type", path] => {
                    path.clone_into(&mut name);
                    facts.types.insert(path.to_owned(), Vec::new());
                }
                // Not on the wire: `TypeMeta`, and what special types hide.
                ["field", _, "", ..] => {}
                ["field", _, number, in_protobuf, in_json, shape, flags, since] => {
                    let field = Field::parse(number, in_protobuf, in_json, shape, flags, since);
                    let field = field.with_context(|| format!("the line `{line}` is no field"))?;
                    facts.types.get_mut(&name).context("a field before the first type")?.push(field);
                }
                _ => bail!("the line `{line}` has an unknown form"),
            }
        }
        for fields in facts.types.values_mut() {
            fields.sort_by_key(|field| field.number);
        }
        Ok(facts)
    }

    /// Whether the type begins an object of a kind, which has `apiVersion` and `kind` in JSON.
    pub(super) fn is_kind(&self, path: &str) -> bool {
        self.kinds.values().any(|of| of == path)
    }
}

impl Field {
    fn parse(
        number: &str,
        in_protobuf: &str,
        in_json: &str,
        shape: &str,
        flags: &str,
        since: &str,
    ) -> Result<Self> {
        let has = |wanted: &str| flags.split(',').any(|flag| flag == wanted);
        Ok(Self {
            number: number.parse()?,
            protobuf_name: in_protobuf.to_owned(),
            json_name: in_json.to_owned(),
            shape: Shape::parse(shape)?,
            inline: has("inline"),
            omit_empty: has("omitempty"),
            omit_zero: has("omitzero"),
            list: has("list"),
            since: since.parse()?,
        })
    }
}

impl Shape {
    fn parse(text: &str) -> Result<Self> {
        Ok(if let Some(of) = text.strip_prefix('*') {
            Self::Pointer(Scalar::parse(of)?)
        } else if let Some(of) = text.strip_prefix("[]") {
            Self::List(Scalar::parse(of)?)
        } else if let Some(of) = text.strip_prefix("map[string]") {
            Self::Map(Scalar::parse(of)?)
        } else {
            Self::Value(Scalar::parse(text)?)
        })
    }

    pub(super) fn scalar(&self) -> &Scalar {
        let (Self::Value(scalar) | Self::Pointer(scalar) | Self::List(scalar) | Self::Map(scalar)) = self;
        scalar
    }
}

impl Scalar {
    fn parse(text: &str) -> Result<Self> {
        Ok(match text {
            "string" => Self::Text,
            "bool" => Self::Bool,
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "float64" => Self::Double,
            "bytes" => Self::Bytes,
            path if path.contains('/') && !path.contains(['*', '[']) => Self::Message(path.to_owned()),
            other => bail!("`{other}` is a type that the wire format of Kubernetes does not have"),
        })
    }
}
