//! Stored values in what people hand over.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use common::{Random, base64, data, list};
use kubestore_codec::{Damage, Encoding, Wrapping, recognise, sniff};

/// An envelope with line feeds, carriage returns and bytes that are not UTF-8 in it.
fn protobuf() -> Vec<u8> {
    let body: &[u8] = b"\x0a\x0d\x0a\x03web\x12\x00\x1a\x04ns1\r\n\n\xff\xfe";
    let mut value = b"k8s\0\n\t\n\x02v1\x12\x03Pod\x12".to_vec();
    value.push(u8::try_from(body.len()).unwrap());
    value.extend_from_slice(body);
    value.extend_from_slice(b"\x1a\0\x22\0");
    value
}

fn cbor() -> Vec<u8> {
    b"\xd9\xd9\xf7\xa2\x44kind\x44a\n\nb\x4aapiVersion\x42v1".to_vec()
}

/// Every line feed with a carriage return in front.
fn through_a_terminal(value: &[u8]) -> Vec<u8> {
    value
        .iter()
        .flat_map(|byte| if *byte == b'\n' { &b"\r\n"[..] } else { std::slice::from_ref(byte) })
        .copied()
        .collect()
}

/// Checks what is found, and gives the key.
#[track_caller]
fn check(given: &[u8], value: &[u8], wrappings: &[Wrapping], damage: Option<Damage>) -> Option<Vec<u8>> {
    let found = recognise(given);
    assert_eq!(found.len(), 1);
    let found = &found[0];
    assert_eq!(found.value, value, "{}", String::from_utf8_lossy(given));
    assert_eq!(found.encoding, sniff(value));
    assert_eq!(found.wrappings, wrappings, "{}", String::from_utf8_lossy(given));
    assert_eq!(found.damage, damage);
    found.key.as_deref().map(<[u8]>::to_vec)
}

fn values() -> [Vec<u8>; 4] {
    let json = b"{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}\n".to_vec();
    [protobuf(), cbor(), json, b"k8s:enc:aesgcm:v1:key1:\n\r\n\xff".to_vec()]
}

#[test]
fn bare_values_stay_as_they_are() {
    for value in values() {
        assert_eq!(check(&value, &value, &[], None), None);
        assert!(matches!(recognise(&value)[0].value, std::borrow::Cow::Borrowed(_)));
    }
}

#[test]
fn text_forms_are_undone() {
    for value in values() {
        for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD] {
            let text = engine.encode(&value);
            check(text.as_bytes(), &value, &[Wrapping::Base64], None);
            check(format!("\"{text}\"\n").as_bytes(), &value, &[Wrapping::Quotes, Wrapping::Base64], None);
            let lines: Vec<_> = text.as_bytes().chunks(20).map(|line| [line, b"\r\n"].concat()).collect();
            check(&lines.concat(), &value, &[Wrapping::Base64], None);
            let twice = STANDARD.encode(text);
            check(twice.as_bytes(), &value, &[Wrapping::Base64, Wrapping::Base64], None);
        }
        let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
        check(hex.as_bytes(), &value, &[Wrapping::Hex], None);
        check(format!("0x{}\n", hex.to_uppercase()).as_bytes(), &value, &[Wrapping::Hex], None);
        let escaped: String = value.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        check(escaped.as_bytes(), &value, &[Wrapping::Hex], None);
        let key_first = format!("\\x2f\\x72\n{escaped}\n");
        let wrappings = [Wrapping::Hex, Wrapping::EtcdctlText];
        assert_eq!(check(key_first.as_bytes(), &value, &wrappings, None).unwrap(), b"/r");
        let wide: Vec<u8> = STANDARD.encode(&value).encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide = [&b"\xff\xfe"[..], &wide].concat();
        check(&wide, &value, &[Wrapping::Utf16, Wrapping::Base64], None);
    }
}

