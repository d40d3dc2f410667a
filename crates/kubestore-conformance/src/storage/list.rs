//! Cases: what a list holds, by resource version, match, selector and limit.

use kubestore_core::{
    ContinueToken, ErrorKind, ListOptions, ResourceVersionMatch,
    ResourceVersionMatch::{Exact, NotOlderThan, Unset},
    Scope,
};

use super::{
    Pod, StorageHarness,
    fixture::{Fixture, at, fields, holds, same},
    seed::{Seed, create_all},
};

/// A list that must succeed.
struct Row {
    key: &'static str,
    options: ListOptions,
    /// Places of the objects in the seed.
    items: &'static [usize],
    more: bool,
    remaining: Option<i64>,
    /// The list's own resource version, where it is known.
    version: Option<String>,
}

fn row(key: &'static str, options: ListOptions, items: &'static [usize]) -> Row {
    Row { key, options, items, more: false, remaining: None, version: None }
}

impl Row {
    fn more(self) -> Self {
        Self { more: true, ..self }
    }

    fn remaining(self, count: i64) -> Self {
        Self { remaining: Some(count), ..self.more() }
    }

    fn version(self, version: &str) -> Self {
        Self { version: Some(version.to_owned()), ..self }
    }

    async fn check(self, fx: &Fixture, seed: &Seed) {
        let what = format!("list of {} with {:?}", self.key, self.options);
        let list = fx.list(self.key, self.options).await;
        same!(fx, list.items, seed.at(self.items), "{what}");
        same!(fx, list.continue_token.is_some(), self.more, "whether {what} goes on");
        same!(fx, list.remaining_item_count, self.remaining, "remaining items of {what}");
        if let Some(version) = self.version {
            same!(fx, list.resource_version.to_string(), version, "resource version of {what}");
        } else {
            let least: u64 = seed.current.parse().unwrap_or_default();
            holds!(
                fx,
                list.resource_version >= least,
                "{what} is of {}, want {least}",
                list.resource_version
            );
        }
    }
}

/// Every combination of resource version, match, selector, limit and continue token gives what it should.
pub async fn list(harness: &dyn StorageHarness) {
    let fx = Fixture::exclusive(harness).await;
    let seed = Seed::plant(&fx).await;
    let newest = fx.bump_revision().await.to_string();
    for row in by_version(&seed, &newest).into_iter().chain(by_selector(&seed)).chain(by_token(&seed)) {
        row.check(&fx, &seed).await;
    }
    refused_lists(&fx, &seed).await;
}

fn limited(version: &str, meaning: ResourceVersionMatch) -> ListOptions {
    at(version, meaning).with_limit(1)
}

fn by_version(seed: &Seed, newest: &str) -> Vec<Row> {
    let (before, current) = (seed.before.as_str(), seed.current.as_str());
    let (first, second) = ("/pods/first/", "/pods/second/");
    vec![
        row(first, at("", Unset), &[0]).version(newest),
        row(first, at("0", Unset), &[0]),
        row(first, at("0", NotOlderThan), &[0]),
        row(first, at(before, Exact), &[]).version(before),
        row(first, at(before, NotOlderThan), &[0]),
        row(first, at(current, Unset), &[0]),
        row(first, at(current, Exact), &[0]).version(current),
        row(first, at(current, NotOlderThan), &[0]),
        row("/pods/non-existing/", at("", Unset), &[]).version(newest),
        row("/pods/empty", at("", Unset), &[]).version(newest),
        row("/pods/empty", at("0", Unset), &[]),
        row(second, limited("", Unset), &[1]).remaining(1).version(newest),
        row(second, limited(current, Unset), &[1]).remaining(1).version(current),
        row(second, limited(current, Exact), &[1]).remaining(1).version(current),
        row(second, limited(current, NotOlderThan), &[1]).remaining(1),
        row(second, limited("0", Unset), &[1]).remaining(1),
        row(second, limited("0", NotOlderThan), &[1]).remaining(1),
        row(second, limited(before, Exact), &[]).version(before),
        row(second, at("", Unset), &[1, 2]).version(newest),
        row(second, at(current, NotOlderThan), &[1, 2]),
        row("/pods", at("", Unset), &[0, 1, 2, 3, 4]).version(newest),
        row("/pods", at(current, NotOlderThan), &[0, 1, 2, 3, 4]),
    ]
}

