//! Encryption configurations, right and wrong ones.
#![cfg(all(feature = "config", feature = "aes-cbc", feature = "secretbox"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{error::Error, fs};

use kubestore_transform::{EncryptionConfig, Transformer, ValueContext};

const SECRET: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER: &str = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

/// A configuration with these rules, in flow style.
fn config(rules: &str) -> String {
    format!("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: {rules}\n")
}

fn gcm(name: &str, secret: &str) -> String {
    format!("{{aesgcm: {{keys: [{{name: {name}, secret: {secret:?}}}]}}}}")
}

fn load(text: &str) -> EncryptionConfig {
    EncryptionConfig::from_str(text, "enc.yaml").unwrap()
}

/// What is wrong with it, one line a problem.
fn problems(text: &str) -> Vec<String> {
    let error = EncryptionConfig::from_str(text, "enc.yaml").unwrap_err();
    assert!(error.to_string().starts_with("encryption configuration enc.yaml: "), "{error}");
    error.problems().iter().map(ToString::to_string).collect()
}

fn stored_by(transformer: &dyn Transformer) -> String {
    let context = ValueContext::new(b"/registry/x");
    let stored = transformer.transform_to_storage("plain".into(), context).try_now().unwrap().unwrap();
    String::from_utf8_lossy(&stored).split_inclusive(':').take(5).collect()
}

#[test]
fn the_most_specific_rule_is_used_and_equal_ones_are_joined() {
    let rules = [
        "{resources: [events], providers: [{identity: {}}]}".to_owned(),
        format!("{{resources: [secrets, deployments.apps], providers: [{}]}}", gcm("one", SECRET)),
        format!("{{resources: [secrets], providers: [{}, {{identity: {{}}}}]}}", gcm("two", OTHER)),
        format!("{{resources: ['*.apps', '*.'], providers: [{}]}}", gcm("group", SECRET)),
        format!("{{resources: ['*.*'], providers: [{}]}}", gcm("all", SECRET)),
    ];
    let config = load(&config(&format!("[{}]", rules.join(", "))));
    let writes = |group, resource| stored_by(&*config.transformer_for(group, resource));
    assert_eq!(writes("", "events"), "plain");
    assert_eq!(writes("", "secrets"), "k8s:enc:aesgcm:v1:one:");
    assert_eq!(writes("apps", "deployments"), "k8s:enc:aesgcm:v1:one:");
    assert_eq!(writes("apps", "daemonsets"), "k8s:enc:aesgcm:v1:group:");
    assert_eq!(writes("", "pods"), "k8s:enc:aesgcm:v1:group:");
    assert_eq!(writes("batch", "jobs"), "k8s:enc:aesgcm:v1:all:");
    let keys: Vec<_> =
        config.providers_for("", "secrets").iter().flat_map(|provider| provider.key_names()).collect();
    assert_eq!(keys, ["one", "two"]);
    assert_eq!(config.rules().len(), 5);
    let resources: Vec<_> = config.rules()[3].resources().iter().map(ToString::to_string).collect();
    assert_eq!(resources, ["*.apps", "*."]);
}

#[test]
fn resource_without_a_rule_is_stored_plain_and_refuses_what_is_encrypted() {
    let config = load(&config(&format!("[{{resources: [secrets], providers: [{}]}}]", gcm("one", SECRET))));
    let (secrets, pods) = (config.transformer_for("", "secrets"), config.transformer_for("", "pods"));
    let context = ValueContext::new(b"/registry/x");
    let stored = secrets.transform_to_storage("v".into(), context).try_now().unwrap().unwrap();
    let refused = pods.transform_from_storage(stored, context).try_now().unwrap().unwrap_err();
    assert_eq!(refused.status_message(), "identity transformer tried to read encrypted data");
    assert_eq!(stored_by(&*pods), "plain");
}

