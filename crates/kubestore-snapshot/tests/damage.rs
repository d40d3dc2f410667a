//! Files that are cut or altered: an error, or right data, and nothing else.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;

use bytes::Bytes;
use common::Random;
use futures_util::StreamExt;
use kubestore_kv::{GetRequest, KeyValue, Kv, ListRequest, Revision, WatchGroup, WatchRequest, WatchTarget};
use kubestore_snapshot::{Checksum, Snapshot, SnapshotErrorKind, SnapshotOptions};

const PAGE: usize = 4096;

fn ignoring() -> SnapshotOptions {
    SnapshotOptions::default().checksum(Checksum::Ignore)
}

/// Reads whatever a snapshot gives, in every way, and tells the keys and values of the newest state.
async fn read_all(snapshot: &Snapshot) -> Vec<KeyValue> {
    let listed = snapshot.list(ListRequest::new("")).await.unwrap();
    assert_eq!(listed.kvs.len(), usize::try_from(listed.count.unwrap()).unwrap());
    for kv in listed.kvs.iter().step_by(17) {
        assert_eq!(snapshot.get(GetRequest::new(kv.key.clone())).await.unwrap().kv.as_ref(), Some(kv));
    }
    let start = snapshot.info().compacted.0.max(1);
    let request =
        WatchRequest::new(WatchGroup::new(), WatchTarget::Prefix(Bytes::new())).from(Revision(start));
    let items: Vec<_> = snapshot.watch(request.with_previous()).await.unwrap().collect().await;
    assert!(items.len() >= 2 && items.last().unwrap().is_err());
    listed.kvs
}

#[tokio::test]
async fn cut_anywhere_it_is_an_error() {
    let whole = Bytes::from(common::cluster("snapshot.db"));
    let lengths =
        (0..whole.len()).step_by(PAGE).flat_map(|at| [at, at + 1, at + 32, at + 512, at + PAGE / 2 + 7]);
    for length in lengths.filter(|length| *length < whole.len()) {
        for options in [SnapshotOptions::default(), ignoring()] {
            // Less than a page more than the database has is no loss if nobody asks for the checksum.
            let cut = whole.slice(..length);
            let Err(error) = Snapshot::from_bytes(cut, options.clone()).await else {
                assert!(length >= whole.len() - 32, "{length}");
                continue;
            };
            let kinds = [SnapshotErrorKind::Truncated, SnapshotErrorKind::ChecksumMismatch];
            assert!(kinds.contains(&error.kind()), "{length}: {error}");
            if error.kind() == SnapshotErrorKind::ChecksumMismatch {
                let cause = std::error::Error::source(&error).unwrap().to_string();
                assert!(cause.contains("cut short") || cause.contains("shorter than"), "{cause}");
            }
        }
    }
}

#[tokio::test]
async fn no_altered_byte_goes_through_a_checksum() {
    let whole = common::cluster("snapshot.db");
    let mut random = Random::new(1);
    for _ in 0..200 {
        let mut altered = whole.clone();
        let at = random.below(altered.len());
        altered[at] ^= 1 << random.below(8);
        let error = Snapshot::from_bytes(altered, SnapshotOptions::default()).await.unwrap_err();
        // An altered length of the file is not what happens here.
        assert_ne!(error.kind(), SnapshotErrorKind::Truncated, "{error}");
    }
}

/// Without the checksum only the values, and what is not in use, may be altered unnoticed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_altered_files_give_errors_or_right_keys() {
    let whole = common::cluster("snapshot.db");
    let right = read_all(&Snapshot::from_bytes(whole.clone(), ignoring()).await.unwrap()).await;
    let right: BTreeMap<_, _> = right.into_iter().map(|kv| (kv.key.clone(), kv)).collect();
    let mut random = Random::new(2);
    let (mut refused, mut same, mut other) = (0, 0, 0);
    for _ in 0..10_000 {
        let mut altered = whole.clone();
        for _ in 0..=random.below(3) {
            // Half of them where numbers and bounds are.
            let within = if random.below(2) == 0 { random.below(512) } else { random.below(PAGE) };
            let at = random.below(altered.len() / PAGE) * PAGE + within;
            altered[at] = u8::try_from(random.below(256)).unwrap();
        }
        let snapshot = match Snapshot::from_bytes(altered, ignoring()).await {
            Ok(snapshot) => snapshot,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
                continue;
            }
        };
        let read = read_all(&snapshot).await;
        let wrong = read.iter().filter(|kv| right.get(&kv.key) != Some(kv)).count();
        if wrong == 0 && read.len() == right.len() {
            same += 1;
        } else {
            // A byte of a value, or of a key that is in nothing but the record, cannot be told from another.
            assert!(wrong <= 6, "{wrong} wrong of {}", read.len());
            other += 1;
        }
    }
    println!("{refused} refused, {same} the same, {other} with other values");
    assert!(refused > 1000 && same > 1000, "{refused} refused, {same} the same");
}

