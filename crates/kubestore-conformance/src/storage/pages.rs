//! Cases: lists in pages.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use kubestore_core::{
    CreateOptions, ErrorKind, List, ListOptions, Predicate,
    ResourceVersionMatch::{Exact, NotOlderThan, Unset},
};

use super::{
    Action, Pod, StorageHarness,
    fixture::{Fixture, at, fields, holds, labels, same},
    seed::create_all,
};

/// A page of `/pods`, which reads as few ranges as a doubling page size allows, and opens the values it needs. Those that
/// came with them may be opened too, where several are opened at a time: `most` at the most.
async fn page(fx: &Fixture, options: ListOptions, needed: usize, most: usize) -> List<Pod> {
    fx.hook("take_reads", fx.instance().take_reads());
    let (limit, what) = (options.limit, format!("page with {options:?}"));
    let list = fx.list("/pods", options).await;
    let reads = fx.hook("take_reads", fx.instance().take_reads());
    let mut lists = 1;
    let mut size = usize::try_from(limit).unwrap_or_default();
    let mut covered = 1;
    while size > 0 && covered < needed {
        size *= 2;
        covered += size;
        lists += 1;
    }
    same!(fx, reads.lists, lists, "ranges read by the {what}");
    let values = reads.values;
    holds!(
        fx,
        (needed..=most).contains(&values),
        "{values} values opened by the {what}, want {needed} to {most}"
    );
    list
}

fn options(limit: i64, token: Option<&str>, predicate: Predicate) -> ListOptions {
    let options = ListOptions::recursive().with_limit(limit).with_predicate(predicate);
    options.with_continue_token(token.unwrap_or_default())
}

/// Pages follow each other by token at one resource version, and no page reads more than it gives.
pub async fn list_continuation(harness: &dyn StorageHarness) {
    let fx = Fixture::exclusive(harness).await;
    let (pods, last) = create_all(&fx, &[("first", "bar"), ("second", "bar"), ("second", "foo")]).await;
    let check = |list: &List<Pod>, want: &[Pod], more: bool| {
        same!(fx, list.items, want, "objects of the page");
        same!(fx, list.continue_token.is_some(), more, "whether the page is followed by another");
        same!(fx, list.resource_version.to_string(), last, "resource version of the page");
    };
    let any = Predicate::default;
    let first = page(&fx, options(1, None, any()), 1, 1).await;
    check(&first, &pods[..1], true);
    let token = first.continue_token.as_deref();
    check(&page(&fx, options(0, token, any()), 2, 2).await, &pods[1..], false);
    let second = page(&fx, options(1, token, any()), 1, 1).await;
    check(&second, &pods[1..2], true);
    let third = page(&fx, options(1, second.continue_token.as_deref(), any()), 1, 1).await;
    check(&third, &pods[2..], false);
}

/// A rare object is found in few reads, because pages grow while nothing matches.
pub async fn list_pagination_rare_object(harness: &dyn StorageHarness) {
    const PODS: usize = 1_000;
    let fx = Fixture::shared(harness).await;
    let mut last = Pod::default();
    for number in 0..PODS {
        last = fx.create(&Pod::new("", &format!("pod-{number}"))).await;
    }
    let found = page(&fx, options(1, None, fields("metadata.name=pod-999")), PODS, PODS).await;
    same!(fx, found.continue_token, None, "token after the last object");
    same!(fx, found.items, [last], "the rare object");
}

