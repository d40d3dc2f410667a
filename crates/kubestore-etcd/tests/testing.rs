//! The tools for tests do what they say.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::Duration,
};

use kubestore_etcd::testing::{EtcdProcess, Proxy};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{Instant, sleep, timeout},
};

/// Answers everything with itself.
async fn echo() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = client.split();
                let _ended = tokio::io::copy(&mut from, &mut to).await;
            });
        }
    });
    address
}

async fn say(connection: &mut TcpStream, words: &[u8]) -> Option<Vec<u8>> {
    connection.write_all(words).await.ok()?;
    let mut answer = vec![0; words.len()];
    connection.read_exact(&mut answer).await.ok()?;
    Some(answer)
}

#[tokio::test]
async fn a_proxy_passes_and_closes_also_when_it_is_mended_at_once() {
    let proxy = Proxy::recording(echo().await).await.unwrap();
    let mut connection = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(say(&mut connection, b"hello").await.unwrap(), b"hello");
    assert_eq!(proxy.sent(), b"hello");
    proxy.cut();
    proxy.mend();
    assert_eq!(say(&mut connection, b"there?").await, None);
    let mut connection = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(say(&mut connection, b"again").await.unwrap(), b"again");
    proxy.cut();
    let mut refused = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(say(&mut refused, b"now?").await, None);
}

#[tokio::test]
async fn a_stalled_proxy_says_nothing_and_loses_nothing() {
    let proxy = Proxy::to(echo().await).await.unwrap();
    let mut connection = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(say(&mut connection, b"1").await.unwrap(), b"1");
    proxy.stall();
    connection.write_all(b"2").await.unwrap();
    let mut answer = [0];
    assert!(timeout(Duration::from_millis(200), connection.read_exact(&mut answer)).await.is_err());
    proxy.mend();
    timeout(Duration::from_secs(5), connection.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(&answer, b"2");
}

#[tokio::test]
async fn a_slow_proxy_holds_back_both_directions() {
    let proxy = Proxy::to(echo().await).await.unwrap();
    let mut connection = TcpStream::connect(proxy.address()).await.unwrap();
    proxy.delay(Duration::from_millis(100));
    let begin = Instant::now();
    assert_eq!(say(&mut connection, b"slow").await.unwrap(), b"slow");
    assert!(begin.elapsed() >= Duration::from_millis(200), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn an_answer_is_lost_once() {
    let proxy = Proxy::recording(echo().await).await.unwrap();
    let mut connection = TcpStream::connect(proxy.address()).await.unwrap();
    proxy.lose_answer();
    assert_eq!(say(&mut connection, b"lost").await, None);
    assert_eq!(proxy.sent(), b"lost");
    let mut connection = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(say(&mut connection, b"kept").await.unwrap(), b"kept");
}

/// Set for the process that is killed.
const CHILD: &str = "KUBESTORE_TEST_CHILD";

#[tokio::test]
async fn an_etcd_does_not_outlive_the_process_that_started_it() {
    if std::env::var_os(CHILD).is_some() {
        let etcd = EtcdProcess::start().await.unwrap();
        println!("etcd at {}", etcd.address());
        // Until it is killed.
        std::future::pending::<()>().await;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "an_etcd_does_not_outlive_the_process_that_started_it", "--nocapture"])
        .env(CHILD, "yes")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address =
        lines.map_while(Result::ok).find_map(|line| Some(line.split_once("etcd at ")?.1.to_owned()));
    let address = address.expect("the child did not start an etcd");
    assert!(TcpStream::connect(&address).await.is_ok());
    child.kill().unwrap();
    child.wait().unwrap();
    let gone = async {
        while TcpStream::connect(&address).await.is_ok() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(5), gone).await.expect("etcd goes on without its test");
}
