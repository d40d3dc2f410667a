//! Every engine that is built makes the same bytes, opens the same values and says the same of all others.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::{Bytes, BytesMut};
use serde_json::Value;

#[cfg(feature = "aws-lc-rs")]
use super::aws_lc::AwsLc;
use super::{AesGcm, Engine, NONCE, On, TAG, rust_crypto::RustCrypto};
use crate::{Key, KeyError, TransformErrorKind, cipher::Cipher};

const HERE: &[u8] = b"/registry/secrets/default/token";
const PREFIX: &[u8] = b"k8s:enc:aesgcm:v1:";
const NONCE_AND_TAG: usize = NONCE + TAG;

/// Each engine alone, and that which the features choose.
fn each(key: &Key) -> Vec<Box<dyn Cipher>> {
    vec![
        Box::new(On::<RustCrypto>::new(key).unwrap()),
        #[cfg(feature = "aws-lc-rs")]
        Box::new(On::<AwsLc>::new(key).unwrap()),
        Box::new(AesGcm::new(key).unwrap()),
    ]
}

/// What each engine seals under this nonce, with the tag.
fn seal_each(key: &Key, nonce: [u8; NONCE], authenticated: &[u8], plain: &[u8]) -> Vec<Vec<u8>> {
    fn run<E: Engine>(key: &Key, nonce: [u8; NONCE], authenticated: &[u8], plain: &[u8]) -> Vec<u8> {
        let mut text = plain.to_vec();
        let tag = E::new(key).unwrap().seal(nonce, authenticated, &mut text).unwrap();
        text.extend_from_slice(&tag);
        text
    }
    vec![
        run::<RustCrypto>(key, nonce, authenticated, plain),
        #[cfg(feature = "aws-lc-rs")]
        run::<AwsLc>(key, nonce, authenticated, plain),
    ]
}

type Said = Result<Bytes, (TransformErrorKind, String)>;

/// What all engines say; they must agree.
fn open_each(key: &Key, sealed: &[u8], authenticated: &[u8]) -> Said {
    let open = |cipher: &dyn Cipher| {
        cipher
            .open(BytesMut::from(sealed), authenticated)
            .map_err(|error| (error.kind(), error.status_message().into_owned()))
    };
    let engines = each(key);
    let said: Vec<Said> = engines.iter().map(|engine| open(&**engine)).collect();
    for (engine, other) in engines.iter().zip(&said) {
        assert_eq!(&said[0], other, "{engine:?}");
    }
    said[0].clone()
}

fn keys() -> impl Iterator<Item = Key> {
    [16, 24, 32].into_iter().map(|length| Key::new("k", vec![7; length]).unwrap())
}

fn bytes(vector: &Value, field: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(vector[field].as_str().unwrap()).unwrap()
}

/// The recorded values of AES-GCM with a key that has the name in the envelope: what follows the header, and the key.
fn recorded(direction: &str) -> Vec<(Value, Vec<u8>, Key)> {
    let all: Value = serde_json::from_str(include_str!("../../../tests/data/transformers.json")).unwrap();
    let mut found = Vec::new();
    for vector in all[direction].as_array().unwrap() {
        let stored = bytes(vector, "stored");
        let providers = vector["config"]["providers"].as_array().cloned();
        for provider in providers.unwrap_or_else(|| vec![vector["config"].clone()]) {
            for key in provider["aesgcm"].as_array().into_iter().flatten() {
                let name = key["name"].as_str().unwrap();
                let header = [PREFIX, name.as_bytes(), b":"].concat();
                if let Some(sealed) = stored.strip_prefix(&header[..]) {
                    found.push((
                        vector.clone(),
                        sealed.to_vec(),
                        Key::new(name, bytes(key, "secret")).unwrap(),
                    ));
                }
            }
        }
    }
    found
}

