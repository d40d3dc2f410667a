//! The resources of Kubernetes 1.36, by group, groups in the order in which names are looked up.

use super::row::{Row, cluster, namespaced};

pub(super) const GROUPS: &[(&str, &[Row])] = &[
    ("", CORE),
    ("apiregistration.k8s.io", APIREGISTRATION),
    ("apps", APPS),
    ("events.k8s.io", EVENTS),
    ("authentication.k8s.io", AUTHENTICATION),
    ("authorization.k8s.io", AUTHORIZATION),
    ("autoscaling", AUTOSCALING),
    ("batch", BATCH),
    ("certificates.k8s.io", CERTIFICATES),
    ("networking.k8s.io", NETWORKING),
    ("policy", POLICY),
    ("rbac.authorization.k8s.io", RBAC),
    ("storage.k8s.io", STORAGE),
    ("admissionregistration.k8s.io", ADMISSIONREGISTRATION),
    ("apiextensions.k8s.io", APIEXTENSIONS),
    ("scheduling.k8s.io", SCHEDULING),
    ("coordination.k8s.io", COORDINATION),
    ("node.k8s.io", NODE),
    ("discovery.k8s.io", DISCOVERY),
    ("flowcontrol.apiserver.k8s.io", FLOWCONTROL),
    ("internal.apiserver.k8s.io", INTERNAL),
    ("resource.k8s.io", RESOURCE),
    ("storagemigration.k8s.io", STORAGEMIGRATION),
    ("policy", REMOVED),
    ("", BOOKKEEPING),
];

const CORE: &[Row] = &[
    namespaced("Binding", "bindings").nowhere(),
    cluster("ComponentStatus", "componentstatuses").short(&["cs"]).nowhere(),
    namespaced("ConfigMap", "configmaps").short(&["cm"]),
    namespaced("Endpoints", "endpoints").short(&["ep"]).under("services/endpoints"),
    namespaced("Event", "events").short(&["ev"]).fields(&[
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ]),
    namespaced("LimitRange", "limitranges").short(&["limits"]),
    cluster("Namespace", "namespaces").short(&["ns"]).fields(&["status.phase"]),
    cluster("Node", "nodes").short(&["no"]).under("minions").fields(&["spec.unschedulable"]),
    namespaced("PersistentVolumeClaim", "persistentvolumeclaims").short(&["pvc"]),
    cluster("PersistentVolume", "persistentvolumes").short(&["pv"]),
    namespaced("Pod", "pods").short(&["po"]).all().fields(&[
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ]),
    namespaced("PodTemplate", "podtemplates"),
    namespaced("ReplicationController", "replicationcontrollers")
        .short(&["rc"])
        .all()
        .under("controllers")
        .fields(&["status.replicas"]),
    namespaced("ResourceQuota", "resourcequotas").short(&["quota"]),
    namespaced("Secret", "secrets").fields(&["type"]),
    namespaced("ServiceAccount", "serviceaccounts").short(&["sa"]),
    namespaced("Service", "services")
        .short(&["svc"])
        .all()
        .under("services/specs")
        .fields(&["spec.clusterIP", "spec.type"]),
];

const APIREGISTRATION: &[Row] = &[cluster("APIService", "apiservices").api_extension().under_group()];

const APPS: &[Row] = &[
    namespaced("ControllerRevision", "controllerrevisions"),
    namespaced("DaemonSet", "daemonsets").short(&["ds"]).all(),
    namespaced("Deployment", "deployments").short(&["deploy"]).all(),
    namespaced("ReplicaSet", "replicasets").short(&["rs"]).all().fields(&["status.replicas"]),
    namespaced("StatefulSet", "statefulsets").short(&["sts"]).all(),
];

/// Kept as events of the core group.
const EVENTS: &[Row] = &[namespaced("Event", "events").short(&["ev"]).fields(&[
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reason",
    "reportingController",
    "type",
])];

const AUTHENTICATION: &[Row] = &[
    cluster("SelfSubjectReview", "selfsubjectreviews").nowhere(),
    cluster("TokenReview", "tokenreviews").nowhere(),
];

const AUTHORIZATION: &[Row] = &[
    namespaced("LocalSubjectAccessReview", "localsubjectaccessreviews").nowhere(),
    cluster("SelfSubjectAccessReview", "selfsubjectaccessreviews").nowhere(),
    cluster("SelfSubjectRulesReview", "selfsubjectrulesreviews").nowhere(),
    cluster("SubjectAccessReview", "subjectaccessreviews").nowhere(),
];

const AUTOSCALING: &[Row] = &[namespaced("HorizontalPodAutoscaler", "horizontalpodautoscalers")
    .short(&["hpa"])
    .all()
    .versions(&["v2", "v1"])];

const BATCH: &[Row] = &[
    namespaced("CronJob", "cronjobs").short(&["cj"]).all(),
    namespaced("Job", "jobs").all().fields(&["status.successful"]),
];

const CERTIFICATES: &[Row] = &[
    cluster("CertificateSigningRequest", "certificatesigningrequests")
        .short(&["csr"])
        .fields(&["spec.signerName"]),
    cluster("ClusterTrustBundle", "clustertrustbundles")
        .versions(&["v1beta1", "v1alpha1"])
        .fields(&["spec.signerName"]),
    namespaced("PodCertificateRequest", "podcertificaterequests").versions(&["v1beta1"]).fields(&[
        "spec.signerName",
        "spec.podName",
        "spec.nodeName",
    ]),
];

