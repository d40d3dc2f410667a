//! What the README shows.

use std::process::{Command, Stdio};

use crate::command::Kubestore;

#[test]
fn the_readme_shows_what_happens() {
    let k = Kubestore::durable();
    let blocks = include_str!("../../README.md").split("```console\n").skip(1);
    let mut count = 0;
    for block in blocks {
        for step in format!("\n{}", block.split("\n```").next().unwrap()).split("\n$ ").skip(1) {
            let (command, wanted) = command_and_output(step);
            assert_eq!(without_ages(&run(&k, &command)), without_ages(&wanted), "$ {command}");
            count += 1;
        }
    }
    assert!(count > 15, "the README has lost its examples");
}

/// The lines of a command, which has more than one only with a text inside, and those that it prints.
fn command_and_output(step: &str) -> (String, String) {
    let lines: Vec<_> = step.lines().collect();
    let here = lines[0].contains("<<'EOF'");
    let end = if here { lines.iter().position(|line| *line == "EOF").unwrap() + 1 } else { 1 };
    (lines[..end].join("\n"), lines[end..].join("\n"))
}

fn run(k: &Kubestore, command: &str) -> String {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_kubestore"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .env("PATH", path)
        .env("HOME", k.path(""))
        .env("XDG_DATA_HOME", k.path("home"))
        .env_remove("KUBESTORE_ENDPOINTS")
        .env_remove("RUST_LOG")
        .current_dir(k.path(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Ages are a matter of seconds, and so is the width of their column. Times of creation are another every time.
fn without_ages(text: &str) -> String {
    let is_time = |line: &str| line.trim_start().starts_with("creationTimestamp: \"");
    let is_age = |word: &str| word.strip_suffix('s').is_some_and(|number| number.parse::<u32>().is_ok());
    let line = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        if is_time(line) {
            return "  creationTimestamp".to_owned();
        }
        if !words.iter().any(|word| is_age(word)) {
            return line.to_owned();
        }
        words.into_iter().map(|word| if is_age(word) { "AGE" } else { word }).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
