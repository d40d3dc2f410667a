//! What goes wrong with the store and the command line.

use std::{fs, process::Command, time::Instant};

use kubestore_etcd::testing::free_address;

use crate::command::{Kubestore, config_map};

#[test]
fn reading_makes_no_store() {
    let k = Kubestore::durable();
    for line in ["get pods", "list pods", "count pods", "delete pod a", "watch pods"] {
        let error = k.run(line).error();
        let wanted = format!(
            "there is no store in {}; `kubestore apply` makes one, --data-dir, --endpoints or --snapshot name \
             another",
            k.data().display()
        );
        assert_eq!(error, wanted, "{line}");
    }
    assert!(!k.data().exists());
}

#[test]
fn without_a_name_the_store_is_in_the_users_data_home() {
    let k = Kubestore::durable();
    let file = k.file("a.yaml", &config_map("a", "1"));
    assert_eq!(k.run_without_store(&format!("apply -f {file}")).ok(), "configmap/a created\n");
    assert!(k.path("home/kubestore").is_dir());
    assert_eq!(k.run_without_store("get cm -o name").ok(), "configmap/a\n");
}

#[test]
fn a_locked_directory_says_who_has_it() {
    let k = Kubestore::durable();
    k.apply(&config_map("a", "1"));
    let mut watch = k.start("get cm --watch --no-headers");
    let mut first = [0; 1];
    std::io::Read::read_exact(watch.stdout.as_mut().unwrap(), &mut first).unwrap();
    let error = k.run("get cm").error();
    let wanted = format!("it is open in process {}; stop that, or name another directory", watch.id());
    assert!(error.ends_with(&wanted), "{error}");
    assert!(k.run_words(&["apply", "-f", "-"], &config_map("b", "1")).error().ends_with(&wanted));
    let stopped = Command::new("kill").args(["-s", "INT", &watch.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    let output = watch.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
    assert_eq!(k.run("get cm -o name").ok(), "configmap/a\n");
}

#[test]
fn a_directory_of_a_newer_format_or_of_something_else_is_left_alone() {
    let k = Kubestore::durable();
    k.apply(&config_map("a", "1"));
    let format = k.data().join("FORMAT");
    let before = fs::read_to_string(&format).unwrap();
    fs::write(&format, "kubestore-embedded 999\n").unwrap();
    for ran in [k.run("get cm"), k.run_words(&["apply", "-f", "-"], &config_map("b", "1"))] {
        let error = ran.error();
        assert!(error.contains(&k.data().display().to_string()) && error.contains("999"), "{error}");
    }
    fs::write(&format, before).unwrap();
    assert_eq!(k.run("get cm -o name").ok(), "configmap/a\n");

    k.file("other/photo.jpg", "");
    let directory = k.path("other").display().to_string();
    for line in [format!("get cm --data-dir {directory}"), format!("apply -f - --data-dir {directory}")] {
        let error = k.run_without_store(&line);
        if line.starts_with("get") {
            let error = error.error();
            assert!(error.contains("neither empty nor a kubestore directory (it has photo.jpg)"), "{error}");
        } else {
            assert!(error.error().contains("there is no object in it"));
        }
    }
    assert_eq!(fs::read_dir(k.path("other")).unwrap().count(), 1);
    let file = k.file("file", "");
    assert!(k.run_without_store(&format!("get cm --data-dir {file}")).error().contains(&file));
}

#[test]
fn a_closed_port_is_said_within_the_timeout() {
    let k = Kubestore::durable();
    let address = free_address().unwrap();
    let started = Instant::now();
    let error =
        k.run_without_store(&format!("get pods --endpoints http://{address} --timeout 300ms")).error();
    assert!(started.elapsed().as_millis() < 3000, "{:?}", started.elapsed());
    assert!(
        error.contains(&format!("no etcd answered at http://{address} within 300ms; check the address")),
        "{error}"
    );
    assert!(error.contains("Connection refused"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_names_endpoints_unless_the_command_line_names_a_store() {
    let etcd = Kubestore::etcd().await;
    etcd.apply(&config_map("a", "1"));
    let endpoint = etcd.storage()[1].clone();
    let from_environment = etcd.run_with_variable("get cm -o name", "KUBESTORE_ENDPOINTS", &endpoint);
    assert_eq!(from_environment.ok(), "configmap/a\n");
    let directory = Kubestore::durable();
    directory.apply(&config_map("b", "1"));
    let data = directory.data().display().to_string();
    let named = etcd.run_with_variable(
        &format!("get cm -o name --data-dir {data}"),
        "KUBESTORE_ENDPOINTS",
        &endpoint,
    );
    assert_eq!(named.ok(), "configmap/b\n");
}

#[test]
fn a_command_line_that_cannot_be_meant_exits_with_2() {
    let k = Kubestore::durable();
    k.apply(&config_map("a", "1"));
    for line in [
        "",
        "nonsense",
        "get",
        "get pods --limit 0",
        "get pods --resource-version abc",
        "get pods -o nonsense",
        "apply",
        "get pods --endpoints http://127.0.0.1:1",
        "get pods --timeout never",
        "delete",
    ] {
        let ran = k.run(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    }
    for (line, wanted) in [
        ("get pod/a b", "pod/a b mixes RESOURCE/NAME with names; write `pod/a pod/b` or `pods a b`"),
        ("get pods,cm a", "names stand after one resource only; write `pod/a secret/a`"),
        ("get cm a -A", "a name is looked up in one namespace; leave out --all-namespaces"),
        ("get ,", "name a resource, such as pods"),
        ("get pods,cm -w", "--watch takes one resource at a time"),
        (
            "get cm -n UP",
            "--namespace: the namespace \"UP\" is not 1 to 63 lower-case letters, digits and '-' that begin and end with a letter or digit",
        ),
        ("get cm --prefix /a/../b", "--prefix: \"/a/../b\" has a part . or ..; write a path"),
    ] {
        assert_eq!(k.run(line).usage(), wanted, "{line}");
    }
    for (line, wanted) in [
        (
            "get cm/a/b",
            "configmaps: the name \"a/b\" cannot be part of a path; it must not be . or .. nor contain / or %",
        ),
        ("get cm/", "configmaps: the name is empty; write one"),
        (
            "get tokenreviews",
            "tokenreviews.authentication.k8s.io are answered by an API server and not stored",
        ),
    ] {
        assert_eq!(k.run(line).error(), wanted, "{line}");
    }
}

#[test]
fn help_has_examples_for_every_command() {
    let k = Kubestore::durable();
    for command in [
        "apply", "get", "list", "delete", "count", "watch", "inspect", "history", "diff", "keys", "check",
        "export", "import",
    ] {
        let help = k.run_without_store(&format!("{command} --help")).ok();
        assert!(help.contains(&format!("Examples:\n  kubestore {command} ")), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 120), "{help}");
    }
    assert!(k.run_without_store("--version").ok().starts_with("kubestore 0."));
}
