//! Which columns a kind has, and what is in them: as kubectl shows the kinds of Kubernetes.

mod access;
mod batch;
mod cluster;
mod config;
mod network;
mod path;
mod pods;
mod storage;
mod workloads;

use std::borrow::Cow;

use super::View;

pub(crate) use path::JsonPath;

/// One column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: Cow<'static, str>,
    /// Shown with `-o wide` only.
    pub(crate) wide: bool,
    pub(crate) cell: Cell,
}

/// Where a cell's text comes from.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// Made from the object.
    Made(fn(&View<'_>) -> String),
    /// Found in the object.
    Found(JsonPath),
    /// Found in the object, and a time: how long ago it was.
    FoundAge(JsonPath),
    /// Where the name stands; kubectl's name of an object may have its resource before it.
    Name,
}

impl Column {
    const fn narrow(name: &'static str, cell: fn(&View<'_>) -> String) -> Self {
        Self { name: Cow::Borrowed(name), wide: false, cell: Cell::Made(cell) }
    }

    const fn wide(name: &'static str, cell: fn(&View<'_>) -> String) -> Self {
        Self { name: Cow::Borrowed(name), wide: true, cell: Cell::Made(cell) }
    }

    /// The text of the cell; `None` where the name stands.
    pub(crate) fn text(&self, view: &View<'_>) -> Option<String> {
        match &self.cell {
            Cell::Made(make) => Some(make(view)),
            Cell::Found(path) => Some(path.text(view)),
            Cell::FoundAge(path) => Some(path.age(view)),
            Cell::Name => None,
        }
    }
}

/// Where the name stands.
pub(crate) const NAME: Column = Column { name: Cow::Borrowed("NAME"), wide: false, cell: Cell::Name };
/// How old the object is.
pub(crate) const AGE: Column = Column::narrow("AGE", |view| view.age("/metadata/creationTimestamp"));
/// When the object was created.
const CREATED: Column = Column::narrow("CREATED AT", |view| view.cell("/metadata/creationTimestamp"));

/// The columns of a kind that Kubernetes has its own for.
pub(crate) fn columns_of(group: &str, plural: &str) -> Option<&'static [Column]> {
    let found: &[Column] = match (group, plural) {
        ("", "pods") => pods::PODS,
        ("", "podtemplates") => pods::POD_TEMPLATES,
        ("apps", "deployments") => workloads::DEPLOYMENTS,
        ("apps", "replicasets") | ("", "replicationcontrollers") => workloads::REPLICA_SETS,
        ("apps", "statefulsets") => workloads::STATEFUL_SETS,
        ("apps", "daemonsets") => workloads::DAEMON_SETS,
        ("apps", "controllerrevisions") => workloads::CONTROLLER_REVISIONS,
        ("autoscaling", "horizontalpodautoscalers") => workloads::AUTOSCALERS,
        ("policy", "poddisruptionbudgets") => workloads::DISRUPTION_BUDGETS,
        ("batch", "jobs") => batch::JOBS,
        ("batch", "cronjobs") => batch::CRON_JOBS,
        ("", "services") => network::SERVICES,
        ("", "endpoints") => network::ENDPOINTS,
        ("discovery.k8s.io", "endpointslices") => network::ENDPOINT_SLICES,
        ("networking.k8s.io", "ingresses") => network::INGRESSES,
        ("networking.k8s.io", "ingressclasses") => network::INGRESS_CLASSES,
        ("networking.k8s.io", "networkpolicies") => network::POLICIES,
        ("networking.k8s.io", "ipaddresses") => network::IP_ADDRESSES,
        ("networking.k8s.io", "servicecidrs") => network::SERVICE_CIDRS,
        ("", "configmaps") => config::CONFIG_MAPS,
        ("", "secrets") => config::SECRETS,
        ("", "serviceaccounts") => config::SERVICE_ACCOUNTS,
        ("", "events") | ("events.k8s.io", "events") => config::EVENTS,
        ("", "resourcequotas") => config::QUOTAS,
        ("", "limitranges") => CREATED_ONLY,
        ("", "nodes") => cluster::NODES,
        ("", "namespaces") => cluster::NAMESPACES,
        ("coordination.k8s.io", "leases") => cluster::LEASES,
        ("node.k8s.io", "runtimeclasses") => cluster::RUNTIME_CLASSES,
        ("scheduling.k8s.io", "priorityclasses") => cluster::PRIORITY_CLASSES,
        ("apiregistration.k8s.io", "apiservices") => cluster::API_SERVICES,
        ("flowcontrol.apiserver.k8s.io", "flowschemas") => cluster::FLOW_SCHEMAS,
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations") => cluster::PRIORITY_LEVELS,
        ("", "persistentvolumes") => storage::VOLUMES,
        ("", "persistentvolumeclaims") => storage::CLAIMS,
        ("storage.k8s.io", "storageclasses") => storage::CLASSES,
        ("storage.k8s.io", "volumeattachments") => storage::ATTACHMENTS,
        ("storage.k8s.io", "csinodes") => storage::CSI_NODES,
        ("storage.k8s.io", "csidrivers") => storage::CSI_DRIVERS,
        ("rbac.authorization.k8s.io", "roles" | "clusterroles")
        | ("apiextensions.k8s.io", "customresourcedefinitions") => CREATED_ONLY,
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => access::BINDINGS,
        ("certificates.k8s.io", "certificatesigningrequests") => access::SIGNING_REQUESTS,
        (
            "admissionregistration.k8s.io",
            "mutatingwebhookconfigurations" | "validatingwebhookconfigurations",
        ) => access::WEBHOOKS,
        ("admissionregistration.k8s.io", "validatingadmissionpolicies") => access::ADMISSION_POLICIES,
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings") => access::POLICY_BINDINGS,
        _ => return None,
    };
    Some(found)
}

/// Name and age: what every kind has.
pub(crate) const DEFAULT: &[Column] = &[NAME, AGE];
const CREATED_ONLY: &[Column] = &[NAME, CREATED];