/// Numbers that promise more than there is, in every place where one is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_number_is_believed() {
    let whole = common::cluster("snapshot.db");
    let pages = whole.len() / PAGE;
    let right = read_all(&Snapshot::from_bytes(whole.clone(), ignoring()).await.unwrap()).await;
    for page in 2..pages {
        for word in 0..24 {
            for number in [0_u32, 1, 16, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u32::try_from(page).unwrap()]
            {
                let mut altered = whole.clone();
                let at = page * PAGE + word * 4;
                altered[at..at + 4].copy_from_slice(&number.to_le_bytes());
                if let Ok(snapshot) = Snapshot::from_bytes(altered, ignoring()).await {
                    assert!(read_all(&snapshot).await.len() <= right.len() + 2);
                }
            }
        }
    }
}

/// Either of the two first pages will do; without them there is nothing.
#[tokio::test]
async fn one_of_the_first_pages_is_enough() {
    let whole = common::cluster("snapshot.db");
    let right = read_all(&Snapshot::from_bytes(whole.clone(), ignoring()).await.unwrap()).await;
    let mut altered = whole;
    for (at, others) in [(24, true), (PAGE + 24, false)] {
        altered[at] ^= 0xff;
        let opened = Snapshot::from_bytes(altered.clone(), ignoring()).await;
        if others {
            assert_eq!(read_all(&opened.unwrap()).await, right);
            continue;
        }
        let error = opened.unwrap_err();
        assert_eq!(
            (error.kind(), error.page(), error.offset()),
            (SnapshotErrorKind::Damaged, Some(0), Some(0))
        );
    }
}

/// The error says where, in words and in numbers.
#[tokio::test]
async fn the_place_of_the_damage_is_told() {
    let whole = common::cluster("snapshot.db");
    // Leaves of many elements are those of the bucket of keys.
    let leaf = (2..whole.len() / PAGE)
        .find(|page| {
            whole[page * PAGE + 8] == 2 && whole[page * PAGE + 10] > 1 && whole[page * PAGE + 12] == 0
        })
        .unwrap();
    let at = u64::try_from(leaf * PAGE).unwrap();
    let page = u64::try_from(leaf).unwrap();
    for (offset, byte, told, what) in [
        (0, 0xee, 0, "the page says that it is page"),
        (8, 0x10, 8, "the page is of kind 0x10"),
        (11, 0xff, 10, "elements do not fit"),
        (12, 0xff, 12, "beyond the end of the file"),
        (16 + 3, 0x01, 16, "element 0 is of kind"),
        (16 + 7, 0x01, 16, "reaches beyond its page"),
        (16 + 4, 0x00, 16, "lies over another one"),
    ] {
        let mut altered = whole.clone();
        altered[leaf * PAGE + offset] = byte;
        let error = Snapshot::from_bytes(altered, ignoring()).await.unwrap_err();
        assert_eq!(error.kind(), SnapshotErrorKind::Damaged, "{error}");
        assert_eq!((error.page(), error.offset()), (Some(page), Some(at + told)), "{error}");
        assert!(error.to_string().contains(what), "{error}");
        assert!(error.to_string().contains(&format!("page {page}, file offset {}: ", at + told)), "{error}");
    }
    let cut = whole[..leaf * PAGE].to_vec();
    let error = Snapshot::from_bytes(cut, ignoring()).await.unwrap_err();
    assert_eq!((error.kind(), error.page()), (SnapshotErrorKind::Truncated, Some(page)), "{error}");
}
