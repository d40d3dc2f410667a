//! The table of resources against a real cluster.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::{BTreeSet, HashSet};

use common::{data, list};
use kubestore_codec::{Resource, ResourceScope, ResourceTable, Unstructured};
use kubestore_core::GroupResource;

fn named(name: &str) -> String {
    ResourceTable::builtin().by_name(name).unwrap().group_resource().to_string()
}

#[test]
fn every_key_of_a_real_cluster_is_understood() {
    let cluster = data(include_str!("data/cluster-objects.json"));
    let definition = Unstructured::try_from(cluster["definition"].clone()).unwrap();
    let mut table = ResourceTable::builtin().clone();
    table.insert(Resource::from_crd(&definition).unwrap());
    let mut kept = HashSet::new();
    for key in include_str!("data/cluster-keys.txt").lines() {
        let found = table.locate("/registry", key).unwrap();
        let resource = found.resource.unwrap();
        assert_eq!(resource.group_resource(), found.group_resource);
        let back = resource.key(found.namespace.as_deref(), &found.name).unwrap();
        assert_eq!(format!("/registry{back}"), key);
        // Without the definition, only the resource itself is unknown.
        let plain = ResourceTable::builtin().locate("/registry/", key).unwrap();
        assert_eq!(plain.resource.is_none(), resource.is_custom(), "{key}");
        assert_eq!(
            (plain.group_resource, plain.namespace, plain.name.clone()),
            (found.group_resource, found.namespace, found.name)
        );
        kept.insert(key.to_owned());
    }
    let mut seen = 0;
    for object in list(&cluster, "objects") {
        let text = |name: &str| object[name].as_str();
        let resource = table.by_name(text("resource").unwrap()).unwrap();
        assert_eq!(resource.group_resource().to_string(), text("resource").unwrap());
        assert_eq!(resource.kind(), text("kind").unwrap());
        let of_kind = table.by_kind(text("apiVersion").unwrap(), text("kind").unwrap()).unwrap();
        assert_eq!(of_kind, resource);
        let version = text("apiVersion").unwrap().rsplit('/').next().unwrap();
        assert!(resource.versions().iter().any(|served| served == version), "{object}");
        if resource.is_stored() {
            let key = resource.key(text("namespace"), text("name").unwrap()).unwrap();
            assert!(kept.contains(&format!("/registry{key}")), "{key}");
            seen += 1;
        } else {
            assert_eq!(resource.plural(), "componentstatuses");
        }
    }
    // Events are listed under two groups; a port range and a lease among API servers are not listed.
    assert_eq!(seen, kept.len() + 1 - 2);
}

#[test]
fn names_are_taken_as_kubectl_takes_them() {
    for (name, resource) in [
        ("po", "pods"),
        ("pods", "pods"),
        ("pod", "pods"),
        ("Pod", "pods"),
        ("PODS", "pods"),
        ("pods.v1", "pods"),
        ("deploy", "deployments.apps"),
        ("deploy.apps", "deployments.apps"),
        ("Deployment", "deployments.apps"),
        ("deployments.apps", "deployments.apps"),
        ("deployments.v1.apps", "deployments.apps"),
        ("Deployment.v1.apps", "deployments.apps"),
        ("ev", "events"),
        ("events", "events"),
        ("events.events.k8s.io", "events.events.k8s.io"),
        ("events.v1.events.k8s.io", "events.events.k8s.io"),
        ("ep", "endpoints"),
        ("endpoints", "endpoints"),
        ("Endpoints", "endpoints"),
        ("ingresses.networking", "ingresses.networking.k8s.io"),
        ("ing", "ingresses.networking.k8s.io"),
        ("crds", "customresourcedefinitions.apiextensions.k8s.io"),
        ("hpa", "horizontalpodautoscalers.autoscaling"),
        ("netpol", "networkpolicies.networking.k8s.io"),
        ("csr", "certificatesigningrequests.certificates.k8s.io"),
        ("pc", "priorityclasses.scheduling.k8s.io"),
        ("psp", "podsecuritypolicies.policy"),
        ("ranges", "ranges"),
    ] {
        assert_eq!(named(name), resource, "{name}");
    }
    for unknown in ["", "x", "pods.apps", "deployments.v9.apps", "pods.v2", "deployments.extensions"] {
        assert_eq!(ResourceTable::builtin().by_name(unknown), None, "{unknown}");
    }
}

#[test]
fn names_in_a_group_are_unique_and_every_name_finds_its_resource() {
    let table = ResourceTable::builtin();
    let mut names = HashSet::new();
    for resource in table.iter() {
        let full = resource.group_resource();
        assert_eq!(table.by_group_resource(&full), Some(resource));
        for name in [resource.plural(), resource.singular()].into_iter().collect::<BTreeSet<_>>() {
            if !resource.is_internal() {
                assert!(names.insert((resource.group(), name)), "{full}");
                assert_eq!(
                    table.by_name(&GroupResource::new(resource.group(), name).to_string()),
                    Some(resource)
                );
            }
        }
        assert!(resource.short_names().iter().all(|short| names.insert((resource.group(), short))));
        assert!(!resource.versions().is_empty());
    }
}

