//! Stored values.

use bytes::Bytes;
use kubestore_transform::{
    Key, Opened, Provider, ProviderChain, TransformError, Transformer as _, ValueContext,
};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cipher {
    Gcm,
    Cbc,
    Secretbox,
    Identity,
}

fn cipher() -> impl Strategy<Value = Cipher> {
    prop::sample::select(vec![Cipher::Gcm, Cipher::Cbc, Cipher::Secretbox, Cipher::Identity])
}

fn key(number: u8) -> Key {
    Key::new(format!("key{number}"), [number; 32]).unwrap()
}

fn provider(cipher: Cipher, keys: &[u8]) -> Provider {
    let keys = keys.iter().copied().map(key);
    match cipher {
        Cipher::Gcm => Provider::aes_gcm(keys).unwrap(),
        Cipher::Cbc => Provider::aes_cbc(keys).unwrap(),
        Cipher::Secretbox => Provider::secretbox(keys).unwrap(),
        Cipher::Identity => Provider::identity(),
    }
}

fn chain(providers: impl IntoIterator<Item = Provider>) -> ProviderChain {
    ProviderChain::new(providers).unwrap()
}

fn seal(chain: &ProviderChain, plain: &[u8], at: &[u8]) -> Bytes {
    let plain = Bytes::copy_from_slice(plain);
    chain.transform_to_storage(plain, ValueContext::new(at)).try_now().unwrap().unwrap()
}

fn open(chain: &ProviderChain, stored: impl Into<Bytes>, at: &[u8]) -> Result<Opened, TransformError> {
    chain.transform_from_storage(stored.into(), ValueContext::new(at)).try_now().unwrap()
}

proptest! {
    #![proptest_config(super::cases(256))]

    /// What was written by any provider and key is read after a rotation to any other that still knows them, and is stale
    /// exactly if it would be written differently now.
    #[test]
    fn rotations_lose_nothing(
        old in cipher(), new in cipher(), newer_key in any::<bool>(),
        value in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let at = b"/registry/secrets/a";
        // What looks encrypted is not plain text to anybody, so plain values here do not.
        let value = [&b"v"[..], &value].concat();
        let stored = seal(&chain([provider(old, &[1])]), &value, at);
        let keys: &[u8] = if newer_key { &[2, 1] } else { &[1, 2] };
        let others = [Cipher::Gcm, Cipher::Cbc, Cipher::Secretbox, Cipher::Identity];
        let others = others.into_iter().filter(|cipher| *cipher != new);
        let now = chain([new].into_iter().chain(others).map(|cipher| provider(cipher, keys)));
        let opened = open(&now, stored.clone(), at).unwrap();
        let current = old == new && (new == Cipher::Identity || !newer_key);
        prop_assert_eq!((&opened.data[..], opened.stale), (&value[..], !current));
        if old != Cipher::Identity {
            prop_assert!(!stored.windows(value.len().max(8)).any(|window| window.starts_with(&value) && value.len() >= 8));
        }
    }

    /// Damage of any kind is noticed where the cipher authenticates, makes nobody panic where it does not, and no error
    /// shows the value.
    #[test]
    fn damaged_values_are_errors(
        cipher in cipher(),
        value in "secret-[a-z]{8,40}",
        at in any::<prop::sample::Index>(), byte in 1_u8.., cut in any::<prop::sample::Index>(), noise in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let (here, chain) = (b"/registry/secrets/a", chain([provider(cipher, &[1])]));
        let stored = seal(&chain, value.as_bytes(), here);
        let mut changed = stored.to_vec();
        changed[at.index(stored.len())] ^= byte;
        let longer = [&stored[..], &noise].concat();
        let prefixed = [b"k8s:enc:aesgcm:v1:key1:", &noise[..]].concat();
        let authenticates = matches!(cipher, Cipher::Gcm | Cipher::Secretbox);
        for (damaged, differs) in [
            (changed, true),
            (stored[..cut.index(stored.len())].to_vec(), true),
            (longer, !noise.is_empty()),
            (prefixed, true),
        ] {
            match open(&chain, damaged, here) {
                Ok(opened) => prop_assert!(!(authenticates && differs), "{} bytes passed", opened.data.len()),
                Err(error) => {
                    let text = format!("{error} {error:?}");
                    prop_assert!(!text.contains(&value), "{text}");
                }
            }
        }
        if cipher == Cipher::Gcm {
            prop_assert!(open(&chain, stored, b"/registry/secrets/b").is_err(), "a value that was moved opens");
        }
    }
}
