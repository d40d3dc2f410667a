//! Protobuf that Kubernetes would not write: other orders, types of their own, and every way of being wrong.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Random, base64, data, list};
use kubestore_codec::protobuf::{
    Envelope, Metadata, ProtobufError, ProtobufErrorKind as Kind, UnstructuredProtobufCodec, from_slice,
    to_vec, to_vec_as, unknown_fields,
};
use kubestore_core::{Codec as _, Wanted};
use serde_json::{Value, json};

/// A field of bytes.
fn field(number: u32, bytes: &[u8]) -> Vec<u8> {
    [varint(u64::from(number) << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// A field with a number.
fn number(number: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(number) << 3), varint(value)].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
    out
}

fn read(api_version: &str, kind: &str, message: &[u8]) -> Result<Value, ProtobufError> {
    from_slice(&Envelope::new(api_version, kind, message).to_vec())
}

#[test]
fn fields_may_come_in_any_order() {
    let [spec, status, name] =
        [field(2, &field(10, b"n1")), field(3, &field(1, b"Running")), field(1, &field(1, b"p"))];
    let in_order = read("v1", "Pod", &[name.clone(), spec.clone(), status.clone()].concat()).unwrap();
    let expected = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "n1", "containers": null},
        "status": {"phase": "Running"},
    });
    assert_eq!(in_order, expected);
    assert_eq!(read("v1", "Pod", &[status, spec, name].concat()).unwrap(), expected);
}

#[test]
fn of_several_scalars_the_last_counts_and_messages_are_merged() {
    let spec = |inner: &[u8]| field(2, inner);
    let security = |user: u64, group: Option<u64>| {
        field(14, &[number(2, user), group.map(|group| number(6, group)).unwrap_or_default()].concat())
    };
    let message = [
        spec(
            &[field(10, b"first"), field(10, b"second"), field(2, &field(1, b"a")), security(1, Some(7))]
                .concat(),
        ),
        field(1, &field(1, b"p")),
        spec(&[field(10, b"third"), field(2, &field(1, b"b")), security(2, None)].concat()),
    ];
    let pod = read("v1", "Pod", &message.concat()).unwrap();
    assert_eq!(pod["spec"]["nodeName"], "third");
    assert_eq!(pod["spec"]["securityContext"], json!({"runAsUser": 2, "runAsGroup": 7}));
    let names: Vec<_> =
        pod["spec"]["containers"].as_array().unwrap().iter().map(|container| &container["name"]).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn of_several_entries_of_a_map_the_last_counts() {
    let entry = |key: &[u8], value: &[u8]| field(2, &[field(1, key), field(2, value)].concat());
    let message = [
        entry(b"b", b"1"),
        entry(b"a", b"2"),
        field(1, b""),
        entry(b"b", b"3"),
        field(2, &field(1, b"keyless")),
        field(2, b""),
        field(2, &[field(2, b"v"), field(1, b"turned")].concat()),
    ];
    let data = &read("v1", "ConfigMap", &message.concat()).unwrap()["data"];
    assert_eq!(*data, json!({"": "", "a": "2", "b": "3", "keyless": "", "turned": "v"}));
}

#[test]
fn numbers_may_be_packed() {
    let groups = |list: &[u8]| {
        read("v1", "Pod", &field(2, &field(14, list))).unwrap()["spec"]["securityContext"]["supplementalGroups"].clone()
    };
    assert_eq!(groups(&[number(4, 1), number(4, 300)].concat()), json!([1, 300]));
    assert_eq!(groups(&field(4, &[1, 0xac, 2])), json!([1, 300]));
    assert_eq!(groups(&[number(4, 7), field(4, &[1, 2]), number(4, 8)].concat()), json!([7, 1, 2, 8]));
}

#[test]
fn zeros_are_shown_as_go_shows_them() {
    let empty = read("v1", "Pod", b"").unwrap();
    assert_eq!(
        empty,
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"containers": null}, "status": {}})
    );
    let empty = read("apps/v1", "DaemonSet", b"").unwrap();
    let status = json!({"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0});
    assert_eq!(empty["status"], status);
    assert_eq!(empty["spec"]["selector"], Value::Null);
    let event = read("v1", "Event", b"").unwrap();
    assert_eq!((&event["firstTimestamp"], &event["source"]), (&Value::Null, &json!({})));
    // Pointers are shown if they are there, whatever they hold.
    let pod = read("v1", "Pod", &field(2, &[number(4, 0), number(11, 0), field(18, b"")].concat())).unwrap();
    assert_eq!(pod["spec"], json!({"containers": null, "terminationGracePeriodSeconds": 0, "affinity": {}}));
}

#[test]
fn types_of_their_own_go_both_ways() {
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": {"a": "AAEC/w==", "b": ""}});
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"deletionTimestamp": "2038-01-19T03:14:08Z"},
        "spec": {"ports": [{"port": 80, "targetPort": "http"}, {"port": 81, "targetPort": -1}]}, "status": {"loadBalancer": {}},
    });
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {}, "spec": {"hard": {"cpu": "500m", "memory": "1Gi"}}, "status": {},
    });
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {},
        "spec": {"renewTime": "2026-01-02T03:04:05.678901Z", "leaseDurationSeconds": 15},
    });
    let revision = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {}, "revision": 1,
        "data": {"a": [1, 2.5, null, "<&>\u{2028}"], "b": {"c": -3}},
    });
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {}, "rules": null,
    });
    let review = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}, "spec": {},
        "status": {"user": {"extra": {"scopes": ["a", "b"], "none": []}}},
    });
    for object in [secret, service, quota, lease, revision, role, review] {
        assert_eq!(from_slice::<Value>(&to_vec(&object).unwrap()).unwrap(), object);
    }
}