#[test]
fn recorded_values_open_alike() {
    let recorded = recorded("read");
    let (mut opened, mut refused) = (0, 0);
    for (vector, sealed, key) in &recorded {
        match open_each(key, sealed, vector["key"].as_str().unwrap().as_bytes()) {
            Ok(plain) => {
                assert_eq!(plain, bytes(vector, "plaintext"), "{}", vector["name"]);
                opened += 1;
            }
            // Of several keys with one name, another opens it.
            Err((_, said)) => {
                assert!(vector.get("plaintext").is_some() || vector["err"].as_str().unwrap().contains(&said));
                refused += 1;
            }
        }
    }
    assert!(opened > 20 && refused > 5, "{opened} opened, {refused} refused");
}

#[test]
fn each_makes_the_recorded_bytes_of_the_recorded_nonce() {
    let recorded = recorded("write");
    assert!(recorded.len() > 20, "{}", recorded.len());
    for (vector, sealed, key) in &recorded {
        let (nonce, expected) = sealed.split_first_chunk().unwrap();
        let authenticated = vector["key"].as_str().unwrap().as_bytes();
        for made in seal_each(key, *nonce, authenticated, &bytes(vector, "plaintext")) {
            assert_eq!(made, expected, "{}", vector["name"]);
        }
    }
}

#[test]
fn what_one_seals_every_other_opens() {
    for key in keys() {
        for length in [0, 1, 15, 16, 17, 255, 256, 257, 1 << 12, (1 << 16) + 1] {
            let plain: Vec<u8> = (0..=255).cycle().take(length).collect();
            for authenticated in [HERE, b"", &[b'k'; 4096]] {
                for engine in each(&key) {
                    let sealed = engine.seal(b"header:", &plain, authenticated).unwrap();
                    let sealed = sealed.strip_prefix(b"header:").unwrap();
                    assert_eq!(sealed.len(), NONCE + length + TAG);
                    assert_eq!(open_each(&key, sealed, authenticated).unwrap(), plain, "{engine:?}");
                }
                let made = seal_each(&key, [9; NONCE], authenticated, &plain);
                assert!(made.iter().all(|one| *one == made[0]), "{length} bytes");
            }
        }
    }
}

#[test]
fn each_refuses_what_was_changed_moved_or_cut_off() {
    let failed = "cipher: message authentication failed";
    for key in keys() {
        let sealed = each(&key)[0].seal(b"", &[b'x'; 40], HERE).unwrap();
        let refused = Err((TransformErrorKind::AuthenticationFailed, failed.into()));
        for bit in 0..sealed.len() * 8 {
            let mut damaged = sealed.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open_each(&key, &damaged, HERE), refused);
        }
        assert_eq!(open_each(&key, &sealed, b"/registry/secrets/default/other"), refused);
        let other = Key::new("k", vec![8; key.secret().len()]).unwrap();
        assert_eq!(open_each(&other, &sealed, HERE), refused);
        for length in 0..sealed.len() {
            let expected = match length {
                0..NONCE => {
                    (TransformErrorKind::Truncated, "the stored data was shorter than the required size")
                }
                NONCE..NONCE_AND_TAG => (TransformErrorKind::Truncated, failed),
                _ => (TransformErrorKind::AuthenticationFailed, failed),
            };
            let expected = Err((expected.0, expected.1.into()));
            assert_eq!(open_each(&key, &sealed[..length], HERE), expected, "{length} bytes");
        }
    }
}

#[test]
fn each_takes_the_same_keys() {
    fn refusal<E: Engine>(key: &Key) -> Option<KeyError> {
        E::new(key).err()
    }
    for length in 1..=64 {
        let key = Key::new("k", vec![7; length]).unwrap();
        let expected = (![16, 24, 32].contains(&length)).then(|| KeyError::WrongLength {
            name: "k".into(),
            provider: "aesgcm",
            got: length,
            expected: "16, 24 or 32",
        });
        assert_eq!(refusal::<RustCrypto>(&key), expected);
        #[cfg(feature = "aws-lc-rs")]
        assert_eq!(refusal::<AwsLc>(&key), expected);
    }
}

#[test]
fn debug_shows_no_secret() {
    let secret = "0123456789abcdef0123456789abcdef";
    for engine in each(&Key::new("k", secret).unwrap()) {
        let shown = format!("{engine:?}");
        assert!(!shown.contains("0123") && !shown.contains("48, 49"), "{shown}");
    }
}