#[test]
fn the_output_of_etcdctl_is_taken_apart() {
    for value in values() {
        let simple = [b"/registry/pods/ns1/a\n", &value[..], b"\n"].concat();
        let key = check(&simple, &value, &[Wrapping::EtcdctlText], None);
        assert_eq!(key.unwrap(), b"/registry/pods/ns1/a");

        let pairs = [("/registry/a", &value), ("/registry/b", &value)].map(|(key, value)| {
            serde_json::json!({
                "key": STANDARD.encode(key), "value": STANDARD.encode(value),
                "create_revision": 2, "mod_revision": 3, "version": 1,
            })
        });
        let json = serde_json::json!({"header": {"cluster_id": 1}, "kvs": pairs, "count": 2});
        let text = json.to_string();
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let wide = [&b"\xfe\xff"[..], &wide].concat();
        for (given, wrappings) in [
            (text.as_bytes(), &[Wrapping::EtcdctlJson][..]),
            (&wide, &[Wrapping::Utf16, Wrapping::EtcdctlJson]),
        ] {
            let found = recognise(given);
            let keys: Vec<_> = found.iter().map(|found| found.key.as_deref().unwrap()).collect();
            assert_eq!(keys, [b"/registry/a", b"/registry/b"]);
            assert!(found.iter().all(|found| found.value == value && found.wrappings == wrappings));
        }
    }
    let empty = br#"{"header":{"revision":1}}"#;
    assert_eq!(recognise(empty), []);
    // A key without a value, as etcd may have it.
    let found = recognise(br#"{"kvs":[{"key":"L3I="}]}"#);
    assert_eq!((found[0].encoding.clone(), found[0].value.len()), (Encoding::Unknown, 0));
    // An object with a field of that name.
    let object = br#"{"apiVersion":"v1","kind":"Odd","kvs":[{"key":"L3I="}]}"#;
    check(object, object, &[], None);
}

#[test]
fn a_line_feed_at_the_end_is_told_from_the_value() {
    for value in [protobuf(), cbor()] {
        check(&[&value[..], b"\n"].concat(), &value, &[Wrapping::LineFeed], None);
        assert_eq!(recognise(&[&value[..], b"\n\n"].concat())[0].damage, Some(Damage::Inconsistent));
    }
}

#[test]
fn line_endings_of_a_terminal_are_undone() {
    for value in [protobuf(), cbor()] {
        let damaged = through_a_terminal(&value);
        assert_ne!(damaged, value);
        check(&damaged, &value, &[], Some(Damage::LineEndings));
        let with_end = through_a_terminal(&[&value[..], b"\n"].concat());
        check(&with_end, &value, &[Wrapping::LineFeed], Some(Damage::LineEndings));
        let simple = through_a_terminal(&[b"/registry/a\n", &value[..], b"\n"].concat());
        let key = check(&simple, &value, &[Wrapping::EtcdctlText], Some(Damage::LineEndings));
        assert_eq!(key.unwrap(), b"/registry/a");
        let wrapped = STANDARD.encode(&damaged);
        check(wrapped.as_bytes(), &value, &[Wrapping::Base64], Some(Damage::LineEndings));
    }
    // What is cut as well is undone as far as it goes: its beginning gives it away.
    let value = protobuf();
    let cut = through_a_terminal(&value[..value.len() - 3]);
    check(&cut, &value[..value.len() - 3], &[], Some(Damage::LineEndings));
}

#[test]
fn damage_that_stays_is_told() {
    for value in [protobuf(), cbor()] {
        let cut = &value[..value.len() - 1];
        check(cut, cut, &[], Some(Damage::Inconsistent));
    }
    let value = protobuf();
    let replaced = String::from_utf8_lossy(&value).into_owned().into_bytes();
    check(&replaced, &replaced, &[], Some(Damage::Replaced));
    let shown: Vec<_> =
        [Damage::LineEndings, Damage::Replaced, Damage::Inconsistent].map(|damage| damage.to_string()).into();
    assert!(shown.iter().all(|text| text.contains("etcdctl get -w json")));
}

#[test]
fn what_is_nothing_comes_back() {
    for given in [
        &b""[..],
        b"x",
        b"hello world",
        b"QUJD",
        b"abcdef",
        b"/registry/x\nnothing\n",
        b"\"\"",
        b"\\x4",
        b"\xff\xfe\x41",
    ] {
        let found = recognise(given);
        assert_eq!((found.len(), &*found[0].value), (1, given));
        assert_eq!((&found[0].encoding, &found[0].key), (&Encoding::Unknown, &None));
        assert!(found[0].wrappings.is_empty());
    }
}

#[test]
fn values_of_the_reference_survive_every_way() {
    for case in list(&data(include_str!("data/cbor-objects.json")), "objects") {
        let value = base64(&case["cbor"]);
        check(case["cbor"].as_str().unwrap().as_bytes(), &value, &[Wrapping::Base64], None);
        if value.contains(&b'\n') {
            check(&through_a_terminal(&value), &value, &[], Some(Damage::LineEndings));
        }
    }
}

#[test]
fn hostile_bytes_do_no_harm() {
    let mut random = Random::new(3);
    let mut given: Vec<Vec<u8>> = values().into();
    given.push(STANDARD.encode(STANDARD.encode(protobuf())).into_bytes());
    given.push(br#"{"kvs":[{"key":"L3I=","value":"azhzAA0KAw0KAXY="}],"count":1}"#.to_vec());
    let mut recognised = 0;
    for round in 0..100_000 {
        let mut bytes = given[round % given.len()].clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, b"\n\r\"/\\\x00\xff{}0a"[random.below(11)]),
            }
        }
        let found = recognise(&bytes);
        assert!(found.iter().all(|found| found.value.len() <= bytes.len()));
        recognised += usize::from(found.first().is_some_and(|found| found.encoding != Encoding::Unknown));
    }
    assert!(recognised > 50_000, "{recognised}");
}

#[test]
fn debug_shows_no_content() {
    let shown = format!("{:?}", recognise(b"/registry/secrets/x\nk8s\0s3cr3t")[0]);
    assert!(!shown.contains("s3cr3t") && !shown.contains("registry"), "{shown}");
}
