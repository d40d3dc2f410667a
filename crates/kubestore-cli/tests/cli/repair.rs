//! Damaged directories and snapshots.

use std::{
    fs::{self, OpenOptions},
    io::{Seek, SeekFrom, Write},
};

use serde_json::{Value, json};

use crate::command::{Kubestore, config_map};

#[test]
fn a_damaged_directory_is_named_and_repaired() {
    let k = Kubestore::durable();
    for number in 0..20 {
        k.apply(&config_map(&format!("m{number}"), "value"));
    }
    assert_eq!(k.run("repair --dry-run").ok(), "20 keys, 20 versions, 0 leases, at revision 21\n");
    assert_eq!(k.run("repair").ok(), "nothing is wrong, and nothing was changed\n");

    let journal = k.data().join("data/0.jnl");
    let middle = fs::metadata(&journal).unwrap().len() / 2;
    let mut file = OpenOptions::new().write(true).open(&journal).unwrap();
    file.seek(SeekFrom::Start(middle)).unwrap();
    file.write_all(b"XXXXXXXXXXXXXXXX").unwrap();
    drop(file);
    let error = k.run("get cm").error();
    assert!(error.contains("; `kubestore repair --dry-run --data-dir "), "{error}");
    let ran = k.run("repair --dry-run -o json");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &report["sound"]), (1, &json!(false)), "{report}");
    assert!(ran.stderr.starts_with("error: revisions "), "{ran:?}");
    let (said, was) = k.run("repair").noted();
    assert!(said.starts_with("repaired: ") && said.contains("what was there before is in "), "{said}");
    assert!(was.starts_with("was wrong: revisions "), "{was}");
    let kept = k.run("get cm -o name").ok().lines().count();
    assert!((1..20).contains(&kept), "{kept}");
    assert_eq!(k.run("repair").ok(), "nothing is wrong, and nothing was changed\n");
    assert!(
        k.run_without_store("repair --endpoints http://127.0.0.1:1")
            .usage()
            .starts_with("repair is for directories; ")
    );
}

#[test]
fn a_snapshot_with_another_checksum_is_read_only_if_asked() {
    let k = Kubestore::cluster();
    let mut file = fs::read(k.path("cluster/snapshot.db")).unwrap();
    *file.last_mut().unwrap() ^= 1;
    fs::write(k.path("changed.db"), file).unwrap();
    let k = k.with_storage(&["--snapshot", "changed.db"]);
    let error = k.run("get pods -A").error();
    assert!(error.starts_with("changed.db: the checksum at the end is not that of the file"), "{error}");
    assert!(error.ends_with("; --ignore-checksum does that"), "{error}");
    assert_eq!(k.run("get pods -A -o name --ignore-checksum").ok(), "pod/p1\n");
    assert_eq!(k.run("diff --from changed.db --ignore-checksum").ok(), "0 added, 0 removed, 0 changed\n");
}

#[test]
fn a_watch_of_a_snapshot_tells_what_happened_and_ends() {
    let k = Kubestore::cluster();
    let ran = k.run("watch pods -A --resource-version 81 -o json");
    assert_eq!((ran.code, ran.stdout.lines().count()), (1, 1), "{ran:?}");
    let event: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&event["type"], &event["object"]["metadata"]["name"]), (&json!("ADDED"), &json!("p1")));
    assert!(ran.stderr.contains("the snapshot ends at revision 130"), "{ran:?}");
    assert!(
        k.run("watch pods -A").error().contains("nothing happens to a snapshot: it ends at revision 130")
    );
    let exact = |version: u32| {
        k.run(&format!("get pods -A -o name --resource-version {version} --resource-version-match Exact"))
            .noted()
            .0
    };
    assert_eq!((exact(104).as_str(), exact(103).as_str()), ("pod/p1\n", ""));
}
