//! What random scenarios are about: pods, changes of them, selectors, and how they are kept.

use serde_json::{Map, Value, json};

use crate::dice::Dice;

/// So few that steps meet.
const NAMESPACES: [&str; 2] = ["ns1", "ns2"];
const NAMES: [&str; 4] = ["a", "b", "c", "ab"];

/// Where a pod is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    namespace: &'static str,
    name: &'static str,
}

impl Place {
    pub(super) fn any(dice: &mut Dice) -> Self {
        let (namespace, name) = (*dice.pick(&NAMESPACES), *dice.pick(&NAMES));
        Self { namespace, name }
    }

    pub(super) fn key(&self) -> String {
        format!("/pods/{}/{}", self.namespace, self.name)
    }

    /// A pod for this place.
    pub(super) fn pod(&self, dice: &mut Dice, uid: usize) -> Value {
        let mut metadata =
            json!({ "name": self.name, "namespace": self.namespace, "uid": format!("u{uid}") });
        if dice.chance(80) {
            metadata["labels"] = json!({ "app": *dice.pick(&["x", "y"]) });
            if dice.chance(40) {
                metadata["labels"]["tier"] = json!(*dice.pick(&["front", "back"]));
            }
        }
        let mut spec = json!({ "n": dice.below(3) });
        if dice.chance(50) {
            spec["nodeName"] = json!(*dice.pick(&["n1", "n2"]));
        }
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec })
    }

    /// A change that makes a whole pod also of nothing.
    pub(super) fn whole(&self, change: &mut Value) {
        if change.get("replace").is_some() {
            return;
        }
        let set = [
            ("/apiVersion", "v1"),
            ("/kind", "Pod"),
            ("/metadata/name", self.name),
            ("/metadata/namespace", self.namespace),
        ];
        for (pointer, value) in set {
            change["set"][pointer] = json!(value);
        }
    }

    /// A change of the pod that is here.
    pub(super) fn change(&self, dice: &mut Dice, uid: usize) -> Value {
        match dice.below(8) {
            0 | 1 => json!({ "set": { "/metadata/labels/app": *dice.pick(&["x", "y", "z"]) } }),
            2 => json!({ "set": {
                "/spec/nodeName": *dice.pick(&["n1", "n2", "n3"]),
                "/metadata/annotations/note": *dice.pick(&["p", "q"]),
            } }),
            3 | 4 => json!({ "incr": { "/spec/n": 1 + dice.below(3) } }),
            5 => {
                let pointers =
                    ["/metadata/labels", "/spec/nodeName", "/metadata/labels/tier", "/metadata/annotations"];
                json!({ "unset": [*dice.pick(&pointers)] })
            }
            6 => json!({ "replace": self.pod(dice, uid) }),
            // Nothing changes.
            _ => json!({}),
        }
    }
}

/// Adds a label or a field selector, often none.
pub(super) fn select(step: &mut Value, dice: &mut Dice) {
    const LABELS: [&str; 8] =
        ["app=x", "app=y", "app!=x", "tier", "!tier", "app in (x,z)", "tier=front,app=y", "app=nothing"];
    const FIELDS: [&str; 4] =
        ["metadata.name=a", "metadata.name!=a", "metadata.namespace=ns2", "metadata.name=nobody"];
    match dice.below(10) {
        0..3 => step["labelSelector"] = json!(*dice.pick(&LABELS)),
        3 => step["fieldSelector"] = json!(*dice.pick(&FIELDS)),
        _ => {}
    }
}

/// How values are kept: with two keys of one cipher, the second of which is only read by, or plainly.
pub(super) fn transformer(dice: &mut Dice) -> Value {
    const KEY: &str = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";
    let cipher = *dice.pick(&["identity", "aesgcm", "aescbc", "secretbox"]);
    if cipher == "identity" {
        return json!(cipher);
    }
    let mut provider = Map::new();
    provider.insert(cipher.to_owned(), json!([{ "name": "key1", "secret": KEY }]));
    provider.insert("identity_fallback".to_owned(), json!(true));
    Value::Object(provider)
}
