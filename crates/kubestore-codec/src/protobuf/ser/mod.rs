//! From any type of serde to protobuf, byte for byte as Kubernetes writes it.

mod compound;
mod raw;
mod sniff;
mod text;
mod tree;
mod value;

use serde::Serialize;

use self::{sniff::TypeMeta, tree::Tree, value::ValueSerializer};
use super::{
    envelope::{Envelope, check_type},
    error::ProtobufError,
    release::Release,
    schema::MessageType,
};

/// The stored value of an object that serialises its `apiVersion` and `kind`, as the types of `k8s-openapi` do: what
/// Kubernetes would write for the same content, envelope included.
///
/// The object is serialised in the shape that it has in JSON, its members in any order. Quantities are brought into their
/// canonical form; times lose what Kubernetes does not keep of them.
///
/// # Errors
/// The object has no type, or one that is not a kind of Kubernetes; it has a member that its kind does not have, or one of
/// another type.
pub fn to_vec<T: Serialize + ?Sized>(object: &T) -> Result<Vec<u8>, ProtobufError> {
    Serializer::new().to_vec(object)
}

/// The same for an object that may not serialise its type.
///
/// # Errors
/// As [`to_vec`]. The object serialises another type.
pub fn to_vec_as<T: Serialize + ?Sized>(
    api_version: &str,
    kind: &str,
    object: &T,
) -> Result<Vec<u8>, ProtobufError> {
    Serializer::new().to_vec_as(api_version, kind, object)
}

/// Writes objects as a given version of Kubernetes does.
///
/// ```
/// use kubestore_codec::protobuf::{Release, Serializer};
/// use serde_json::json;
///
/// let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "status": {"conditions": [{}]}});
/// let old = Serializer::new().release(Release::of_minor(31)).to_vec(&pod)?;
/// // A condition has a generation since 1.33, which is written even where it is zero.
/// assert_ne!(Serializer::new().to_vec(&pod)?.len(), old.len());
/// # Ok::<(), kubestore_codec::protobuf::ProtobufError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Serializer {
    release: Release,
}

impl Serializer {
    /// As the latest version does.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses the version.
    #[must_use]
    pub fn release(mut self, release: Release) -> Self {
        self.release = release;
        self
    }

    /// See the function [`to_vec`].
    ///
    /// # Errors
    /// As there.
    pub fn to_vec<T: Serialize + ?Sized>(self, object: &T) -> Result<Vec<u8>, ProtobufError> {
        let TypeMeta { api_version, kind } = sniff::type_of(object)?;
        self.to_vec_as(&api_version, &kind, object)
    }

    /// See the function [`to_vec_as`].
    ///
    /// # Errors
    /// As there.
    pub fn to_vec_as<T: Serialize + ?Sized>(
        self,
        api_version: &str,
        kind: &str,
        object: &T,
    ) -> Result<Vec<u8>, ProtobufError> {
        check_type(api_version, kind)?;
        let of = MessageType::known(api_version, kind)?;
        let mut tree = Tree::new(self.release);
        object.serialize(ValueSerializer::of_object(&mut tree, Object { api_version, kind, of }))?;
        Ok(Envelope::new(api_version, kind, &[]).wrap(tree.len(), |out| tree.write(out)))
    }
}

/// The object itself, whose type is known already.
#[derive(Clone, Copy)]
struct Object<'a> {
    api_version: &'a str,
    kind: &'a str,
    of: MessageType,
}
