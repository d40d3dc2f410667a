//! The `replay` command: what it prints, and how it exits.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::{Value, json};
use tempfile::TempDir;

fn replay(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_replay")).args(arguments).arg(folder).output().unwrap()
}

/// A folder with one scenario, which counts so many objects and finds one.
fn scenario(counted: u32) -> TempDir {
    let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}});
    let scenario: Value = json!({"name": "counts", "steps": [
        {"op": "create", "key": "/pods/a", "obj": object, "out": false, "expect": {"ok": {}, "rev": "+1"}},
        {"op": "count", "key": "/pods", "expect": {"ok": {"count": counted}, "rev": "+1"}},
    ]});
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("counts.json"), scenario.to_string()).unwrap();
    folder
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().next_back().unwrap_or_default().to_owned()
}

#[test]
fn success_is_one_line_and_exit_code_0() {
    let output = replay(&[], scenario(1).path());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 passed, 0 failed\n");

    let output = replay(&["-v", "--backend", "durable", "--only", "count", "--pad", "9"], scenario(1).path());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "pass counts (2 steps)\n1 passed, 0 failed\n");
}

#[test]
fn a_failure_shows_what_was_expected_and_what_came() {
    let folder = scenario(2);
    let output = replay(&[], folder.path());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    let file = folder.path().join("counts.json");
    let expected =
        format!("FAIL counts ({})\n  step 1: count /pods\n    ok.count: expected 2, got 1\n", file.display());
    assert_eq!(text, expected + "0 passed, 1 failed\n");
    assert_eq!(last_line(&output), "0 passed, 1 failed");
}

#[test]
fn what_cannot_be_read_or_meant_is_exit_code_2() {
    let folder = scenario(1);
    let missing = folder.path().join("missing.json");
    let odd = folder.path().join("odd.json");
    for (content, arguments, said) in [
        (None, vec![], "missing.json"),
        (Some("{"), vec![], "odd.json"),
        (Some(r#"{"name": "x", "steps": [{"op": "fly", "expect": {}}]}"#), vec![], "fly"),
        (
            Some(r#"{"name": "x", "steps": [{"op": "count", "key": "a", "keys": 1, "expect": {}}]}"#),
            vec![],
            "keys",
        ),
        (Some(r#"{"name": "x", "steps": [{"op": "readiness"}]}"#), vec![], "expect"),
        (Some(r#"{"name": "x", "steps": []}"#), vec!["--only", "y"], "\"y\""),
        (Some(r#"{"name": "x", "steps": []}"#), vec!["--endpoints", "http://127.0.0.1:1"], "--backend etcd"),
        (Some(r#"{"name": "x", "steps": []}"#), vec!["--backend", "paper"], "paper"),
    ] {
        let path = if let Some(content) = content {
            fs::write(&odd, content).unwrap();
            &odd
        } else {
            &missing
        };
        let output = replay(&arguments, path);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(said), "{error}");
        assert_eq!(output.stdout, b"");
    }
}
