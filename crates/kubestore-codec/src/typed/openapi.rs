//! Where types of `k8s-openapi` keep their resource version.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubestore_core::{BoxError, Found, InvalidResourceVersion, Object, Versioner, Wanted};
use serde::Serialize;

use super::object_meta;

/// The [`Versioner`] of types of `k8s-openapi`.
///
/// Fields of selectors are paths in the serialised object.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct K8sOpenapiVersioner;

impl<T: Object + k8s_openapi::Metadata<Ty = ObjectMeta> + Serialize> Versioner<T> for K8sOpenapiVersioner {
    fn resource_version(&self, object: &T) -> Result<u64, InvalidResourceVersion> {
        object_meta::resource_version(object.metadata())
    }

    fn set_resource_version(&self, object: &mut T, resource_version: u64) -> Result<(), BoxError> {
        object_meta::set_resource_version(object.metadata_mut(), resource_version);
        Ok(())
    }

    fn prepare_for_storage(&self, object: &mut T) -> Result<(), BoxError> {
        object_meta::prepare_for_storage(object.metadata_mut());
        Ok(())
    }

    fn uid<'a>(&self, object: &'a T) -> Cow<'a, str> {
        object_meta::uid(object.metadata())
    }

    fn find<'a>(&self, object: &'a T, wanted: &Wanted) -> Found<'a> {
        object_meta::find(object, object.metadata(), wanted)
    }
}
