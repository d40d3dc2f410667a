//! Selectors.

use std::collections::BTreeMap;

use kubestore_core::{FieldSelector, Found, LabelSelector, Predicate, Wanted};
use proptest::prelude::*;

/// A requirement as somebody might think of it.
#[derive(Clone, Debug)]
enum Wish {
    Exists,
    Absent,
    In(Vec<&'static str>),
    NotIn(Vec<&'static str>),
    Equal(&'static str),
    Unequal(&'static str),
    Above(i64),
    Below(i64),
}

const NAMES: [&str; 3] = ["app", "tier", "example.com/n"];
const TEXTS: [&str; 5] = ["web", "api", "7", "10", ""];

type Labels = BTreeMap<&'static str, &'static str>;

fn labels() -> impl Strategy<Value = Labels> {
    prop::collection::btree_map(prop::sample::select(&NAMES[..]), prop::sample::select(&TEXTS[..]), 0..4)
}

fn wish() -> impl Strategy<Value = Wish> {
    let text = || prop::sample::select(&TEXTS[..]);
    let texts = || prop::collection::vec(text(), 1..4);
    prop_oneof![
        Just(Wish::Exists),
        Just(Wish::Absent),
        texts().prop_map(Wish::In),
        texts().prop_map(Wish::NotIn),
        text().prop_map(Wish::Equal),
        text().prop_map(Wish::Unequal),
        (0_i64..12).prop_map(Wish::Above),
        (0_i64..12).prop_map(Wish::Below),
    ]
}

impl Wish {
    fn text(&self, name: &str) -> String {
        match self {
            Self::Exists => name.to_owned(),
            Self::Absent => format!("!{name}"),
            Self::In(values) => format!("{name} in ({})", values.join(",")),
            Self::NotIn(values) => format!("{name} notin ({})", values.join(", ")),
            Self::Equal(value) => format!("{name}={value}"),
            Self::Unequal(value) => format!("{name} != {value}"),
            Self::Above(value) => format!("{name}>{value}"),
            Self::Below(value) => format!("{name} < {value}"),
        }
    }

    fn holds(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::In(values) => value.is_some_and(|value| values.contains(&value)),
            Self::NotIn(values) => value.is_none_or(|value| !values.contains(&value)),
            Self::Equal(wanted) => value == Some(wanted),
            Self::Unequal(wanted) => value != Some(wanted),
            Self::Above(limit) => number().is_some_and(|number| number > *limit),
            Self::Below(limit) => number().is_some_and(|number| number < *limit),
        }
    }
}

fn found<'a>(wanted: &Wanted, labels: &Labels, fields: &'a BTreeMap<&'a str, String>) -> Found<'a> {
    let mut found = wanted.nothing_found();
    found.labels = wanted.labels.iter().map(|name| Some((*labels.get(name.as_str())?).into())).collect();
    found.fields = wanted.fields.iter().map(|name| Some(fields.get(name.as_str())?.into())).collect();
    found
}

proptest! {
    #![proptest_config(super::cases(256))]

    /// Parsing what was wished for, in any order, and asking it of an object comes to what the wishes come to one by one.
    #[test]
    fn label_selectors_hold_where_each_wish_holds(
        wishes in prop::collection::vec((prop::sample::select(&NAMES[..]), wish()), 0..5),
        labels in labels(),
    ) {
        let text: Vec<_> = wishes.iter().map(|(name, wish)| wish.text(name)).collect();
        let selector: LabelSelector = text.join(",").parse().unwrap();
        let again: LabelSelector = selector.to_string().parse().unwrap();
        prop_assert_eq!(&again, &selector, "{} is not what it says", selector);
        let predicate = Predicate::new(selector, FieldSelector::default());
        let want = wishes.iter().all(|(name, wish)| wish.holds(labels.get(name).copied()));
        let nothing = BTreeMap::new();
        let got = predicate.matches(&found(&predicate.wanted(), &labels, &nothing));
        prop_assert_eq!(got, want, "{:?} of {:?}", text, labels);
    }

    /// Field selectors too, whatever the values: they are escaped.
    #[test]
    fn field_selectors_hold_where_each_term_holds(
        terms in prop::collection::vec(("[ab]", "[a,=\\\\!]{0,4}", any::<bool>()), 0..4),
        values in prop::collection::vec("[a,=\\\\!]{0,4}", 2),
        repeat in any::<bool>(),
    ) {
        let escaped = |value: &str| value.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=");
        let mut fields = BTreeMap::from([("a", values[0].clone()), ("b", values[1].clone())]);
        if let (true, Some((_, value, _))) = (repeat, terms.first()) {
            // Else hardly anything would be equal.
            fields.insert("a", value.clone());
        }
        let text: Vec<_> = terms.iter().map(|(field, value, equal)| {
            format!("{field}{}{}", if *equal { "=" } else { "!=" }, escaped(value))
        }).collect();
        let predicate = Predicate::new(LabelSelector::default(), text.join(",").parse().unwrap());
        let want = terms.iter().all(|(field, value, equal)| (&fields[field.as_str()] == value) == *equal);
        let got = predicate.matches(&found(&predicate.wanted(), &Labels::new(), &fields));
        prop_assert_eq!(got, want, "{:?} of {:?}", text, fields);
    }
}
