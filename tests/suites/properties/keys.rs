//! Keys and continue tokens.

use kubestore_core::{ContinueToken, PathPrefix};
use proptest::prelude::*;

/// Paths of segments that matter.
fn path() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        4 => "[a-c]{1,2}",
        1 => Just(".".to_owned()),
        1 => Just("..".to_owned()),
        1 => Just("...".to_owned()),
        1 => Just(String::new()),
        1 => "\\PC{1,3}",
    ];
    (prop::collection::vec(segment, 0..5), any::<bool>(), any::<bool>()).prop_map(
        |(segments, first, last)| {
            let slash = |yes| if yes { "/" } else { "" };
            [slash(first), &segments.join("/"), slash(last)].concat()
        },
    )
}

fn has_dots(key: &str) -> bool {
    key.split('/').any(|segment| segment == "." || segment == "..")
}

proptest! {
    #![proptest_config(super::cases(256))]

    /// Whatever the key, what is asked of the backend is below the prefix, or nothing.
    #[test]
    fn no_key_leads_out_of_the_prefix(prefix in path(), key in path()) {
        let prefix = PathPrefix::new(&prefix);
        prop_assert!(prefix.as_str().starts_with('/') && prefix.as_str().ends_with('/'));
        prop_assert!(!has_dots(prefix.as_str()), "{}", prefix.as_str());
        prop_assert_eq!(&PathPrefix::new(prefix.as_str()), &prefix, "a cleaned prefix is clean");

        let refused = key.is_empty() || key == "/" || has_dots(&key);
        let prepared = prefix.prepare(&key);
        prop_assert_eq!(prepared.is_err(), refused);
        if let Ok(prepared) = prepared {
            let below = prepared.strip_prefix(prefix.as_str()).unwrap();
            prop_assert_eq!(below, key.strip_prefix('/').unwrap_or(&key));
            let folder = prefix.prepare_recursive(&key).unwrap();
            prop_assert_eq!(folder.strip_suffix('/').unwrap(), prepared.strip_suffix('/').unwrap_or(&prepared));
        }
    }

    /// A token goes on exactly where it says. (As in the reference, a slash that begins a name is not kept.)
    #[test]
    fn tokens_come_back_as_they_were(
        name in "([a-c][a-c/]{0,8}|\\PC{1,6})?",
        revision in 1_i64..,
    ) {
        prop_assume!(!name.starts_with('/'));
        let prefix = "/registry/pods/";
        let next = [prefix, &name].concat();
        let token = ContinueToken::encode(next.as_bytes(), prefix, revision).unwrap();
        // What would lead elsewhere, or name a folder twice, is refused where it is read.
        if let Ok(decoded) = ContinueToken::decode(&token, prefix) {
            prop_assert_eq!(decoded.revision, revision);
            let start: &[u8] = decoded.start_key.as_bytes();
            prop_assert_eq!(start, next.as_bytes());
        } else {
            let odd = name.split('/').any(|segment| matches!(segment, "" | "." | ".."));
            prop_assert!(odd, "{name:?} is refused");
        }
        prop_assert!(ContinueToken::encode(name.as_bytes(), "/elsewhere/", revision).is_err());
    }

    /// A token that somebody made up, or damaged, is refused or stays below the prefix it is used with.
    #[test]
    fn no_token_leads_out_of_the_prefix(
        start in "[a-b./]{0,10}|\\PC{0,6}",
        revision in any::<i64>(),
        bit in 0_usize..400,
        noise in "[A-Za-z0-9_=-]{0,40}",
    ) {
        use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
        let prefix = "/registry/pods/";
        let json = serde_json::json!({ "v": "meta.k8s.io/v1", "rv": revision, "start": start }).to_string();
        let mut damaged = json.clone().into_bytes();
        let at = bit / 8 % damaged.len();
        damaged[at] ^= 1 << (bit % 8);
        for token in [URL_SAFE_NO_PAD.encode(json), URL_SAFE_NO_PAD.encode(damaged), noise] {
            if let Ok(decoded) = ContinueToken::decode(&token, prefix) {
                prop_assert!(decoded.start_key.starts_with(prefix), "{token}: {decoded:?}");
                prop_assert!(!has_dots(&decoded.start_key), "{token}: {decoded:?}");
            }
        }
    }
}
