//! Properties of what users hand in or keep, against models that are too simple to be wrong: keys, tokens, selectors, stored
//! values, lists.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "properties/keys.rs"]
mod keys;
#[path = "properties/lists.rs"]
mod lists;
#[path = "properties/selectors.rs"]
mod selectors;
#[path = "properties/values.rs"]
mod values;

/// So many cases, or what `PROPTEST_CASES` says. What failed is not written down in files; the seed is in the failure.
fn cases(number: u32) -> proptest::prelude::ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let config = proptest::prelude::ProptestConfig::default();
    let cases = if asked { config.cases } else { number };
    proptest::prelude::ProptestConfig { cases, failure_persistence: None, ..config }
}
