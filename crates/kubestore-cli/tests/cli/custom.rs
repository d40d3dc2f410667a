//! Custom resources.

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use kubestore::{
    codec::{Unstructured, cbor::UnstructuredCborCodec},
    core::Codec,
    kv::{Kv, PutRequest},
};

use crate::command::Kubestore;

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    selectableFields: [{jsonPath: .spec.color}]
    additionalPrinterColumns:
    - {name: Color, type: string, jsonPath: .spec.color}
    - {name: Size, type: integer, jsonPath: .spec.size, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
";
const WIDGETS: &str = "
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: a}
spec: {color: red, size: 3}
---
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: b}
spec: {color: blue, size: 4}
";

#[test]
fn a_kind_without_a_definition_is_refused_with_the_way_out() {
    let k = Kubestore::durable();
    let error = k.run_words(&["apply", "-f", "-"], WIDGETS).error();
    assert_eq!(
        error,
        "standard input:2: unknown kind Widget of shop.example.com/v1: Kubernetes has none of this name, and below \
         /registry no CustomResourceDefinition defines it and no key is of it; apply its definition first, or write it as its \
         plural with its group (widgets.shop.example.com)"
    );
    k.apply("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n");
    let error = k.run("get widgets").error();
    assert!(error.starts_with("unknown resource \"widgets\": Kubernetes has none of this name"), "{error}");
}

#[test]
fn a_definition_makes_a_kind_known_from_its_own_input_on() {
    let k = Kubestore::durable();
    // The order of the input does not matter for what is known.
    let applied = k.apply(&format!("{WIDGETS}---{DEFINITION}"));
    assert_eq!(
        applied,
        "widget.shop.example.com/a created\nwidget.shop.example.com/b created\n\
         customresourcedefinition.apiextensions.k8s.io/widgets.shop.example.com created\n"
    );
    for name in
        ["widgets", "widget", "wd", "Widget", "widgets.shop.example.com", "widgets.v1.shop.example.com"]
    {
        let names = k.run(&format!("get {name} -o name")).ok();
        assert_eq!(names, "widget.shop.example.com/a\nwidget.shop.example.com/b\n", "{name}");
    }
    let table = k.run("get widgets").ok();
    let cells: Vec<Vec<_>> = table.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
    assert_eq!(cells, [["NAME", "COLOR"], ["a", "red"], ["b", "blue"]]);
    assert!(k.run("get wd a -o wide").ok().starts_with("NAME   COLOR   SIZE   AGE\na      red     3      "));
    assert_eq!(k.run("get wd -o name --field-selector spec.color=blue").ok(), "widget.shop.example.com/b\n");
    assert!(k.run("get wd --field-selector spec.size=3").usage().ends_with("metadata.namespace, spec.color"));
    let other = WIDGETS.replace("example.com/v1", "example.com/v2");
    let error = k.run_words(&["apply", "-f", "-"], &other).error();
    assert!(error.ends_with("widgets.shop.example.com have no version \"v2\"; there are: v1"), "{error}");
}

#[test]
fn objects_without_a_definition_are_found_by_their_keys() {
    let k = Kubestore::durable();
    k.apply(&format!("{WIDGETS}---{DEFINITION}"));
    k.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: ns1}\n");
    k.run("delete crd widgets.shop.example.com").ok();
    for name in ["widgets.shop.example.com", "widgets", "widget", "Widget", "widgets.shop"] {
        let names = k.run(&format!("get {name} -o name")).ok();
        assert_eq!(names, "widget.shop.example.com/a\nwidget.shop.example.com/b\n", "{name}");
    }
    let table = k.run("get widgets -A").ok();
    assert!(table.starts_with("NAMESPACE   NAME   AGE\ndefault     a      "), "{table}");
    assert_eq!(k.run("count widgets").ok(), "2\n");
    // An object of a kind that is in use is taken without its definition too.
    assert_eq!(
        k.apply(WIDGETS),
        "widget.shop.example.com/a unchanged\nwidget.shop.example.com/b unchanged\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_of_a_later_release_is_found_where_its_keys_are() {
    let k = Kubestore::etcd().await;
    let kv = k.kv().await;
    for (key, value) in [
        (
            "/registry/gizmos/ns1/a",
            r#"{"apiVersion":"later.k8s.io/v1","kind":"Gizmo","metadata":{"name":"a","namespace":"ns1"},"spec":1}"#,
        ),
        (
            "/registry/rings.example.com/rings/one",
            r#"{"apiVersion":"rings.example.com/v1","kind":"Ring","metadata":{"name":"one"}}"#,
        ),
        ("/registry/strange", "x"),
        ("/registry/a/b/c/d/e", "x"),
    ] {
        kv.optimistic_put(PutRequest::create(key, value)).await.unwrap();
    }
    assert_eq!(k.run("get gizmos -A -o name").ok(), "gizmo.later.k8s.io/a\n");
    assert!(k.run("get gizmo/a -n ns1 -o yaml").ok().ends_with("spec: 1\n"));
    assert_eq!(k.run("get rings.rings.example.com -o name").ok(), "ring.rings.example.com/one\n");
    assert_eq!(k.run("get ring one -o name").ok(), "ring.rings.example.com/one\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_resources_are_read_from_cbor_and_from_base64() {
    let k = Kubestore::etcd().await;
    let kv = k.kv().await;
    let widget = |name: &str, color: &str| -> Unstructured {
        let text = format!(
            r#"{{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{{"name":"{name}","namespace":"default",
                "labels":{{"color":"{color}"}}}},"spec":{{"size":3,"price":1.5}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let cbor = |object: &Unstructured| UnstructuredCborCodec.encode(object).unwrap();
    let base64: Bytes = BASE64_STANDARD.encode(cbor(&widget("c", "red"))).into();
    for (name, value) in [("a", cbor(&widget("a", "red"))), ("b", cbor(&widget("b", "blue"))), ("c", base64)]
    {
        let key = format!("/registry/shop.example.com/widgets/default/{name}");
        kv.optimistic_put(PutRequest::create(key, value)).await.unwrap();
    }
    let names = k.run("get widgets -o name -l color=red").ok();
    assert_eq!(names, "widget.shop.example.com/a\nwidget.shop.example.com/c\n");
    assert!(k.run("get widget b -o yaml").ok().ends_with("spec:\n  price: 1.5\n  size: 3\n"));
    assert!(k.run("inspect widgets/a").ok().contains("Encoding:    cbor, "));
    assert!(k.run("check").stdout.contains("\nwidgets.shop.example.com   3      2 "));
    // As with an API server, an update that changes nothing brings a value into the form that is written now.
    let file = k.run("get widget a -o yaml").ok();
    let file: String = file
        .lines()
        .filter(|line| !line.contains("resourceVersion"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(k.run_words(&["apply", "-f", "-"], &file).ok(), "widget.shop.example.com/a unchanged\n");
    assert!(k.run("inspect widgets/a").ok().contains("Encoding:    json, "));
    let file = file.replace("size: 3", "size: 4");
    assert_eq!(k.run_words(&["apply", "-f", "-"], &file).ok(), "widget.shop.example.com/a configured\n");
    assert!(k.run("get widget a -o json").ok().contains("\"size\": 4"));
}
