//! Answers that no sane backend gives, deadlines, and lists in parts.

mod common;

use std::{sync::Arc, time::Duration};

use common::{builder, faulty, fill, labelled_pod, memory, names, number, pod, with_number};
use futures_util::StreamExt as _;
use kubestore_conformance::{Fault, Operation};
use kubestore_core::{
    CreateOptions, ErrorKind, ListOptions, ListPart, Predicate, ResourceVersionMatch, Storage, StorageExt,
    Updated,
};
use kubestore_kv::{KvErrorKind, ListRequest, ListResponse, Revision};

/// A backend that claims more keys than it gives.
mod liar;

#[tokio::test]
async fn no_items_but_more_to_come_ends_a_list_with_an_error() {
    let lie = |_: &ListRequest| ListResponse::new(Vec::new(), Revision(5), true, Some(9));
    let store = builder(Arc::new(liar::Liar::new(memory(), lie))).build();
    let error = store.get_list("/pods", ListOptions::recursive().with_limit(9)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "list of /registry/pods/: no results were found, but etcd indicated there were more values remaining"
    );
}

#[tokio::test]
async fn an_answer_without_a_revision_is_refused() {
    let lie = |_: &ListRequest| ListResponse::new(Vec::new(), Revision(0), false, Some(0));
    let store = builder(Arc::new(liar::Liar::new(memory(), lie))).build();
    let error = store.get_list("/pods", ListOptions::recursive().with_limit(9)).await.unwrap_err();
    assert!(error.to_string().contains("illegal resource version from storage: 0"), "{error}");
}

