//! What holds for every provider, and where they differ.
#![cfg(all(feature = "aes-gcm", feature = "aes-cbc", feature = "secretbox"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::HashSet, thread};

use bytes::Bytes;
use kubestore_transform::{
    Identity, Key, KeyError, Opened, Provider, ProviderChain, ProviderError, TransformError,
    TransformErrorKind, Transformer, ValueContext,
};

const HERE: ValueContext<'_> = ValueContext::new(b"/registry/secrets/default/token");
const ELSEWHERE: ValueContext<'_> = ValueContext::new(b"/registry/secrets/default/other");
const PLAIN: &[u8] = b"correct horse battery staple";

fn key(name: &str, byte: u8) -> Key {
    Key::new(name, [byte; 32]).unwrap()
}

/// One chain for each cipher.
fn each(keys: &[Key]) -> [ProviderChain; 3] {
    let keys = || keys.iter().cloned();
    [Provider::aes_gcm(keys()), Provider::aes_cbc(keys()), Provider::secretbox(keys())]
        .map(|provider| ProviderChain::new([provider.unwrap()]).unwrap())
}

fn seal(transformer: &dyn Transformer, plain: &[u8]) -> Bytes {
    transformer.transform_to_storage(Bytes::copy_from_slice(plain), HERE).try_now().unwrap().unwrap()
}

fn open(
    transformer: &dyn Transformer,
    stored: impl Into<Bytes>,
    context: ValueContext<'_>,
) -> Result<Opened, TransformError> {
    transformer.transform_from_storage(stored.into(), context).try_now().unwrap()
}

#[test]
fn any_flipped_bit_of_an_authenticated_value_is_noticed() {
    let [gcm, _, secretbox] = each(&[key("k", 1)]);
    for chain in [gcm, secretbox] {
        let stored = seal(&chain, PLAIN);
        for bit in 0..stored.len() * 8 {
            let mut damaged = stored.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let error = open(&chain, damaged, HERE).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("horse"));
        }
        assert_eq!(open(&chain, stored, HERE).unwrap().data, PLAIN);
    }
}

#[test]
fn value_moved_to_another_key_opens_only_where_the_cipher_does_not_bind_it() {
    let [gcm, cbc, secretbox] = each(&[key("k", 1)]);
    let moved = open(&gcm, seal(&gcm, PLAIN), ELSEWHERE).unwrap_err();
    assert_eq!(moved.kind(), TransformErrorKind::AuthenticationFailed);
    for chain in [cbc, secretbox] {
        assert_eq!(open(&chain, seal(&chain, PLAIN), ELSEWHERE).unwrap().data, PLAIN);
    }
}

#[test]
fn value_cut_off_anywhere_is_an_error_that_tells_where() {
    for chain in each(&[key("k", 1)]) {
        let stored = seal(&chain, &[b'x'; 64]);
        let header = chain.providers()[0].prefix().len() + "k:".len();
        let nonce_and_tag = match chain.providers()[0].name() {
            "aesgcm" => 28,
            "aescbc" => 32,
            _ => 40,
        };
        for length in 0..stored.len() {
            let kind = open(&chain, stored.slice(..length), HERE).unwrap_err().kind();
            let expected = if length < "k8s:enc:".len() {
                TransformErrorKind::NotEncrypted
            } else if length < chain.providers()[0].prefix().len() {
                TransformErrorKind::NoMatchingPrefix
            } else if length < header {
                TransformErrorKind::Truncated
            } else if length < header + nonce_and_tag {
                assert_ne!(kind, TransformErrorKind::AuthenticationFailed, "{length}");
                continue;
            } else {
                let cut = [
                    TransformErrorKind::AuthenticationFailed,
                    TransformErrorKind::BadPadding,
                    TransformErrorKind::Truncated,
                ];
                assert!(cut.contains(&kind), "{length}: {kind:?}");
                continue;
            };
            assert_eq!(kind, expected, "{length} of {chain:?}");
        }
    }
}

#[test]
fn aescbc_value_of_an_iv_alone_is_an_error() {
    let [_, cbc, _] = each(&[key("k", 1)]);
    let only_iv = [b"k8s:enc:aescbc:v1:k:".as_slice(), &[7; 16]].concat();
    let error = open(&cbc, only_iv, HERE).unwrap_err();
    assert_eq!(error.kind(), TransformErrorKind::Truncated);
    assert_eq!(error.status_message(), "invalid PKCS7 data (empty or not padded)");
}

