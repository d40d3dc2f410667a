//! Lists.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::TryStreamExt as _;
use kubestore_conformance::storage::{Pod, PodCodec, PodVersioner};
use kubestore_core::{
    CreateOptions, FieldSelector, ListOptions, ListPart, Predicate, ResourceVersionMatch, Storage,
    StorageExt as _,
};
use kubestore_embedded::Embedded;
use kubestore_store::Store;
use proptest::prelude::*;

/// What is done before and between the pages of a list.
#[derive(Clone, Debug)]
enum Change {
    Create(usize),
    Remove(usize),
}

fn name(number: usize) -> String {
    format!("ns{}/p{number:02}", number % 3)
}

fn pod(number: usize) -> Pod {
    let mut pod = Pod::new(&format!("ns{}", number % 3), &format!("p{number:02}"));
    // The more seldom, the higher the number.
    let app = if number.is_multiple_of(7) { "seldom" } else { "often" };
    pod.labels.insert("app".to_owned(), app.to_owned());
    pod
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (0_usize..40).prop_map(Change::Create),
        1 => (0_usize..40).prop_map(Change::Remove),
    ]
}

type State = BTreeMap<String, usize>;

async fn apply(store: &dyn Storage<Pod>, state: &mut State, change: &Change) {
    match change {
        Change::Create(number) if !state.contains_key(&name(*number)) => {
            store
                .create(&format!("/pods/{}", name(*number)), pod(*number), CreateOptions::default())
                .await
                .unwrap();
            state.insert(name(*number), *number);
        }
        Change::Remove(number) if state.remove(&name(*number)).is_some() => {
            store.remove(&format!("/pods/{}", name(*number))).await.unwrap();
        }
        _ => {}
    }
}

fn names(pods: &[Pod]) -> Vec<String> {
    pods.iter().map(|pod| format!("{}/{}", pod.namespace, pod.name)).collect()
}

fn wanted(state: &State, folder: &str, selector: &str) -> Vec<String> {
    let matches = |number: usize| match selector {
        "app=seldom" => number.is_multiple_of(7),
        "app=nothing" => false,
        _ => true,
    };
    let listed = state.iter().filter(|(name, number)| name.starts_with(folder) && matches(**number));
    listed.map(|(name, _)| name.clone()).collect()
}

/// All pages, while `changes` go on between them, and how many there were.
async fn paged(
    store: &dyn Storage<Pod>,
    key: &str,
    options: &ListOptions,
    state: &mut State,
    changes: &[Change],
) -> (Vec<String>, usize) {
    let (mut all, mut pages) = (Vec::new(), 0);
    let mut options = options.clone();
    loop {
        let page = store.get_list(key, options.clone()).await.unwrap();
        pages += 1;
        assert!(page.items.len() <= usize::try_from(options.limit).unwrap(), "{options:?}");
        all.extend(names(&page.items));
        let Some(token) = page.continue_token else { return (all, pages) };
        options.continue_token = token;
        options.resource_version.clear();
        for change in changes.iter().skip(3 * pages).take(3) {
            apply(store, state, change).await;
        }
    }
}

async fn check(before: Vec<Change>, between: Vec<Change>, limit: i64, selector: &str, folder: &str) {
    let kv = Arc::new(Embedded::in_memory());
    let store = Store::builder(kv, Arc::new(PodCodec), Arc::new(PodVersioner)).build();
    let mut state = State::new();
    for change in &before {
        apply(&store, &mut state, change).await;
    }
    let then = store.current_resource_version().await.unwrap();
    let key = format!("/pods/{folder}");
    let predicate = Predicate::new(selector.parse().unwrap(), FieldSelector::default());
    let options = ListOptions::recursive().with_predicate(predicate);
    let want = wanted(&state, folder, selector);

    let whole = store.get_list(&key, options.clone()).await.unwrap();
    assert_eq!((names(&whole.items), whole.resource_version), (want.clone(), then));
    assert!(whole.continue_token.is_none());
    let parts: Vec<_> = store.list_stream(&key, options.clone()).try_collect().await.unwrap();
    let streamed = parts.into_iter().flat_map(|part| match part {
        ListPart::Items(items) => names(&items),
        _ => Vec::new(),
    });
    assert_eq!(streamed.collect::<Vec<_>>(), want);

    let (all, pages) = paged(&store, &key, &options.clone().with_limit(limit), &mut state, &between).await;
    assert_eq!(all, want, "in {pages} pages of {limit}");
    assert!(pages <= 1 + want.len() / usize::try_from(limit).unwrap(), "{pages} pages of {limit}");

    let mut exact = options;
    exact.resource_version = then.to_string();
    exact.resource_version_match = ResourceVersionMatch::Exact;
    let past = store.get_list(&key, exact).await.unwrap();
    assert_eq!((names(&past.items), past.resource_version), (want, then), "the state as it was");
}

proptest! {
    #![proptest_config(super::cases(64))]

    /// Whole, in parts, in pages of any size while others write, and asked for again later: a list is the state of one
    /// revision, filtered.
    #[test]
    fn every_way_of_listing_gives_the_state_of_one_revision(
        before in prop::collection::vec(change(), 0..60),
        between in prop::collection::vec(change(), 30),
        limit in 1_i64..42,
        selector in prop::sample::select(vec!["", "app=seldom", "app=nothing"]),
        folder in prop::sample::select(vec!["", "ns1/"]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(before, between, limit, selector, folder));
    }
}
