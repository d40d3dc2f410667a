//! Custom resources.

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
        "standard input:2: unknown kind Widget of shop.example.com/v1: Kubernetes has none of this name, and no \
         CustomResourceDefinition below /registry defines it; apply its definition first"
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