#[test]
fn every_provider_is_read_from_yaml_and_json() {
    let yaml = format!(
        "kind: EncryptionConfiguration
apiVersion: apiserver.config.k8s.io/v1
resources:
  - resources:
      - secrets
    providers:
      - secretbox:
          keys:
            - name: box
              secret: {SECRET}
      - aesgcm:
          keys:
            - name: new
              secret: AAECAwQFBgcICQoLDA0ODw==
            - name: old
              secret: |
                AAECAwQFBgcICQoLDA0O
                DxAREhMUFRYX
      - aescbc:
          keys: [{{name: cbc, secret: {OTHER}}}]
      - identity: {{}}
"
    );
    let json = format!(
        r#"{{"kind": "EncryptionConfiguration", "apiVersion": "apiserver.config.k8s.io/v1", "resources": [{{
        "resources": ["secrets"], "providers": [
            {{"secretbox": {{"keys": [{{"name": "box", "secret": "{SECRET}"}}]}}}},
            {{"aesgcm": {{"keys": [{{"name": "new", "secret": "AAECAwQFBgcICQoLDA0ODw=="}},
                                  {{"name": "old", "secret": "AAECAwQFBgcICQoLDA0O\nDxAREhMUFRYX"}}]}}}},
            {{"aescbc": {{"keys": [{{"name": "cbc", "secret": "{OTHER}"}}]}}}},
            {{"identity": {{}}}}]}}]}}"#
    );
    let (from_yaml, from_json) = (load(&yaml), load(&json));
    let context = ValueContext::new(b"/registry/secrets/a/b");
    for (one, other) in [(&from_yaml, &from_json), (&from_json, &from_yaml)] {
        let names: Vec<_> = one.rules()[0].providers().iter().map(|it| (it.name(), it.key_names())).collect();
        let expected = [
            ("secretbox", vec!["box"]),
            ("aesgcm", vec!["new", "old"]),
            ("aescbc", vec!["cbc"]),
            ("identity", vec![]),
        ];
        assert_eq!(names, expected);
        let (writer, reader) = (one.transformer_for("", "secrets"), other.transformer_for("", "secrets"));
        let stored = writer.transform_to_storage("v".into(), context).try_now().unwrap().unwrap();
        let opened = reader.transform_from_storage(stored, context).try_now().unwrap().unwrap();
        assert_eq!(opened.data, "v");
    }
}

#[test]
fn what_a_kubernetes_api_server_accepts_is_accepted() {
    let right = config(&format!("[{{resources: [secrets], providers: [{}]}}]", gcm("k", SECRET)));
    let legacy = right
        .replace("apiserver.config.k8s.io/v1", "v1")
        .replace("EncryptionConfiguration", "EncryptionConfig");
    let texts = [
        legacy,
        format!("---\n{right}---\n"),
        format!("# keys of the cluster\n{right}"),
        right.replace('\n', "\r\n"),
        right.replace("name: k", "name: 'a b:c'"),
        right.replace("providers", "# a remark\n  providers"),
        right.replace("[secrets]", "&names [secrets]"),
        right.replace("}]}]", "}, {identity: {}}, {aescbc: null, identity: {}}]}]"),
    ];
    for text in texts {
        let loaded = EncryptionConfig::from_str(&text, "enc.yaml");
        assert!(loaded.is_ok(), "{text} gives {loaded:?}");
    }
}

#[test]
fn key_that_stands_in_two_rules_is_counted_once() {
    let rules = format!(
        "[{{resources: [secrets], providers: [{one}]}}, {{resources: [configmaps], providers: [{one}, {two}]}}]",
        one = gcm("one", SECRET),
        two = gcm("one", OTHER),
    );
    let config = load(&config(&rules));
    for (resource, writes) in [("secrets", 3), ("configmaps", 4)] {
        let transformer = config.transformer_for("", resource);
        for _ in 0..writes {
            stored_by(&*transformer);
        }
    }
    let counts: Vec<_> = config.writes().into_iter().map(|of| (of.provider, of.key, of.writes)).collect();
    assert_eq!(counts, [("aesgcm".into(), "one".into(), 7), ("aesgcm".into(), "one".into(), 0)]);
}

