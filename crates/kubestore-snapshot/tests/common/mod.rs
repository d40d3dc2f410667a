//! What the tests share: the snapshot of a real cluster, and snapshots of an etcd that runs.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::read::GzDecoder;

/// A file of the pack that the tests of the workspace share.
pub(crate) fn cluster(name: &str) -> Vec<u8> {
    let pack = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cluster.tar.gz");
    let mut pack = tar::Archive::new(GzDecoder::new(std::fs::File::open(pack).unwrap()));
    for entry in pack.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.path().unwrap().ends_with(name) {
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            return content;
        }
    }
    panic!("the pack has no {name}");
}

/// What `etcdctl snapshot save` would write now: the same stream, by way of etcd's JSON gateway.
pub(crate) fn save(address: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = "POST /v3/maintenance/snapshot HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().contains(" 200 "), "etcd refuses a snapshot");
    let body = lines.skip_while(|line| !line.is_empty()).skip(1);
    let mut snapshot = Vec::new();
    for part in body.filter(|line| !line.is_empty()) {
        let part: serde_json::Value = serde_json::from_str(&part).unwrap();
        assert_eq!(part["error"], serde_json::Value::Null);
        if let Some(blob) = part["result"]["blob"].as_str() {
            snapshot.extend(BASE64_STANDARD.decode(blob).unwrap());
        }
    }
    snapshot
}

/// Random numbers that are the same in every run.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ mixed >> 31) % bound as u64).unwrap()
    }
}
