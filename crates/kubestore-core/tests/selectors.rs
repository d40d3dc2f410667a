//! Selectors: Kubernetes' whole syntax, what matches, and what is said of a bad one.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use kubestore_core::{FieldSelector, Found, LabelSelector, Predicate, Wanted};
use proptest::prelude::*;

/// The answers that an object with these labels and fields gives to a predicate.
fn found<'a>(
    wanted: &Wanted,
    labels: &'a [(&'a str, &'a str)],
    fields: &'a [(&'a str, &'a str)],
) -> Found<'a> {
    let find = |set: &'a [(&'a str, &'a str)], name: &str| {
        set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into())
    };
    let mut found = wanted.nothing_found();
    found.labels = wanted.labels.iter().map(|name| find(labels, name)).collect();
    found.fields = wanted.fields.iter().map(|name| find(fields, name)).collect();
    found
}

fn labels_match(selector: &str, labels: &[(&str, &str)]) -> bool {
    let selector: LabelSelector = selector.parse().unwrap();
    let predicate = Predicate::new(selector, FieldSelector::default());
    predicate.matches(&found(&predicate.wanted(), labels, &[]))
}

fn fields_match(selector: &str, fields: &[(&str, &str)]) -> bool {
    let predicate = Predicate::new(LabelSelector::default(), selector.parse().unwrap());
    predicate.matches(&found(&predicate.wanted(), &[], fields))
}

#[test]
fn label_selectors_match_as_kubernetes_has_them() {
    let web = [("app", "web"), ("tier", "front"), ("n", "7"), ("empty", "")];
    for (selector, matches) in [
        ("", true),
        (" ", true),
        ("app=web", true),
        ("app == web", true),
        ("app=api", false),
        ("app!=web", false),
        ("missing!=web", true),
        ("app in (api, web)", true),
        ("app in (api)", false),
        ("app notin (api)", true),
        ("missing notin (api)", true),
        ("app notin (web,api)", false),
        ("app", true),
        ("missing", false),
        ("!app", false),
        ("! missing", true),
        ("n>6", true),
        ("n > 7", false),
        ("n<8", true),
        ("app>1", false),
        ("missing<1", false),
        ("empty=", true),
        ("empty in (,x)", true),
        ("app=web,tier=front,!canary", true),
        ("app=web,tier=back", false),
        ("in in (in,notin)", false),
        ("in,notin", false),
        ("app in (in)", false),
    ] {
        assert_eq!(labels_match(selector, &web), matches, "{selector:?}");
    }
}

#[test]
fn field_selectors_match_and_missing_fields_are_empty() {
    let fields = [("metadata.name", "a"), ("spec.nodeName", "n,1=\\")];
    for (selector, matches) in [
        ("", true),
        ("metadata.name=a", true),
        ("metadata.name==a", true),
        ("metadata.name!=a", false),
        ("metadata.name=b", false),
        ("status.phase=", true),
        ("status.phase!=", false),
        ("status.phase!=Running", true),
        (r"spec.nodeName=n\,1\=\\", true),
        ("metadata.name=a,,spec.nodeName!=n2,", true),
        ("metadata.name=a,spec.nodeName=n2", false),
    ] {
        assert_eq!(fields_match(selector, &fields), matches, "{selector:?}");
    }
}

#[test]
fn a_bad_selector_is_quoted_with_what_is_expected() {
    for (selector, reason) in [
        ("app=web,", "expected a label key"),
        (",app", "expected a label key"),
        ("app web", "expected =, ==, !=, >, <, in or notin"),
        ("app in web", "expected '('"),
        ("app in (web", "expected ',' or ')'"),
        ("app=web tier", "expected ','"),
        ("!app=web", "expected ','"),
        ("app=-web", "is not up to 63 letters"),
        ("-app", "is not 1 to 63 letters"),
        ("A.com/app", "is not a lower-case domain name"),
        ("a/b/c", "is not 1 to 63 letters"),
        ("n>x", "takes one integer"),
        ("app==(a)", "expected a value"),
    ] {
        let error = selector.parse::<LabelSelector>().unwrap_err();
        assert_eq!(error.selector, selector);
        assert!(error.reason.contains(reason), "{selector:?}: {error}");
    }
    for (selector, reason) in [
        ("metadata.name", "has no =, == or !="),
        ("a=b=c", r"write \= for an equals sign"),
        (r"a=b\c", "a backslash stands before none of"),
    ] {
        let error = selector.parse::<FieldSelector>().unwrap_err();
        assert!(error.reason.contains(reason), "{selector:?}: {error}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parsers_panic(text in "\\PC{0,40}", ascii in "[a-c!=<>(), in\\\\]{0,30}") {
        for text in [text, ascii] {
            if let Ok(selector) = text.parse::<LabelSelector>() {
                prop_assert_eq!(selector.to_string().parse::<LabelSelector>().unwrap(), selector);
            }
            if let Ok(selector) = text.parse::<FieldSelector>() {
                prop_assert_eq!(selector.to_string().parse::<FieldSelector>().unwrap(), selector);
            }
        }
    }
}