#[test]
fn values_open_in_place_if_nobody_else_holds_the_buffer() {
    for chain in each(&[key("k2", 2), key("k", 1)]) {
        // The header, then nonce, IV, or nonce and tag.
        let skipped = match chain.providers()[0].name() {
            "aesgcm" => "k8s:enc:aesgcm:v1:k2:".len() + 12,
            "aescbc" => "k8s:enc:aescbc:v1:k2:".len() + 16,
            _ => "k8s:enc:secretbox:v1:k2:".len() + 40,
        };
        let stored = seal(&chain, PLAIN);
        let (shared, address) = (stored.clone(), stored.as_ptr());
        let opened = open(&chain, stored, HERE).unwrap().data;
        assert!(!shared.as_ptr_range().contains(&opened.as_ptr()), "a shared buffer was written to");
        assert_eq!(open(&chain, shared, HERE).unwrap().data.as_ptr(), address.wrapping_add(skipped));

        // Behind it only identity, which does not take encrypted values.
        let with_identity = chain.providers().iter().cloned().chain([Provider::identity()]);
        let with_identity = ProviderChain::new(with_identity).unwrap();
        let stored = Bytes::from(seal(&chain, PLAIN).to_vec());
        let address = stored.as_ptr();
        assert_eq!(open(&with_identity, stored, HERE).unwrap().data.as_ptr(), address.wrapping_add(skipped));
    }
    let plain = Bytes::from(PLAIN.to_vec());
    let address = plain.as_ptr();
    assert_eq!(open(&Identity, plain, HERE).unwrap().data.as_ptr(), address);
}

#[test]
fn failed_attempt_leaves_the_value_whole_for_the_next_one() {
    // Two providers, or two keys of one, that both take the value because the name is the same.
    let (right, wrong) = (key("k", 1), key("k", 2));
    let writers = each(std::slice::from_ref(&right));
    let of_wrong = each(std::slice::from_ref(&wrong));
    let with_both = each(&[wrong, right]);
    for ((writer, first), both_keys) in writers.iter().zip(&of_wrong).zip(&with_both) {
        let two_providers = [first, writer].map(|chain| chain.providers()[0].clone());
        let two_providers = ProviderChain::new(two_providers).unwrap();
        for length in 0..100 {
            let plain = vec![b'x'; length];
            for chain in [&two_providers, both_keys] {
                let opened = open(chain, seal(writer, &plain), HERE).unwrap();
                // Without authentication a wrong secret gives nonsense instead of an error, one time in 256.
                let nonsense = writer.providers()[0].name() == "aescbc" && !opened.stale;
                assert!(nonsense || (opened.data == plain && opened.stale), "{length} with {chain:?}");
            }
        }
    }
}

#[test]
fn staleness_follows_key_and_provider() {
    let old = ProviderChain::new([Provider::aes_gcm([key("old", 1)]).unwrap()]).unwrap();
    let keys = [key("new", 2), key("old", 1)];
    let rotated =
        ProviderChain::new([Provider::aes_gcm(keys.clone()).unwrap(), Provider::identity()]).unwrap();
    let off = ProviderChain::new([Provider::identity(), Provider::aes_gcm(keys).unwrap()]).unwrap();
    let stale = |chain: &ProviderChain, stored: Bytes| open(chain, stored, HERE).unwrap().stale;

    assert!(!stale(&old, seal(&old, PLAIN)));
    assert!(stale(&rotated, seal(&old, PLAIN)));
    assert!(!stale(&rotated, seal(&rotated, PLAIN)));
    assert!(stale(&rotated, Bytes::from_static(PLAIN)));
    assert!(stale(&off, seal(&rotated, PLAIN)));
    assert!(!stale(&off, Bytes::from_static(PLAIN)));
    assert_eq!(seal(&off, PLAIN), PLAIN);
    assert!(rotated.output_is_unique() && !off.output_is_unique());
}

#[test]
fn keys_of_a_wrong_length_are_refused() {
    type Make = fn(Vec<Key>) -> Result<Provider, ProviderError>;
    let cases: [(Make, &str, &[usize], &str); 3] = [
        (|keys| Provider::aes_gcm(keys), "aesgcm", &[16, 24, 32], "16, 24 or 32"),
        (|keys| Provider::aes_cbc(keys), "aescbc", &[16, 24, 32], "16, 24 or 32"),
        (|keys| Provider::secretbox(keys), "secretbox", &[32], "32"),
    ];
    for (make, provider, right, expected) in cases {
        for length in 1..=64 {
            let made = make(vec![Key::new("k", vec![1; length]).unwrap()]);
            if right.contains(&length) {
                assert_eq!(made.unwrap().key_names(), ["k"]);
            } else {
                let error = made.unwrap_err();
                let text = format!("the secret of key \"k\" has {length} bytes, {provider} takes {expected}");
                assert_eq!(error.to_string(), text);
            }
        }
        assert_eq!(
            make(vec![]).unwrap_err().to_string(),
            format!("provider {provider} has no key; give it at least one, the first writes")
        );
    }
    assert_eq!(Key::new("", [1; 32]), Err(KeyError::NoName));
    assert_eq!(Key::new("k", []), Err(KeyError::NoSecret { name: "k".into() }));
    assert_eq!(ProviderChain::new([]).unwrap_err(), ProviderError::NoProviders);
}