#[test]
fn what_is_written_is_brought_into_its_form() {
    let written = |object: &Value| from_slice::<Value>(&to_vec(object).unwrap()).unwrap();
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"a": "0.5", "b": "1024Mi", "c": 3, "d": 0.25, "e": null}}});
    assert_eq!(
        written(&quota)["spec"]["hard"],
        json!({"a": "500m", "b": "1Gi", "c": "3", "d": "250m", "e": "0"})
    );
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"acquireTime": "2026-01-01T02:00:00.1234567+01:00"}});
    assert_eq!(written(&lease)["spec"]["acquireTime"], "2026-01-01T01:00:00.123456Z");
    let pod = json!({
        "kind": "Pod", "apiVersion": "v1", "metadata": {"creationTimestamp": "0001-01-01T00:00:00Z", "labels": {}},
        "spec": {"containers": [], "volumes": null, "nodeName": ""},
    });
    assert_eq!(
        written(&pod),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"containers": null}, "status": {}})
    );
    let list = json!({"apiVersion": "v1", "kind": "PodList", "items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}]});
    assert_eq!(written(&list)["items"][0]["metadata"]["name"], "a");
    let inner = to_vec(&json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}})).unwrap();
    let nested = read("v1", "List", &field(2, &field(1, &inner))).unwrap();
    assert_eq!(
        nested["items"][0],
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"a": "b"}})
    );
}

#[test]
fn schemas_of_custom_resources_go_both_ways() {
    let schema = json!({
        "type": "object", "required": ["a"], "minProperties": 0, "maximum": 1.5, "minimum": 3, "default": {"x": null}, "enum": [1, "a", true],
        "properties": {
            "a": {"items": {"type": "string"}, "additionalProperties": false},
            "b": {"items": [{"type": "integer"}, {}], "additionalProperties": {"x-kubernetes-int-or-string": true}},
        },
        "dependencies": {"a": ["b"], "b": {"type": "string"}}, "$ref": "#/x", "$schema": "y",
    });
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "w"},
        "spec": {
            "group": "g", "scope": "Cluster", "names": {"plural": "w", "kind": "W"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
        "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null},
    });
    assert_eq!(from_slice::<Value>(&to_vec(&crd).unwrap()).unwrap(), crd);
}

/// The error, by kind and what it says.
fn refused<T: std::fmt::Debug>(result: Result<T, ProtobufError>, kind: Kind, text: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
}

