//! Pages.

use serde_json::Value;

use crate::command::{Kubestore, config_map};

#[test]
fn pages_are_read_to_the_end() {
    let k = Kubestore::durable();
    let all: String = (0..7).map(|number| config_map(&format!("c{number}"), "1")).collect();
    k.apply(&all);
    let mut names = Vec::new();
    let mut token = String::new();
    let mut notes = Vec::new();
    loop {
        let mut words = vec!["list", "cm", "--limit", "3", "-o", "name"];
        if !token.is_empty() {
            words.extend(["--continue", &token]);
        }
        let (page, note) = k.run_words(&words, "").noted();
        names.extend(page.lines().map(str::to_owned));
        let mut lines = note.lines();
        notes.push(lines.next().unwrap().to_owned());
        let Some(more) = lines.next() else { break };
        let (text, next) = more.split_once("--continue ").unwrap();
        notes.push(text.to_owned());
        token = next.to_owned();
        // What is written between two pages is not seen by the next.
        k.apply(&config_map("c9", "1"));
    }
    let wanted: Vec<_> = (0..7).map(|number| format!("configmap/c{number}")).collect();
    assert_eq!(names, wanted);
    assert_eq!(
        notes,
        [
            "3 objects listed at resource version 8.",
            "There is more (4); go on with: ",
            "3 objects listed at resource version 8.",
            "There is more (1); go on with: ",
            "1 object listed at resource version 8."
        ]
    );
}

#[test]
fn the_token_is_in_the_metadata_of_json() {
    let k = Kubestore::durable();
    k.apply(&[config_map("a", "1"), config_map("b", "1")].concat());
    let (json, note) = k.run("get cm --limit 1 -o json").noted();
    let list: Value = serde_json::from_str(&json).unwrap();
    let token = list["metadata"]["continue"].as_str().unwrap();
    assert_eq!(list["metadata"]["remainingItemCount"], 1);
    assert_eq!(note, format!("There is more (1); go on with: --continue {token}\n"));
}

#[test]
fn pages_go_with_one_resource_and_no_name() {
    let k = Kubestore::durable();
    k.apply(&config_map("a", "1"));
    assert!(k.run("get cm a --limit 1").usage().starts_with("names and pages do not go together"));
    assert!(k.run("get cm,pods --limit 1").usage().starts_with("pages are of one resource"));
    let error = k.run("get cm --continue nonsense").error();
    assert!(error.starts_with("list: invalid continue token: "), "{error}");
}
