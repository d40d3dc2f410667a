//! Files, directories and standard input.

use crate::command::{Kubestore, config_map, pod};

#[test]
fn a_directory_is_read_in_the_order_of_its_names() {
    let k = Kubestore::durable();
    k.file("d/2.yml", &config_map("two", "1"));
    k.file("d/1.yaml", &[config_map("one", "1"), pod("p", "", "n1")].concat());
    k.file("d/3.json", r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "three"}}"#);
    k.file("d/notes.txt", "not an object");
    k.file("d/deeper/4.yaml", &config_map("four", "1"));
    let directory = k.path("d").display().to_string();
    assert_eq!(
        k.run(&format!("apply -f {directory}")).ok(),
        "configmap/one created\npod/p created\nconfigmap/two created\nconfigmap/three created\n"
    );
    let all = k.run(&format!("apply -R -f {directory} -f -"));
    assert!(all.error().contains("standard input: there is no object in it"));
    assert!(k.run(&format!("apply -R -f {directory}")).ok().ends_with("configmap/four created\n"));
}

#[test]
fn json_and_yaml_may_hold_several_objects_and_lists() {
    let k = Kubestore::durable();
    let json = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        {"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}},
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}]}"#;
    assert_eq!(k.apply(json), "configmap/a created\nconfigmap/b created\nnode/n created\n");
    let yaml = "# nothing\n---\napiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: c}\n---\n\n--- # end\n";
    assert_eq!(k.apply(yaml), "configmap/c created\n");
    assert_eq!(k.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}"), "configmap/d created\n");
    assert_eq!(
        k.apply("\u{feff}apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: e\r\n"),
        "configmap/e created\n"
    );
}

#[test]
fn the_namespace_is_the_objects_or_the_command_lines() {
    let k = Kubestore::durable();
    let in_x = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\n";
    assert_eq!(k.apply(in_x), "configmap/a created\n");
    assert_eq!(k.run_words(&["apply", "-f", "-", "-n", "x"], in_x).ok(), "configmap/a unchanged\n");
    assert_eq!(
        k.run_words(&["apply", "-f", "-", "-n", "y"], in_x).error(),
        "standard input:1: the object is in namespace \"x\" and the command line says \"y\"; leave one out"
    );
}

/// What cannot be applied, and the line that says so.
const BAD: &[(&str, &str)] = &[
    ("a: 1\n b: 2\n", "bad.yaml:7: malformed YAML: "),
    ("kind: Pod\nmetadata: {name: a}\n", "bad.yaml:6: the object has no apiVersion; write it"),
    ("apiVersion: v1\nmetadata: {name: a}\n", "bad.yaml:6: the object has no kind; write it"),
    ("apiVersion: v1\nkind: Pod\n", "bad.yaml:6: the Pod has no metadata.name; write it"),
    ("apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n", "bad.yaml:6: the Pod has no metadata.name"),
    ("apiVersion: v1\nkind: Pod\nmetadata: [a]\n", "bad.yaml:6: metadata is not an object"),
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a/b}\n",
        "bad.yaml:6: pods: the name \"a/b\" cannot be part of a path",
    ),
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: ..}\n",
        "bad.yaml:6: pods: the name \"..\" cannot be part of a path",
    ),
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: A}\n",
        "bad.yaml:6: pods: the name \"A\" is not up to 253 lower-case",
    ),
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: A_}\n",
        "bad.yaml:6: the namespace \"A_\" is not 1 to 63 lower-case",
    ),
    (
        "apiVersion: v9\nkind: Pod\nmetadata: {name: a}\n",
        "bad.yaml:6: pods have no version \"v9\"; there are: v1",
    ),
    (
        "apiVersion: v1\nkind: Cabbage\nmetadata: {name: a}\n",
        "bad.yaml:6: unknown kind Cabbage of v1: Kubernetes has none",
    ),
    (
        "apiVersion: v1\nkind: Binding\nmetadata: {name: a}\n",
        "bad.yaml:6: bindings are answered by an API server",
    ),
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: 12}\n",
        "bad.yaml:6: metadata.name is not text; put it in quotes",
    ),
    (
        "apiVersion: 1\nkind: Pod\nmetadata: {name: a}\n",
        "bad.yaml:6: apiVersion is not text; put it in quotes",
    ),
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {a: b, c: yes}}\n",
        "bad.yaml:6: metadata.labels.c is not text; put it in quotes",
    ),
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: [a]}\n",
        "bad.yaml:6: metadata.labels is not an object",
    ),
    ("- a\n", "bad.yaml:6: is not an object"),
    ("apiVersion: v1\nkind: List\nitems: [1]\n", "bad.yaml:6 items[0]: is not an object"),
];

#[test]
fn a_bad_object_is_named_by_file_and_line_and_nothing_is_written() {
    let k = Kubestore::durable();
    k.apply(&config_map("before", "1"));
    let good = config_map("good", "1");
    for (bad, wanted) in BAD {
        let file = k.file("bad.yaml", &format!("{good}---\n{bad}").replacen("---\n", "", 1));
        let error = k.run(&format!("apply -f {file}")).error();
        let at = error.find("bad.yaml:").unwrap_or_else(|| panic!("no file in {error}"));
        assert!(error[at..].starts_with(wanted), "{bad}: {error}");
    }
    assert_eq!(k.run("get cm -o name").ok(), "configmap/before\n");
    assert_eq!(k.run("count pods").ok(), "0\n");
}

#[test]
fn what_cannot_be_read_is_said() {
    let k = Kubestore::durable();
    let path = |name: &str| k.path(name).display().to_string();
    k.file("empty.yaml", "\n# nothing\n");
    k.file("nothing/notes.txt", "");
    k.file("bad.json", "{\"apiVersion\": \"v1\",\n  \"kind\": }");
    std::fs::write(k.path("binary.yaml"), [0xff, 0xfe, 0x00]).unwrap();
    for (name, wanted) in [
        ("missing.yaml", "cannot be read: No such file or directory (os error 2)"),
        ("empty.yaml", "there is no object in it; write at least one"),
        ("nothing", "no file in it ends in .yaml, .yml or .json"),
        ("binary.yaml", "is not UTF-8 text; objects are read as YAML or JSON"),
    ] {
        assert_eq!(k.run(&format!("apply -f {}", path(name))).error(), format!("{}: {wanted}", path(name)));
    }
    let error = k.run(&format!("apply -f {}", path("bad.json"))).error();
    assert_eq!(error, format!("{}:2: malformed JSON: expected value (column 11)", path("bad.json")));
    assert!(!k.data().exists(), "a failed apply made a store");
}