#[test]
fn every_mistake_on_the_wire_is_named() {
    let pod = |message: &[u8]| read("v1", "Pod", message);
    let in_pod = |spec: &[u8]| pod(&field(2, spec));
    refused(
        from_slice::<Value>(b"k8"),
        Kind::NotProtobuf,
        "the value is not protobuf of Kubernetes, which begins with `k8s` and a zero byte",
    );
    refused(
        from_slice::<Value>(b"k8s\0"),
        Kind::Truncated,
        "nothing follows the first four bytes of the protobuf value",
    );
    refused(
        from_slice::<Value>(b"k8s\0\x0a\x05"),
        Kind::Truncated,
        "the protobuf value ends too early at byte 6",
    );
    refused(read("", "Pod", b""), Kind::NoType, "the object has no apiVersion");
    refused(read("v1", "", b""), Kind::NoType, "the object has no kind");
    refused(
        read("a/b/c", "Pod", b""),
        Kind::NoType,
        "the object's apiVersion is not of the form group/version",
    );
    let unknown =
        "\"v2\" \"Pod\" is not a kind of Kubernetes that is known here; custom resources are written as JSON";
    refused(read("v2", "Pod", b""), Kind::UnknownKind, unknown);
    refused(in_pod(&number(10, 1)), Kind::Malformed, "wire type 0 instead of 2 in spec.nodeName");
    refused(in_pod(&field(11, b"x")), Kind::Malformed, "wire type 2 instead of 0 in spec.hostNetwork");
    refused(in_pod(b"\x52\x05ab"), Kind::Truncated, "the protobuf value ends too early in spec at byte 21");
    refused(in_pod(&[0xff; 11]), Kind::Malformed, "a number of more than 64 bits in spec at byte 19");
    refused(in_pod(&number(0, 1)), Kind::Malformed, "a field number that there cannot be in spec at byte 19");
    refused(
        in_pod(b"\x53"),
        Kind::Malformed,
        "field number 10 is a group, which Kubernetes does not use in spec at byte 19",
    );
    refused(
        in_pod(b"\x57"),
        Kind::Malformed,
        "field number 10 has a wire type that there is not in spec at byte 19",
    );
}

#[test]
fn the_place_of_a_mistake_is_named() {
    let pod = |message: &[u8]| read("v1", "Pod", message);
    let in_pod = |spec: &[u8]| pod(&field(2, spec));
    let container = |inner: &[u8]| in_pod(&[field(2, b""), field(2, inner)].concat());
    let limits = field(8, &field(1, &[field(1, b"cpu"), field(2, &field(1, b"lots"))].concat()));
    refused(
        container(&limits),
        Kind::Malformed,
        "a quantity that is none in spec.containers[1].resources.limits[\"cpu\"]",
    );
    let late = field(1, &field(8, &number(1, u64::MAX >> 1)));
    refused(
        pod(&late),
        Kind::Malformed,
        "a time outside of the years 0 to 9999 in metadata.creationTimestamp",
    );
    let raw = |json: &[u8]| read("apps/v1", "ControllerRevision", &field(2, &field(1, json)));
    refused(raw(b"{\"a\":"), Kind::Malformed, "what should be JSON is not in data");
    refused(raw(b"{} {}"), Kind::Malformed, "what should be JSON is not in data");
    let port = field(2, &field(1, &field(4, &number(1, 5))));
    refused(
        read("v1", "Service", &port),
        Kind::Malformed,
        "neither a number nor a text in spec.ports[0].targetPort",
    );
}

#[test]
fn what_lies_too_deep_is_refused() {
    let schemas = |depth: usize| {
        let mut schema = Vec::new();
        for _ in 0..depth {
            schema = field(28, &schema);
        }
        let version = field(4, &field(1, &schema));
        read("apiextensions.k8s.io/v1", "CustomResourceDefinition", &field(2, &field(7, &version)))
    };
    schemas(90).unwrap();
    assert_eq!(schemas(120).unwrap_err().kind(), Kind::TooDeep);
    assert_eq!(schemas(20_000).unwrap_err().kind(), Kind::TooDeep);
    let mut list = b"k8s\0".to_vec();
    for _ in 0..1000 {
        list = Envelope::new("v1", "List", &field(2, &field(1, &list))).to_vec();
    }
    assert_eq!(from_slice::<Value>(&list).unwrap_err().kind(), Kind::TooDeep);
    assert_eq!(unknown_fields(&list).unwrap_err().kind(), Kind::TooDeep);
    let mut schema = json!({});
    for _ in 0..110 {
        schema = json!({"not": schema});
    }
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]},
    });
    assert_eq!(to_vec(&crd).unwrap_err().kind(), Kind::TooDeep);
}

#[test]
fn every_mistake_in_an_object_is_named() {
    let pod = |spec: Value| to_vec(&json!({"apiVersion": "v1", "kind": "Pod", "spec": spec}));
    refused(
        pod(json!({"containers": [{"imagee": "secret"}]})),
        Kind::UnknownField,
        "a field that this kind does not have in spec.containers[0].imagee",
    );
    refused(pod(json!({"nodeName": 1})), Kind::WrongType, "expected text in spec.nodeName");
    refused(
        pod(json!({"hostNetwork": "secret"})),
        Kind::WrongType,
        "expected true or false in spec.hostNetwork",
    );
    refused(
        pod(json!({"priority": 5_000_000_000_i64})),
        Kind::WrongType,
        "expected an integer of 32 bits in spec.priority",
    );
    refused(
        pod(json!({"priority": 1.5})),
        Kind::WrongType,
        "expected an integer of 32 bits in spec.priority",
    );
    refused(pod(json!({"containers": {}})), Kind::WrongType, "expected a list in spec.containers");
    refused(pod(json!({"nodeSelector": ["a"]})), Kind::WrongType, "expected an object in spec.nodeSelector");
    refused(
        pod(json!({"nodeSelector": {"a": {}}})),
        Kind::WrongType,
        "expected text in spec.nodeSelector[\"a\"]",
    );
    refused(
        pod(json!({"overhead": {"cpu": "secret"}})),
        Kind::WrongType,
        "expected a quantity such as 500m or 64Mi in spec.overhead[\"cpu\"]",
    );
    refused(
        pod(json!({"overhead": {"cpu": "1000E"}})),
        Kind::WrongType,
        "expected a quantity such as 500m or 64Mi in spec.overhead[\"cpu\"]",
    );
}

