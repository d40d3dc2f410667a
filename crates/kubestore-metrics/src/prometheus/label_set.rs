//! Which Kubernetes release's labels are used.

use std::borrow::Cow;

use crate::{
    ResourceLabels,
    names::{LABEL_GROUP, LABEL_OPERATION, LABEL_RESOURCE, LABEL_TYPE},
};

/// How metrics name the resource. Kubernetes changed that in release 1.34, so dashboards fit one or the other.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LabelSet {
    /// As release 1.31: `resource.group` in one label, `type` on requests and `resource` elsewhere.
    #[default]
    Combined,
    /// As release 1.34 and later: `group` and `resource`.
    GroupResource,
}

impl LabelSet {
    /// Labels of metrics about requests.
    pub(super) fn request_labels(self) -> &'static [&'static str] {
        match self {
            Self::Combined => &[LABEL_OPERATION, LABEL_TYPE],
            Self::GroupResource => &[LABEL_OPERATION, LABEL_GROUP, LABEL_RESOURCE],
        }
    }

    /// Labels of metrics about a resource.
    pub(super) fn resource_labels(self) -> &'static [&'static str] {
        match self {
            Self::Combined => &[LABEL_RESOURCE],
            Self::GroupResource => &[LABEL_GROUP, LABEL_RESOURCE],
        }
    }

    /// Hands the values of [`resource_labels`](Self::resource_labels) to `then`.
    pub(super) fn with_resource<R>(self, resource: ResourceLabels<'_>, then: impl FnOnce(&[&str]) -> R) -> R {
        match self {
            Self::Combined => then(&[&resource.combined()]),
            Self::GroupResource => then(&[resource.group, resource.resource]),
        }
    }

    /// Hands the values of [`request_labels`](Self::request_labels) to `then`.
    pub(super) fn with_request<R>(
        self,
        operation: &str,
        resource: ResourceLabels<'_>,
        then: impl FnOnce(&[&str]) -> R,
    ) -> R {
        match self {
            Self::Combined => then(&[operation, &resource.combined()]),
            Self::GroupResource => then(&[operation, resource.group, resource.resource]),
        }
    }

    /// Hands the values of the transformation labels to `then`: `resource` is among them since 1.34.
    pub(super) fn with_transformation<R>(
        self,
        resource: Option<ResourceLabels<'_>>,
        rest: [&str; 3],
        then: impl FnOnce(&[&str]) -> R,
    ) -> R {
        let [direction, prefix, status] = rest;
        match self {
            Self::Combined => then(&rest),
            Self::GroupResource => {
                let resource = resource.map_or(Cow::Borrowed(""), ResourceLabels::combined);
                then(&[&resource, direction, prefix, status])
            }
        }
    }
}