#[test]
fn nonces_are_never_used_twice_and_each_write_is_counted() {
    const VALUES: usize = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let chain = ProviderChain::new([Provider::aes_gcm([key("k", 1)]).unwrap()]).unwrap();
    let header = "k8s:enc:aesgcm:v1:k:".len();
    let nonces: HashSet<Bytes> = (0..VALUES).map(|_| seal(&chain, b"").slice(header..header + 12)).collect();
    assert_eq!(nonces.len(), VALUES);
    assert_eq!(chain.writes()[0].writes, VALUES as u64);
}

#[test]
fn many_threads_share_one_transformer() {
    const THREADS: u8 = 8;
    const EACH: usize = 500;
    for chain in each(&[key("k", 1)]) {
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let chain = &chain;
                scope.spawn(move || {
                    for length in 0..EACH {
                        let plain = vec![thread; length];
                        assert_eq!(open(chain, seal(chain, &plain), HERE).unwrap().data, plain);
                    }
                });
            }
        });
        assert_eq!(chain.writes()[0].writes, u64::from(THREADS) * EACH as u64);
    }
}

#[test]
fn errors_say_what_is_wrong_and_what_to_do() {
    use TransformErrorKind as Kind;
    let writer = ProviderChain::new([Provider::aes_gcm([key("key9", 9)]).unwrap()]).unwrap();
    let stored = seal(&writer, PLAIN);
    let gcm = || Provider::aes_gcm([key("key2", 2), key("key1", 1)]).unwrap();
    let wrong = || Provider::aes_gcm([key("key9", 8)]).unwrap();
    let cbc = || Provider::aes_cbc([key("key1", 1)]).unwrap();
    let unknown = "provider aesgcm, key \"key9\": no key has the name in the value (configured: key2, key1); add the \
                   key that it was written with";
    let failed = "provider aesgcm, key \"key9\": authentication failed (wrong secret under this name, moved, or \
                  damaged); configure the secret that the value was written with, or restore the value under its own \
                  key";
    let both = format!("{unknown}; {failed}");
    let no_prefix = "provider aesgcm, key \"key9\": the value is encrypted by a provider that is not configured \
                     (configured: aescbc, identity); add the provider and the key that it was written with";
    let only_identity = "provider aesgcm, key \"key9\": the value is encrypted, and only identity is configured; \
                         configure the provider and the key that it was written with";
    let plain = "encryption: the value is not encrypted, and identity is not configured (configured: aescbc); add \
                 identity as the last provider";
    let cut = "provider aesgcm: the value is cut off; restore it from a backup";
    let cases = [
        (vec![gcm()], stored.clone(), Kind::UnknownKeyName, unknown),
        (vec![wrong()], stored.clone(), Kind::AuthenticationFailed, failed),
        (vec![gcm(), wrong()], stored.clone(), Kind::AuthenticationFailed, &both),
        (vec![cbc(), Provider::identity()], stored.clone(), Kind::NoMatchingPrefix, no_prefix),
        (vec![Provider::identity()], stored.clone(), Kind::EncryptedButIdentity, only_identity),
        (vec![cbc()], PLAIN.into(), Kind::NotEncrypted, plain),
        (vec![gcm()], stored.slice(..20), Kind::Truncated, cut),
    ];
    for (providers, stored, kind, text) in cases {
        let error = open(&ProviderChain::new(providers).unwrap(), stored, HERE).unwrap_err();
        assert_eq!((error.kind(), &error.to_string()[..]), (kind, text));
        if kind == Kind::AuthenticationFailed {
            assert_eq!((error.provider(), error.key_name()), (Some("aesgcm"), Some("key9")));
        }
    }
    let bare = open(&Identity, stored, HERE).unwrap_err();
    assert_eq!((bare.provider(), bare.key_name()), (Some("aesgcm"), Some("key9")));
}

#[test]
fn nothing_that_can_be_printed_shows_a_secret_or_a_value() {
    let secret = b"0123456789abcdef0123456789abcdef";
    let key = Key::new("k", secret.as_slice()).unwrap();
    let mut shown = format!("{key:?}");
    for chain in each(std::slice::from_ref(&key)) {
        let opened = open(&chain, seal(&chain, PLAIN), HERE);
        shown += &format!(" {chain:?} {:?} {opened:?}", chain.providers());
        let answer = chain.transform_from_storage(seal(&chain, PLAIN), HERE);
        shown += &format!(" {answer:?}");
        let stored = seal(&chain, PLAIN);
        let provider = &chain.providers()[0];
        for length in 0..stored.len() {
            let error = open(&chain, stored.slice(..length), HERE).unwrap_err();
            shown += &format!(" {error} {error:?} {}", error.status_message());
        }
        shown += &format!(" {provider:?} {:?}", provider.writes());
    }
    for hidden in ["0123456", "48, 49, 50", "horse", "99, 111, 114"] {
        assert!(!shown.contains(hidden), "{hidden} in {shown}");
    }
    assert!(shown.contains("[redacted]") && shown.contains("28 bytes"));
}