#[test]
fn values_of_a_wrong_form_and_objects_without_a_type_are_named() {
    let meta = |meta: Value| to_vec(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": meta}));
    refused(
        meta(json!({"creationTimestamp": "yesterday"})),
        Kind::WrongType,
        "expected a time such as 2006-01-02T15:04:05Z in metadata.creationTimestamp",
    );
    refused(meta(json!("x")), Kind::WrongType, "expected an object in metadata");
    refused(
        to_vec(&json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "secret!"}})),
        Kind::WrongType,
        "expected base64 in data[\"a\"]",
    );
    refused(to_vec(&json!({"kind": "Pod"})), Kind::NoType, "the object has no apiVersion");
    refused(to_vec(&json!({"apiVersion": "v1"})), Kind::NoType, "the object has no kind");
    refused(to_vec(&json!([1])), Kind::WrongType, "expected an object");
    refused(
        to_vec(&json!({"apiVersion": 1, "kind": "Pod"})),
        Kind::UnknownKind,
        "\"1\" \"Pod\" is not a kind of Kubernetes that is known here; custom resources are written as JSON",
    );
    refused(
        to_vec_as("v1", "Pod", &json!({"kind": "Secret"})),
        Kind::NoType,
        "the object is not v1 Pod in kind",
    );
    to_vec_as("v1", "Pod", &json!({"kind": "", "apiVersion": null, "metadata": {"name": "a"}})).unwrap();
}

/// What a type of serde refuses is said in its own words, without the value.
#[test]
fn values_are_not_shown() {
    #[derive(Debug, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Strict {
        #[expect(dead_code, reason = "it never exists")]
        data: std::collections::BTreeMap<String, u64>,
    }
    let stored =
        to_vec(&json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"password": "hunter2"}})).unwrap();
    let error = from_slice::<Strict>(&stored).unwrap_err();
    assert_eq!(error.to_string(), "expected u64 in data[\"password\"]");
    assert!(!format!("{error:?}").contains("hunter2"));
    let stored = to_vec(&json!({"apiVersion": "v1", "kind": "ConfigMap"})).unwrap();
    refused(from_slice::<Strict>(&stored), Kind::WrongType, "the field data is missing");
}

#[test]
fn no_bytes_are_too_odd() {
    let objects = data(include_str!("data/protobuf-objects.json"));
    let stored: Vec<Vec<u8>> =
        list(&objects, "objects").iter().map(|object| base64(&object["protobuf"])).collect();
    let mut random = Random::new(7);
    let byte = |random: &mut Random| u8::try_from(random.below(256)).unwrap();
    let wanted = Wanted::new(vec!["app".into()], vec!["spec.nodeName".into(), "status.phase".into()]);
    let (mut read_again, mut refused) = (0, 0);
    for round in 0..100_000 {
        let mut bytes = stored[round % stored.len()].clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(6) {
                0 => bytes[at] = byte(&mut random),
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes.truncate(at.max(1)),
                3 => bytes.insert(at, byte(&mut random)),
                4 => drop(bytes.remove(at)),
                _ => {
                    let end = (at + random.below(40)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        let _ = (Metadata::read(&bytes), UnstructuredProtobufCodec.skim(&bytes, &wanted));
        let Ok(object) = from_slice::<Value>(&bytes) else {
            refused += 1;
            continue;
        };
        unknown_fields(&bytes).unwrap();
        let written = to_vec(&object).unwrap_or_else(|error| panic!("{error}: {object}"));
        assert_eq!(without_nulls(from_slice(&written).unwrap()), without_nulls(object));
        read_again += 1;
    }
    assert!(read_again > 5_000 && refused > 50_000, "{read_again} {refused}");
}

/// A pointer to a time that is none is null, which is read as no pointer.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            members.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