/// Each text has the one fault.
fn assert_faults(cases: impl IntoIterator<Item = (String, &'static str)>) {
    for (text, expected) in cases {
        assert_eq!(problems(&text), [expected], "{text}");
    }
}

#[test]
fn faults_of_the_document_are_named() {
    let right = config("[{resources: [pods], providers: [{identity: {}}]}]");
    assert_faults([
        (String::new(), "is empty; write an EncryptionConfiguration"),
        ("[]".into(), "is a list, must be an EncryptionConfiguration"),
        ("a: [b".into(), "not valid YAML or JSON; check indentation and quotes at line 1, column 4"),
        (config("[]"), "resources: is empty; add at least one rule with resources and providers"),
        (config("{}"), "resources: is an object, must be a list"),
        (right.replace("/v1", "/v2"), "apiVersion: must be apiserver.config.k8s.io/v1"),
        (
            right.replace("EncryptionConfiguration", "EncryptionConfig"),
            "kind: must be EncryptionConfiguration",
        ),
        (
            format!("{right}metadata: {{}}\n"),
            "unknown field \"metadata\"; known here: apiVersion, kind, resources",
        ),
        (format!("{right}kind: x\n"), "a field is there twice; remove one at line 4, column 1"),
        (format!("{right}---\n{right}"), "has several documents; keep one"),
    ]);
}

#[test]
fn faults_of_keys_are_named() {
    let key = |name: &str, secret: &str| {
        config(&format!("[{{resources: [secrets], providers: [{}]}}]", gcm(name, secret)))
    };
    let boxed =
        "[{resources: [a], providers: [{secretbox: {keys: [{name: a, secret: AAECAwQFBgcICQoLDA0ODw==}]}}]}]";
    assert_faults([
        (
            key("a", "AAEC"),
            "resources[0].providers[0].aesgcm.keys[0].secret: the secret of key \"a\" has 3 bytes, aesgcm takes 16, \
             24 or 32; make a new one, an existing one cannot be stretched",
        ),
        (
            config(boxed),
            "resources[0].providers[0].secretbox.keys[0].secret: the secret of key \"a\" has 16 bytes, secretbox \
             takes 32; make a new one, an existing one cannot be stretched",
        ),
        (
            key("a", "%%%"),
            "resources[0].providers[0].aesgcm.keys[0].secret: is not base64; encode the bytes with the standard \
             alphabet and padding",
        ),
        (
            key("a", ""),
            "resources[0].providers[0].aesgcm.keys[0].secret: is missing; give the base64 of random bytes",
        ),
        (
            key("''", SECRET),
            "resources[0].providers[0].aesgcm.keys[0].name: is missing; give the key a name, it goes into every value \
             written with it",
        ),
        (
            key("7", SECRET),
            "resources[0].providers[0].aesgcm.keys[0].name: is a number, must be a string; put it in quotes if it is \
             meant as text",
        ),
    ]);
}

#[test]
fn faults_of_providers_are_named() {
    let provider = |text: &str| config(&format!("[{{resources: [secrets], providers: [{text}]}}]"));
    let none =
        "resources[0].providers[0]: names no provider; write one of aescbc, aesgcm, identity, kms, secretbox";
    let empty = "resources[0].providers: is empty; name at least one provider, the first writes";
    assert_faults([
        (provider("{}"), none),
        (provider("{identity: }"), none),
        (provider(""), empty),
        (config("[{resources: [secrets]}]"), empty),
        (
            provider("{aesgcm: {}}"),
            "resources[0].providers[0].aesgcm.keys: is empty; give at least one key, the first writes",
        ),
        (
            provider("{identity: {}, aesgcm: {}}"),
            "resources[0].providers[0]: has several providers; give each an element of its own in the list",
        ),
        (
            provider("{rot13: {}}"),
            "resources[0].providers[0]: unknown field \"rot13\"; known here: aescbc, aesgcm, identity, kms, secretbox",
        ),
        (
            provider("{kms: {name: a, endpoint: 'unix:///a'}}"),
            "resources[0].providers[0].kms: is not yet supported; use aesgcm or secretbox, or keep to the API server",
        ),
    ]);
}

#[test]
fn faults_of_resources_are_named() {
    let rule = |names: &str| format!("{{resources: {names}, providers: [{{identity: {{}}}}]}}");
    let resources = |names: &str| config(&format!("[{}]", rule(names)));
    let two_rules = |first: &str, second: &str| config(&format!("[{}, {}]", rule(first), rule(second)));
    let at = "resources[0].resources";
    let cases = [
        (resources("[]"), ": is empty; name at least one resource"),
        (resources("['']"), "[0]: \"\" is empty; name a resource, as secrets or deployments.apps"),
        (resources("[Secrets]"), "[0]: \"Secrets\" has capital letters; write the plural name in lower case"),
        (
            resources("['*']"),
            "[0]: \"*\" is ambiguous; write '*.' for the core group or '*.*' for everything",
        ),
        (
            resources("[serviceipallocations]"),
            "[0]: \"serviceipallocations\" cannot be encrypted, since no API serves it; remove it",
        ),
        (
            resources("[events.events.k8s.io]"),
            "[0]: \"events.events.k8s.io\" is stored in the core group; write events",
        ),
        (
            resources("[ingresses.extensions]"),
            "[0]: \"ingresses.extensions\" is of a group that Kubernetes no longer has; remove it",
        ),
        (resources("['secrets.*']"), "[0]: \"secrets.*\" is one resource across groups; name each group"),
        (resources("[pods, pods]"), ": has \"pods\" twice; remove one"),
        (
            resources("[pods, '*.']"),
            ": has both \"*.\" and \"pods\", which the first covers; remove \"pods\" or give it an earlier rule",
        ),
        (
            resources("['*.*', a.apps]"),
            ": has both \"*.*\" and \"a.apps\", which the first covers; remove \"a.apps\" or give it an earlier rule",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(problems(&text), [format!("{at}{expected}")], "{text}");
    }
    assert_faults([
        (
            two_rules("['*.*']", "[pods]"),
            "resources[1].resources[0]: \"pods\" is covered by \"*.*\" of an earlier rule; move this rule before it",
        ),
        (
            two_rules("['*.apps']", "[jobs.batch, '*.apps']"),
            "resources[1].resources[1]: \"*.apps\" is covered by \"*.apps\" of an earlier rule; move this rule before \
             it",
        ),
    ]);
}

#[test]
fn all_faults_are_shown_at_once() {
    let text = config(&format!(
        "[{{resources: [Pods], providers: [{}, {}, {{x: y}}]}}]",
        gcm("a", "AAEC"),
        gcm("b", "!")
    ));
    let problems = problems(&text);
    let paths: Vec<_> = problems.iter().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(
        paths,
        [
            "resources[0].resources[0]",
            "resources[0].providers[0].aesgcm.keys[0].secret",
            "resources[0].providers[1].aesgcm.keys[0].secret",
            "resources[0].providers[2]",
        ]
    );
}

#[test]
fn file_that_cannot_be_read_is_named_and_keeps_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("enc.yaml");
    let error = EncryptionConfig::from_file(&path).unwrap_err();
    assert_eq!(error.name(), path.display().to_string());
    assert!(
        error.to_string().ends_with("enc.yaml: cannot be read; check its path and permissions"),
        "{error}"
    );
    assert!(error.source().unwrap().to_string().contains("No such file"), "{error:?}");

    fs::write(&path, config("[{resources: [secrets], providers: [{identity: {}}]}]")).unwrap();
    assert_eq!(EncryptionConfig::from_file(&path).unwrap().rules().len(), 1);
}

#[test]
fn no_error_and_no_debug_shows_a_secret() {
    // The secret stands where it belongs, and everywhere where it does not.
    let (bare, hidden) = ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "AAECAwQFBgcI");
    let wrong = [
        config(&format!(
            "[{{resources: [secrets], providers: [{}]}}]",
            gcm("a", &format!("{SECRET}{SECRET}"))
        )),
        config(&format!("[{{resources: [secrets], providers: [{}]}}]", gcm("a", &format!("{bare}!")))),
        config(&format!("[{{resources: [secrets], providers: [{{aesgcm: {{keys: {SECRET}}}}}]}}]")),
        config(&format!("[{{resources: [secrets], providers: [{{aesgcm: {SECRET}}}]}}]")),
        config(&format!("[{{resources: [secrets], providers: [{{aesgcm: {{keys: [{SECRET}]}}}}]}}]")),
        config(&format!("[{{resources: [secrets], providers: [{{aesgcm: {{keys: [{{{bare}: x}}]}}}}]}}]")),
        config(&format!("[{{resources: [secrets], providers: [{{{bare}: x}}]}}]")),
        config(&format!(
            "[{{resources: [secrets], providers: [{{aesgcm: {{keys: [{{secret: {bare}, secret: {bare}}}]}}}}]}}]"
        )),
        config(&format!(
            "[{{resources: [secrets], providers: [{{aesgcm: {{keys: [{{name: {{{bare}: 1}}, secret: [{bare}]}}]}}}}]}}]"
        )),
        format!("{SECRET}\n"),
        format!("apiVersion: {SECRET}\n"),
        format!("a: b: {SECRET}\n"),
        format!("{{\"secret\": \"{SECRET}"),
        format!("secret: *{bare}\n"),
        format!("secret: !!int {bare}\n"),
        format!("? [{bare}]\n: {bare}\n"),
    ];
    for text in wrong {
        let error = EncryptionConfig::from_str(&text, "enc.yaml").unwrap_err();
        let mut shown = format!("{error} {error:?}");
        let mut cause = error.source();
        while let Some(error) = cause {
            shown += &format!(" {error} {error:?}");
            cause = error.source();
        }
        assert!(!shown.contains(hidden), "{text} gives {shown}");
    }
    let right = load(&config(&format!("[{{resources: [secrets], providers: [{}]}}]", gcm("a", SECRET))));
    let shown = format!("{right:?} {:?}", right.transformer_for("", "secrets"));
    assert!(shown.contains("k8s:enc:aesgcm:v1:"), "{shown}");
    assert!(!shown.contains(hidden) && !shown.contains("1, 2, 3"), "{shown}");
}