fn by_selector(seed: &Seed) -> Vec<Row> {
    let mut rows = Vec::new();
    for (version, meaning) in [("", Unset), (seed.current.as_str(), NotOlderThan)] {
        let named = |selector: &str, limit| {
            at(version, meaning.clone()).with_predicate(fields(selector)).with_limit(limit)
        };
        rows.extend([
            row("/pods/first/", named("metadata.name!=bar", 0), &[]),
            // The page is full before the end is reached, whether or not more matches come.
            row("/pods", named("metadata.name=barfoo", 1), &[3]).more(),
            row("/pods", named("metadata.name=barfoo", 2), &[3]),
            row("/pods", named("metadata.name=bar", 2), &[0, 1]).more(),
            row("/pods", named("metadata.name=foo", 2), &[2, 4]),
            row("/pods", named("metadata.name=foo", 5), &[2, 4]),
            row("/pods", named("metadata.name=barfoo", 5), &[3]),
            row("/pods", named("spec.nodeName=fakeNode", 5), &[0]),
            row("/pods", named("metadata.name=baz", 5), &[]),
        ]);
    }
    let anything = at("0", Unset).with_predicate(fields("metadata.name=barfoo")).with_limit(2);
    rows.push(row("/pods", anything, &[3]));
    rows
}

fn by_token(seed: &Seed) -> Vec<Row> {
    let version = seed.current.as_str();
    let (within, across) = (token(version, "foo"), token(version, "third/barfoo"));
    let rest = |limit| {
        let options = at("", Unset).with_predicate(fields("metadata.name=foo")).with_limit(limit);
        options.with_continue_token(&across)
    };
    vec![
        row("/pods/second/", limited("", Unset).with_continue_token(&within), &[2]).version(version),
        row("/pods/second/", limited("0", Unset).with_continue_token(&within), &[2]).version(version),
        row("/pods", rest(2), &[4]).version(version),
        row("/pods", rest(1), &[4]).version(version),
    ]
}

/// A token that goes on with `start`, relative to the key of the list.
fn token(version: &str, start: &str) -> String {
    let key = format!("prefix/{start}");
    match ContinueToken::encode(key.as_bytes(), "prefix/", version.parse().unwrap_or_default()) {
        Ok(token) => token,
        Err(error) => panic!("the case's own token: {error}"),
    }
}

async fn refused_lists(fx: &Fixture, seed: &Seed) {
    let before = seed.before.as_str();
    let invalid = || ResourceVersionMatch::from("Invalid");
    let with_token = limited("1", Unset).with_continue_token(token(&seed.current, "foo"));
    let future = i64::MAX.to_string();
    let rows = [
        (at("abc", Unset), ErrorKind::BadRequest),
        (with_token, ErrorKind::BadRequest),
        (at("0", invalid()), ErrorKind::Other),
        (at(before, invalid()), ErrorKind::Other),
        (at(&future, Unset), ErrorKind::TooLargeResourceVersion),
        (at(&future, Exact), ErrorKind::TooLargeResourceVersion),
        (limited(&future, Unset), ErrorKind::TooLargeResourceVersion),
        (at("", Unset).with_continue_token("nonsense"), ErrorKind::BadRequest),
    ];
    for (options, kind) in rows {
        let what = format!("list with {options:?}");
        let error = fx.fails(fx.store().get_list("/pods", options).await, kind, what);
        let timeout = error.status().reason == "Timeout";
        same!(
            fx,
            timeout,
            kind == ErrorKind::TooLargeResourceVersion,
            "whether {error} is a timeout to clients"
        );
    }
}