#[test]
fn the_kinds_of_kubernetes_are_all_there() {
    let mut table = ResourceTable::builtin().iter().filter(|resource| !resource.is_internal()).count();
    for line in include_str!("data/kinds-1.36.txt").lines() {
        let [group, kind, plural, scope, versions] = *line.split(' ').collect::<Vec<_>>() else {
            panic!("{line}")
        };
        let group = if group == "core" { "" } else { group };
        let name = GroupResource::new(group, plural);
        let resource = ResourceTable::builtin().by_group_resource(&name).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(resource.kind(), kind);
        assert_eq!(resource.is_namespaced(), scope == "namespaced", "{line}");
        let known: BTreeSet<_> = versions.split(',').collect();
        assert_eq!(resource.versions().iter().map(String::as_str).collect::<BTreeSet<_>>(), known, "{line}");
        let stored = resource.storage_version();
        assert!(known.contains(stored) || resource.plural() == "customresourcedefinitions", "{line}");
        table -= 1;
    }
    // Pod security policies are there no more.
    assert_eq!(table, 1);
}

#[test]
fn historical_places_are_kept() {
    for (name, namespace, key) in [
        ("nodes", None, "/minions/a"),
        ("services", Some("n"), "/services/specs/n/a"),
        ("endpoints", Some("n"), "/services/endpoints/n/a"),
        ("rc", Some("n"), "/controllers/n/a"),
        ("ingresses", Some("n"), "/ingress/n/a"),
        ("psp", None, "/podsecuritypolicy/a"),
        ("apiservices", None, "/apiregistration.k8s.io/apiservices/a"),
        ("crd", None, "/apiextensions.k8s.io/customresourcedefinitions/a"),
        ("events.events.k8s.io", Some("n"), "/events/n/a"),
        ("clusterroles", None, "/clusterroles/a"),
        ("secrets", Some("n"), "/secrets/n/a"),
        ("masterleases", None, "/masterleases/a"),
    ] {
        let table = ResourceTable::builtin();
        let resource = table.by_name(name).unwrap();
        assert_eq!(resource.key(namespace, "a").unwrap(), key);
        assert_eq!(resource.list_key(None).unwrap(), resource.key_prefix().unwrap());
        let located = table.locate("/registry/", &format!("/registry{key}")).unwrap();
        assert_eq!(located.name, "a");
        assert_eq!(located.resource.unwrap().kind(), resource.kind());
    }
}

#[test]
fn stored_versions_are_those_of_the_api_server() {
    for (name, version) in [
        ("po", "v1"),
        ("hpa", "autoscaling/v2"),
        ("ing", "networking.k8s.io/v1"),
        ("crd", "apiextensions.k8s.io/v1beta1"),
        ("leasecandidates", "coordination.k8s.io/v1beta1"),
        ("mutatingadmissionpolicies", "admissionregistration.k8s.io/v1beta1"),
        ("resourceclaims", "resource.k8s.io/v1"),
    ] {
        assert_eq!(ResourceTable::builtin().by_name(name).unwrap().api_version(), version);
    }
}

#[test]
fn objects_without_a_place_get_no_key() {
    let key = |resource: &str, namespace, name| {
        ResourceTable::builtin().by_name(resource).unwrap().key(namespace, name).unwrap_err().to_string()
    };
    assert_eq!(key("pods", None, "a"), "pods are in namespaces: give one");
    assert_eq!(key("deploy", Some(""), "a"), "deployments.apps are in namespaces: give one");
    assert_eq!(key("nodes", Some("n"), "a"), "nodes are not in namespaces, but \"n\" was given");
    assert_eq!(
        key("componentstatuses", None, "a"),
        "componentstatuses are answered by the API server and not stored"
    );
    for (namespace, name, what) in [
        ("n", "", "\"\" is no name"),
        ("n", "a/b", "\"a/b\" is no name"),
        ("n", "..", "\"..\" is no name"),
        ("n", "50%", "\"50%\" is no name"),
        ("a/b", "a", "\"a/b\" is no namespace"),
        (".", "a", "\".\" is no namespace"),
    ] {
        let message = key("pods", Some(namespace), name);
        assert_eq!(message, format!("{what}: it must not be empty, `.` or `..`, nor contain `/` or `%`"));
    }
}