#[tokio::test]
async fn a_list_past_its_deadline_names_the_key_it_had_come_to() {
    let store = builder(memory()).build();
    fill(&store, 3).await;
    let options = ListOptions::recursive().with_timeout(Duration::ZERO);
    let error = store.get_list("/pods", options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(error.key(), Some("/registry/pods/ns1/p00"));
    assert_eq!(error.status().code, 504);
    let in_time = ListOptions::recursive().with_timeout(Duration::from_secs(60));
    assert_eq!(store.get_list("/pods", in_time).await.unwrap().items.len(), 3);
}

#[tokio::test]
async fn a_list_above_the_head_says_both_resource_versions() {
    let store = builder(memory()).build();
    fill(&store, 2).await;
    for options in [
        ListOptions::recursive().with_resource_version("77", ResourceVersionMatch::Exact),
        ListOptions::recursive().with_limit(1).with_resource_version("77", ResourceVersionMatch::Unset),
        ListOptions::recursive().with_resource_version("77", ResourceVersionMatch::NotOlderThan),
    ] {
        let error = store.get_list("/pods", options).await.unwrap_err();
        assert!(error.is_too_large_resource_version() && error.is_retryable(), "{error}");
        assert_eq!(
            (error.requested_resource_version(), error.current_resource_version()),
            (Some(77), Some(3))
        );
    }
}

#[tokio::test]
async fn a_list_in_parts_is_the_list() {
    let store = builder(memory()).build();
    fill(&store, 30).await;
    store.create("/pods/ns1/x", labelled_pod("x", "db"), CreateOptions::default()).await.unwrap();
    let web = Predicate::new("app=web".parse().unwrap(), "metadata.name!=p07".parse().unwrap());
    for (options, expected) in [
        (ListOptions::recursive(), 31),
        (ListOptions::recursive().with_limit(4), 4),
        (ListOptions::recursive().with_limit(4).with_predicate(web.clone()), 4),
        (ListOptions::recursive().with_predicate(web), 29),
    ] {
        let whole = store.get_list("/pods", options.clone()).await.unwrap();
        assert_eq!(whole.items.len(), expected);
        let (mut items, mut end) = (Vec::new(), None);
        let mut parts = store.list_stream("/pods", options);
        while let Some(part) = parts.next().await {
            match part.unwrap() {
                ListPart::Items(part) => items.extend(part),
                ListPart::End { resource_version, continue_token, remaining_item_count } => {
                    end = Some((resource_version, continue_token, remaining_item_count));
                }
                _ => unreachable!("no other parts"),
            }
        }
        assert_eq!(names(&items), names(&whole.items));
        assert_eq!(end, Some((whole.resource_version, whole.continue_token, whole.remaining_item_count)));
    }
}

#[tokio::test]
async fn pages_with_a_selector_give_each_match_once() {
    let store = builder(memory()).build();
    for number in 0..35 {
        let app = if number % 7 == 0 { "db" } else { "web" };
        let name = format!("p{number:02}");
        let key = format!("/pods/ns1/{name}");
        store.create(&key, labelled_pod(&name, app), CreateOptions::default()).await.unwrap();
    }
    let predicate = Predicate::new("app=db".parse().unwrap(), Default::default());
    for limit in 1..=40 {
        let mut options = ListOptions::recursive().with_limit(limit).with_predicate(predicate.clone());
        let (mut found, mut pages) = (Vec::new(), 0);
        loop {
            let page = store.get_list("/pods", options.clone()).await.unwrap();
            assert!(i64::try_from(page.items.len()).is_ok_and(|length| length <= limit));
            assert_eq!(page.remaining_item_count, None);
            found.extend(page.items.iter().map(|item| item.name().to_owned()));
            pages += 1;
            assert!(pages <= 7, "limit {limit} comes to no end");
            match page.continue_token {
                Some(token) => options.continue_token = token,
                None => break,
            }
        }
        assert_eq!(found, ["p00", "p07", "p14", "p21", "p28"], "limit {limit}");
    }
}

#[tokio::test]
async fn many_objects_are_decoded_in_order_on_all_cores() {
    let store = builder(memory()).build();
    fill(&store, 99).await;
    for number in 100..400 {
        let name = format!("q{number}");
        store.create(&format!("/pods/ns1/{name}"), pod(&name), CreateOptions::default()).await.unwrap();
    }
    let list = store.get_list("/pods", ListOptions::recursive()).await.unwrap();
    let listed = names(&list.items);
    assert_eq!(listed.len(), 399);
    assert!(listed.is_sorted());
}

#[tokio::test]
async fn the_first_unreadable_object_of_a_list_is_the_one_named() {
    let kv = memory();
    let store = builder(Arc::clone(&kv)).build();
    fill(&store, 99).await;
    for name in ["p70", "p20", "p95"] {
        let key = format!("/registry/pods/ns1/{name}");
        let current = kv.get(kubestore_kv::GetRequest::new(key.clone())).await.unwrap().kv.unwrap();
        let damaged = kubestore_kv::PutRequest::update(key, "damaged", current.mod_revision);
        kv.optimistic_put(damaged).await.unwrap();
    }
    let error = store.get_list("/pods", ListOptions::recursive()).await.unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::Corrupt, Some("/registry/pods/ns1/p20")));
    let page = store.get_list("/pods", ListOptions::recursive().with_limit(20)).await.unwrap();
    assert_eq!(page.items.len(), 20, "what is beyond the page does not matter");
}

#[tokio::test]
async fn an_unreachable_backend_is_an_error_that_may_be_retried() {
    let store = faulty(|call| match call.operation {
        Operation::Get if call.number == 0 => Fault::fail(KvErrorKind::Unavailable),
        _ => Fault::none(),
    })
    .build();
    let error = store.readiness().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Unreachable && error.is_retryable(), "{error}");
    store.readiness().await.unwrap();
}

#[tokio::test]
async fn an_update_counts_up_under_16_writers() {
    let store = builder(memory()).build();
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    let writers: Vec<_> = (0..16)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    let update = |current: Option<kubestore_codec::Unstructured>, _| async move {
                        let current = current.unwrap();
                        let next = number(&current) + 1;
                        Ok(Updated::new(with_number(current, next)))
                    };
                    store.update_with("/pods/ns1/a", update).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(number(&store.read("/pods/ns1/a").await.unwrap()), 160);
}