/// A list is of the newest revision, also when nothing it holds has changed since.
pub async fn consistent_list(harness: &dyn StorageHarness) {
    let fx = Fixture::exclusive(harness).await;
    let created = fx.create(&Pod::new("default", "foo")).await;
    let newest = fx.bump_revision().await;
    holds!(fx, newest > created.version(), "the revision was not raised: {newest}, {}", created.version());
    for version in ["0", "", "0"] {
        let options = ListOptions::default().with_resource_version(version, Unset);
        let list = fx.list("/pods/empty", options).await;
        same!(fx, list.resource_version, newest, "resource version of a list with {version:?}");
    }
}

/// A list of a single object, by resource version and match.
pub async fn get_list_non_recursive(harness: &dyn StorageHarness) {
    let fx = Fixture::exclusive(harness).await;
    let old = fx.create(&Pod::new("test-ns", "foo")).await;
    let key = old.key();
    let new = fx.change(&key, |pod| pod.annotated("version", "second")).await;
    fx.bump_revision().await;
    fx.compact(old.version()).await;

    let single = |version: &str, meaning| ListOptions::default().with_resource_version(version, meaning);
    let (before, now) = (old.resource_version.as_str(), new.resource_version.as_str());
    let other = |version: &str| single(version, Unset).with_predicate(fields("metadata.name!=foo"));
    let whole = Some(&new);
    let rows = [
        (key.as_str(), single("", Unset), whole),
        (key.as_str(), single("0", Unset), whole),
        (key.as_str(), single("0", NotOlderThan), whole),
        (key.as_str(), single(now, Unset), whole),
        (key.as_str(), single(now, NotOlderThan), whole),
        (key.as_str(), single(before, NotOlderThan), whole),
        (key.as_str(), single(now, Exact), whole),
        (key.as_str(), single(before, Exact), Some(&old)),
        (key.as_str(), other(now), None),
        ("/non-existing", single("", Unset), None),
        ("/non-existing", other(""), None),
    ];
    for (key, options, want) in rows {
        let what = format!("list of {key} with {options:?}");
        let list = fx.list(key, options).await;
        same!(fx, list.items, want.cloned().into_iter().collect::<Vec<_>>(), "{what}");
        holds!(fx, list.resource_version > 0, "{what} has no resource version");
    }
    let future = single(&i64::MAX.to_string(), Unset);
    let refused = fx.store().get_list(&key, future).await;
    fx.fails(refused, ErrorKind::TooLargeResourceVersion, "list at a future resource version");
}

/// A recursive list is of a folder, any other of an object, although one key is the beginning of the other.
pub async fn get_list_recursive_prefix(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let names = [("test-ns", "foo"), ("test-ns", "foobar"), ("test-ns2", "baz")];
    let (pods, last) = create_all(&fx, &names).await;
    let rows: [(&str, Scope, &[usize]); 8] = [
        ("/pods/", Scope::Single, &[]),
        ("/pods/", Scope::Recursive, &[0, 1, 2]),
        ("/pods/test-ns/", Scope::Single, &[]),
        ("/pods/test-ns/", Scope::Recursive, &[0, 1]),
        ("/pods/test-ns/foo", Scope::Single, &[0]),
        ("/pods/test-ns/foo", Scope::Recursive, &[]),
        ("/pods/test-ns/foobar", Scope::Single, &[1]),
        ("/pods/test-ns/foobar", Scope::Recursive, &[]),
    ];
    for (version, meaning) in [(last.as_str(), Exact), ("", Unset), ("0", NotOlderThan)] {
        for (key, scope, places) in rows {
            let mut options = ListOptions::default().with_resource_version(version, meaning.clone());
            options.scope = scope;
            let what = format!("list of {key}, {scope:?}, {version:?} {meaning:?}");
            let want: Vec<_> = places.iter().map(|place| pods[*place].clone()).collect();
            same!(fx, fx.list(key, options).await.items, want, "{what}");
        }
    }
}