#[test]
fn keys_of_other_shapes_are_no_objects() {
    let table = ResourceTable::builtin();
    for key in [
        "/registry/pods",
        "/registry/pods/a",
        "/registry/pods/n/a/x",
        "/registry/pods/n/",
        "/registry/pods//a",
        "/registry/minions/n/a",
        "/registry/services/n/a/x",
        "/registryx/pods/n/a",
        "/other/pods/n/a",
        "/registry/",
        "/registry",
        "compact_rev_key",
        "",
    ] {
        assert_eq!(table.locate("/registry", key), None, "{key}");
    }
    let unknown = table.locate("", "/fruits/n/a").unwrap();
    assert_eq!((unknown.resource, unknown.group_resource.to_string()), (None, "fruits".to_owned()));
    let unknown = table.locate("/a/b/", "/a/b/g.example/fruits/a").unwrap();
    assert_eq!(
        (unknown.namespace, unknown.group_resource.to_string()),
        (None, "fruits.g.example".to_owned())
    );
}

#[test]
fn custom_resources_come_from_definitions() {
    let definition = |text: &str| {
        Unstructured::try_from(serde_json::from_str::<serde_json::Value>(text).unwrap()).unwrap()
    };
    let crd = definition(
        r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"x"},"spec":{
        "group":"shop.example.com","scope":"Cluster","names":{"kind":"Widget","plural":"widgets","singular":"wid",
        "shortNames":["w"],"categories":["all"]},"versions":[{"name":"v2","served":true,"storage":false},
        {"name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".spec.color"}]},
        {"name":"v0","served":false,"storage":false}]}}"#,
    );
    let widgets = Resource::from_crd(&crd).unwrap();
    assert_eq!((widgets.api_version().as_str(), widgets.is_namespaced()), ("shop.example.com/v1", false));
    assert_eq!(widgets.versions(), ["v2", "v1"]);
    let fields: Vec<_> = widgets.selectable_fields().collect();
    assert_eq!(fields, ["metadata.name", "spec.color"]);
    assert!(!widgets.has_selectable_field("metadata.namespace"));
    let mut table = ResourceTable::builtin().clone();
    table.insert(widgets.clone());
    table.insert(widgets);
    for name in
        ["w", "wid", "Widget", "widgets.shop.example.com", "widgets.v2.shop.example.com", "widgets.shop"]
    {
        assert_eq!(table.by_name(name).unwrap().kind(), "Widget", "{name}");
    }
    assert_eq!(table.category("all").filter(|resource| resource.is_custom()).count(), 1);

    let old = definition(
        r#"{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition","spec":{
        "group":"shop.example.com","version":"v1","names":{"kind":"Widget","plural":"widgets"}}}"#,
    );
    let old = Resource::from_crd(&old).unwrap();
    assert_eq!(
        (old.versions(), old.scope(), old.singular()),
        (&["v1".to_owned()][..], ResourceScope::Namespaced, "widget")
    );

    let mut broken = crd;
    broken.remove_pointer("/spec/group");
    assert_eq!(
        Resource::from_crd(&broken).unwrap_err().to_string(),
        "custom resource definition \"x\": `spec.group` is missing"
    );
    broken.set_pointer("/spec/group", "shop").unwrap();
    let error = Resource::from_crd(&broken).unwrap_err();
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "group \"shop\" of a custom resource: it has to be a lower-case domain name with a dot, such as example.com"
    );
    let pod = Unstructured::new("v1", "Pod", "", "p");
    assert!(Resource::from_crd(&pod).unwrap_err().to_string().contains("another kind"));
}

#[test]
fn plurals_are_guessed_as_kubectl_does() {
    for (kind, plural) in [("Widget", "widgets"), ("Proxy", "proxies"), ("GatewayClass", "gatewayclasses")] {
        let guess = Resource::guess("x.example.com/v1", kind, ResourceScope::Cluster).unwrap();
        assert_eq!(guess.plural(), plural);
        assert_eq!(guess.key(None, "a").unwrap(), format!("/x.example.com/{plural}/a"));
    }
    assert!(Resource::guess("v1", "Pod", ResourceScope::Namespaced).is_err());
    for (group, version, kind, plural) in [
        ("a.b/c", "v1", "K", "ks"),
        ("a..b", "v1", "K", "ks"),
        ("a.b", "", "K", "ks"),
        ("a.b", "v1", "K/", "ks"),
        ("a.b", "v1", "K", "Ks"),
    ] {
        assert!(Resource::custom(group, version, kind, plural, ResourceScope::Cluster).is_err());
    }
}

#[test]
fn fields_of_selectors_are_known() {
    let pods = ResourceTable::builtin().by_name("po").unwrap();
    assert!(pods.has_selectable_field("spec.nodeName") && pods.has_selectable_field("metadata.namespace"));
    assert!(!pods.has_selectable_field("spec.image"));
    let nodes = ResourceTable::builtin().by_name("no").unwrap();
    assert_eq!(nodes.selectable_fields().collect::<Vec<_>>(), ["metadata.name", "spec.unschedulable"]);
}
