//! Watching.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::command::{Kubestore, pod};

/// A command that goes on, and the lines that it prints as they come.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(k: &Kubestore, line: &str) -> Self {
        let mut child = k.start(line);
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// The next line, which must come without anything else happening.
    #[track_caller]
    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(20)).expect("no line came")
    }

    #[track_caller]
    fn event(&self) -> (String, String) {
        let event: Value = serde_json::from_str(&self.line()).unwrap();
        let text = |pointer: &str| event.pointer(pointer).unwrap().as_str().unwrap().to_owned();
        (text("/type"), text("/object/metadata/name"))
    }

    /// Interrupts it as Ctrl-C does.
    #[track_caller]
    fn interrupt(self) {
        let status = Command::new("kill").args(["-s", "INT", &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
        let output = self.child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
    }
}

fn event(kind: &str, name: &str) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_shown_as_they_happen() {
    let k = Kubestore::etcd().await;
    k.apply(&[pod("a", "app: web", "n1"), pod("b", "app: db", "n1")].concat());
    let all = Watching::start(&k, "watch pods -A -o json --initial-events");
    assert_eq!(all.event(), event("ADDED", "a"));
    assert_eq!(all.event(), event("ADDED", "b"));
    let web = Watching::start(&k, "watch pods -l app=web --resource-version 1 -o json");
    assert_eq!(web.event(), event("ADDED", "a"));
    let table = Watching::start(&k, "get pods -w --output-watch-events");
    assert!(table.line().starts_with("EVENT   NAME   READY   STATUS"));
    assert!(table.line().starts_with("ADDED   a "));
    assert!(table.line().starts_with("ADDED   b "));

    k.apply(&pod("b", "app: web", "n1"));
    assert_eq!(all.event(), event("MODIFIED", "b"));
    // It begins to match.
    assert_eq!(web.event(), event("ADDED", "b"));
    assert!(table.line().starts_with("MODIFIED   b "));
    k.run("delete pod a").ok();
    assert_eq!(all.event(), event("DELETED", "a"));
    assert_eq!(web.event(), event("DELETED", "a"));
    assert!(table.line().starts_with("DELETED    a "));
    for watching in [all, web, table] {
        watching.interrupt();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_object_is_watched_by_its_name() {
    let k = Kubestore::etcd().await;
    k.apply(&[pod("a", "", "n1"), pod("ab", "", "n1")].concat());
    let one = Watching::start(&k, "watch pod/a -o json --initial-events");
    assert_eq!(one.event(), event("ADDED", "a"));
    k.run("delete pod ab a").ok();
    assert_eq!(one.event(), event("DELETED", "a"));
    one.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_cannot_be_is_refused() {
    let k = Kubestore::etcd().await;
    assert_eq!(k.run("watch pods,cm").usage(), "a watch is of one resource at a time");
    assert_eq!(k.run("watch pods --resource-version 1 --initial-events").code, 2);
    assert!(k.run("watch pods --field-selector spec.foo=1").usage().contains("no field \"spec.foo\""));
    assert_eq!(k.run("get pods a -w").error(), "pods \"a\" not found in namespace \"default\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_that_nobody_reads_ends_a_watch_quietly() {
    let k = Kubestore::etcd().await;
    let mut child = k.start("watch pods -o name --initial-events");
    drop(child.stdout.take());
    // The first event that cannot be written ends it.
    k.apply(&pod("a", "", "n1"));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}