const NETWORKING: &[Row] = &[
    cluster("IngressClass", "ingressclasses"),
    namespaced("Ingress", "ingresses").short(&["ing"]).under("ingress"),
    cluster("IPAddress", "ipaddresses").short(&["ip"]).versions(&["v1", "v1beta1"]),
    namespaced("NetworkPolicy", "networkpolicies").short(&["netpol"]),
    cluster("ServiceCIDR", "servicecidrs").versions(&["v1", "v1beta1"]),
];

const POLICY: &[Row] = &[namespaced("PodDisruptionBudget", "poddisruptionbudgets").short(&["pdb"])];

const RBAC: &[Row] = &[
    cluster("ClusterRoleBinding", "clusterrolebindings"),
    cluster("ClusterRole", "clusterroles"),
    namespaced("RoleBinding", "rolebindings"),
    namespaced("Role", "roles"),
];

const STORAGE: &[Row] = &[
    cluster("CSIDriver", "csidrivers"),
    cluster("CSINode", "csinodes"),
    namespaced("CSIStorageCapacity", "csistoragecapacities"),
    cluster("StorageClass", "storageclasses").short(&["sc"]),
    cluster("VolumeAttachment", "volumeattachments"),
    cluster("VolumeAttributesClass", "volumeattributesclasses").short(&["vac"]).versions(&["v1", "v1beta1"]),
];

const ADMISSIONREGISTRATION: &[Row] = &[
    cluster("MutatingAdmissionPolicy", "mutatingadmissionpolicies")
        .api_extension()
        .versions(&["v1", "v1beta1", "v1alpha1"])
        .stored("v1beta1"),
    cluster("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings")
        .api_extension()
        .versions(&["v1", "v1beta1", "v1alpha1"])
        .stored("v1beta1"),
    cluster("MutatingWebhookConfiguration", "mutatingwebhookconfigurations").api_extension(),
    cluster("ValidatingAdmissionPolicy", "validatingadmissionpolicies").api_extension(),
    cluster("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings").api_extension(),
    cluster("ValidatingWebhookConfiguration", "validatingwebhookconfigurations").api_extension(),
];

/// Served as v1 alone, and still kept as v1beta1.
const APIEXTENSIONS: &[Row] = &[cluster("CustomResourceDefinition", "customresourcedefinitions")
    .short(&["crd", "crds"])
    .api_extension()
    .stored("v1beta1")
    .under_group()];

const SCHEDULING: &[Row] = &[
    cluster("PriorityClass", "priorityclasses").short(&["pc"]),
    namespaced("PodGroup", "podgroups").versions(&["v1alpha2"]),
    namespaced("Workload", "workloads").versions(&["v1alpha2"]),
];

const COORDINATION: &[Row] = &[
    namespaced("Lease", "leases"),
    namespaced("LeaseCandidate", "leasecandidates").versions(&["v1beta1", "v1alpha2"]),
];

const NODE: &[Row] = &[cluster("RuntimeClass", "runtimeclasses")];

const DISCOVERY: &[Row] = &[namespaced("EndpointSlice", "endpointslices")];

const FLOWCONTROL: &[Row] = &[
    cluster("FlowSchema", "flowschemas"),
    cluster("PriorityLevelConfiguration", "prioritylevelconfigurations"),
];

const INTERNAL: &[Row] = &[cluster("StorageVersion", "storageversions").versions(&["v1alpha1"])];

const RESOURCE: &[Row] = &[
    cluster("DeviceClass", "deviceclasses").versions(&["v1", "v1beta2", "v1beta1"]),
    cluster("DeviceTaintRule", "devicetaintrules").versions(&["v1beta2", "v1alpha3"]).stored("v1alpha3"),
    namespaced("ResourceClaim", "resourceclaims").versions(&["v1", "v1beta2", "v1beta1"]),
    namespaced("ResourceClaimTemplate", "resourceclaimtemplates").versions(&["v1", "v1beta2", "v1beta1"]),
    cluster("ResourcePoolStatusRequest", "resourcepoolstatusrequests").versions(&["v1alpha3"]),
    cluster("ResourceSlice", "resourceslices")
        .versions(&["v1", "v1beta2", "v1beta1"])
        .fields(&["spec.nodeName", "spec.driver"]),
];

const STORAGEMIGRATION: &[Row] =
    &[cluster("StorageVersionMigration", "storageversionmigrations").versions(&["v1beta1"])];

/// Gone since 1.25, but old clusters may still have some.
const REMOVED: &[Row] = &[cluster("PodSecurityPolicy", "podsecuritypolicies")
    .short(&["psp"])
    .versions(&["v1beta1"])
    .under("podsecuritypolicy")];

/// What API servers keep for themselves.
const BOOKKEEPING: &[Row] = &[
    cluster("RangeAllocation", "ranges").internal(),
    cluster("Endpoints", "masterleases").internal(),
    cluster("Endpoints", "peerserverleases").internal(),
];
