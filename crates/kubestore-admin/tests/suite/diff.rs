//! What is different between two backends, or two revisions.

use futures_util::TryStreamExt;
use kubestore_admin::{AdminError, DiffOptions, Difference, Scope, diff};
use kubestore_embedded::Embedded;
use kubestore_kv::{DeleteRequest, Kv, PutRequest};

use crate::common::{done, get, head, put};

async fn differences(before: &dyn Kv, after: &dyn Kv, options: &DiffOptions) -> Vec<Difference> {
    diff(before, after, "/registry", options).try_collect().await.unwrap()
}

/// `+`, `-` or `~` and the end of each key.
fn short(differences: &[Difference]) -> Vec<String> {
    let sign = |found: &Difference| match (found.is_added(), found.is_removed(), found.is_changed()) {
        (true, false, false) => '+',
        (false, true, false) => '-',
        (false, false, true) => '~',
        other => panic!("{other:?}"),
    };
    let name = |found: &Difference| {
        let key = std::str::from_utf8(&found.key).unwrap();
        key.rsplit('/').next().unwrap().to_owned()
    };
    differences.iter().map(|found| format!("{}{}", sign(found), name(found))).collect()
}

#[tokio::test]
async fn each_key_that_is_not_the_same_is_told_in_order() {
    let (before, after) = (Embedded::in_memory(), Embedded::in_memory());
    for name in ["b", "c", "d", "f"] {
        put(&before, &format!("/registry/secrets/ns/{name}"), format!("old {name}")).await;
    }
    put(&after, "/registry/pods/ns/new", "new").await;
    for (name, value) in [("a", "new a"), ("b", "old b"), ("c", "new c"), ("f", "old f"), ("g", "new g")] {
        put(&after, &format!("/registry/secrets/ns/{name}"), value).await;
    }
    let found = differences(&before, &after, &DiffOptions::default()).await;
    assert_eq!(short(&found), ["+new", "+a", "~c", "-d", "+g"]);
    assert_eq!(found[2].before, get(&before, "/registry/secrets/ns/c").await);
    assert_eq!(found[2].after, get(&after, "/registry/secrets/ns/c").await);
    assert_eq!(
        (found[3].after.is_none(), found[3].before.as_ref().unwrap().value.as_ref()),
        (true, &b"old d"[..])
    );
    let back = differences(&after, &before, &DiffOptions::default()).await;
    assert_eq!(short(&back), ["-new", "-a", "~c", "+d", "-g"]);
    let secrets = Scope::new("/registry").only(["secrets"]).unwrap();
    let found: Vec<_> = diff(&before, &after, secrets, &DiffOptions::default()).try_collect().await.unwrap();
    assert_eq!(short(&found), ["+a", "~c", "-d", "+g"]);
    assert!(differences(&after, &after, &DiffOptions::default()).await.is_empty());
    // Written by others, at other revisions.
    let found = differences(&before, &after, &DiffOptions::default().compare_revisions(true)).await;
    assert_eq!(short(&found), ["+new", "+a", "~b", "~c", "-d", "~f", "+g"]);
}

#[tokio::test]
async fn two_revisions_of_one_backend() {
    let kv = Embedded::in_memory();
    for number in 0..1500 {
        put(&kv, &format!("/registry/secrets/ns/{number:04}"), "one").await;
    }
    let before = head(&kv).await;
    for number in [0, 700, 1499] {
        let found = get(&kv, &format!("/registry/secrets/ns/{number:04}")).await.unwrap();
        if number == 700 {
            done(kv.optimistic_delete(DeleteRequest::new(found.key, found.mod_revision)).await.unwrap());
        } else {
            done(kv.optimistic_put(PutRequest::update(found.key, "two", found.mod_revision)).await.unwrap());
        }
    }
    let after = head(&kv).await;
    put(&kv, "/registry/secrets/ns/later", "one").await;
    let options = DiffOptions::default().before_at(before).after_at(after);
    assert_eq!(short(&differences(&kv, &kv, &options).await), ["~0000", "-0700", "~1499"]);
    let lease = kv.grant_lease(std::time::Duration::from_secs(60)).await.unwrap();
    let later = get(&kv, "/registry/secrets/ns/later").await.unwrap();
    let put = PutRequest::update(later.key, later.value, later.mod_revision).with_lease(Some(lease.id));
    done(kv.optimistic_put(put).await.unwrap());
    let options = DiffOptions::default().before_at(after.next());
    assert_eq!(short(&differences(&kv, &kv, &options).await), ["~later"]);

    kv.compact(after).await.unwrap();
    let options = DiffOptions::default().before_at(before);
    let result: Result<Vec<_>, _> = diff(&kv, &kv, "/registry", &options).try_collect().await;
    assert!(matches!(result.unwrap_err(), AdminError::Compacted { job: "diff", .. }));
}