/// Pages with a selector are filled from further reads, and none is read twice.
pub async fn list_continuation_with_filter(harness: &dyn StorageHarness) {
    let fx = Fixture::exclusive(harness).await;
    let (pods, last) = create_all(&fx, &[("1", "foo"), ("2", "bar"), ("3", "foo"), ("4", "foo")]).await;
    let wanted = || fields("metadata.name!=bar");
    let first = page(&fx, options(2, None, wanted()), 3, 4).await;
    same!(fx, first.items, [pods[0].clone(), pods[2].clone()], "objects of the first page");
    same!(fx, first.resource_version.to_string(), last, "resource version of the first page");
    holds!(fx, first.continue_token.is_some(), "the first page is not followed by another");
    let second = page(&fx, options(2, first.continue_token.as_deref(), wanted()), 1, 1).await;
    same!(fx, second.items, [pods[3].clone()], "objects of the second page");
    same!(fx, second.continue_token, None, "token after the last page");
    same!(fx, second.resource_version.to_string(), last, "resource version of the second page");
}

/// A token whose state is compacted is refused with another, which goes on at a newer state.
pub async fn list_inconsistent_continuation(harness: &dyn StorageHarness) {
    let fx = Fixture::exclusive(harness).await;
    let (pods, _) = create_all(&fx, &[("first", "bar"), ("second", "bar"), ("second", "foo")]).await;
    let page = async |limit, token: &str| {
        let options = options(limit, Some(token), Predicate::default());
        fx.store().get_list("/pods", options.with_resource_version("0", Unset)).await
    };
    let first = fx.ok(page(1, "").await, "first page");
    same!(fx, first.items, pods[..1], "objects of the first page");
    let token = first.continue_token.unwrap_or_default();
    let updated = fx.change(&pods[2].key(), |pod| pod.labelled("state", "new")).await;
    fx.compact(updated.version()).await;

    let error = fx.fails(page(0, &token).await, ErrorKind::Expired, "page with an old token");
    let status = error.status();
    let text = "The provided continue parameter is too old ";
    holds!(fx, status.message.contains(text), "{:?} does not say that the token is too old", status.message);
    let token = status.continue_token.unwrap_or_default();
    holds!(fx, !token.is_empty(), "no token came with {error:?}");
    let second = fx.ok(page(1, &token).await, "page with the inconsistent token");
    same!(fx, second.items, pods[1..2], "objects of the second page");
    holds!(
        fx,
        second.resource_version >= updated.version(),
        "the second page is of {}",
        second.resource_version
    );
    let third = fx.ok(page(1, &second.continue_token.unwrap_or_default()).await, "third page");
    same!(fx, third.items, [updated], "objects of the third page");
    same!(fx, third.continue_token, None, "token after the last page");
    same!(fx, third.resource_version, second.resource_version, "resource version of the third page");
}

/// A list is of one state although objects are created while it is made, and the same list asked for at its own resource
/// version again is equal.
pub async fn list_resource_version_match(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let (store, next) = (fx.shared_store(), Arc::new(AtomicUsize::new(0)));
    let one_more: Action = Arc::new(move || {
        let (store, number) = (Arc::clone(&store), next.fetch_add(1, Ordering::Relaxed));
        Box::pin(async move {
            let pod = Pod::new("", &format!("pod-{number}")).labelled("even", &(number % 2 == 0).to_string());
            let created = store.create(&pod.key(), pod, CreateOptions::default()).await;
            created.unwrap_or_else(|error| panic!("create within a list: {error:?}"));
        })
    });
    for _ in 0..5 {
        one_more().await;
    }
    fx.hook("before_each_list", fx.instance().before_each_list(Arc::clone(&one_more)));
    let list = async |version: u64, meaning| {
        let version = if version == 0 { String::new() } else { version.to_string() };
        fx.list("/pods", at(&version, meaning).with_predicate(labels("even=true")).with_limit(4)).await
    };
    let newest = list(0, Unset).await;
    let newer = list(newest.resource_version, NotOlderThan).await;
    for first in [newest, newer] {
        let again = list(first.resource_version, Exact).await;
        same!(fx, again.items, first.items, "the list at {} asked for again", first.resource_version);
        same!(fx, again.resource_version, first.resource_version, "resource version of that list");
        same!(fx, again.continue_token, first.continue_token, "token of that list");
        same!(fx, again.remaining_item_count, first.remaining_item_count, "remaining items of that list");
    }
}
