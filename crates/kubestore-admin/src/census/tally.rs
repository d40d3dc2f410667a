//! The counting.

use std::collections::HashMap;

use kubestore_transform::{EncryptionConfig, Provider};

use super::{CensusRow, Standing};
use crate::{key_map::Owner, rules::Rules, stored_form::StoredForm};

/// How many forms are told apart: names in damaged envelopes are arbitrary, and must not fill the memory.
const MOST_FORMS: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) values: u64,
    pub(super) bytes: u64,
    counts: HashMap<(Owner, StoredForm), Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    values: u64,
    bytes: u64,
}

impl Tally {
    pub(super) fn count(&mut self, owner: Owner, stored: &[u8]) {
        let bytes = stored.len() as u64;
        self.values += 1;
        self.bytes += bytes;
        let mut place = (owner, StoredForm::of(stored));
        if self.counts.len() >= MOST_FORMS && !self.counts.contains_key(&place) {
            place.1 = StoredForm::damaged();
        }
        let counts = self.counts.entry(place).or_default();
        counts.values += 1;
        counts.bytes += bytes;
    }

    pub(super) fn into_rows(self, config: Option<&EncryptionConfig>) -> Vec<CensusRow> {
        let mut counts: Vec<_> = self.counts.into_iter().collect();
        counts.sort_by(|((a_owner, a), _), ((b_owner, b), _)| (&a_owner.id, a).cmp(&(&b_owner.id, b)));
        let rules = config.map(Rules::new);
        let row = |((owner, form), counts): ((Owner, StoredForm), Counts)| {
            let standing = rules.as_ref().map(|rules| match rules.providers(&owner) {
                Some(providers) => standing(&form, &providers),
                None => Standing::Unknown,
            });
            row(owner, form, &counts, standing)
        };
        counts.into_iter().map(row).collect()
    }
}

fn row(owner: Owner, form: StoredForm, counts: &Counts, standing: Option<Standing>) -> CensusRow {
    let (provider, version, key_name, encoding) = match form {
        StoredForm::Plain(encoding) => ("identity".to_owned(), None, None, Some(encoding)),
        StoredForm::Encrypted { provider, version, key_name } => {
            (provider, (!version.is_empty()).then_some(version), key_name, None)
        }
    };
    let Counts { values, bytes } = *counts;
    CensusRow { resource: owner.id, provider, version, key_name, encoding, values, bytes, standing }
}

fn standing(form: &StoredForm, providers: &[&Provider]) -> Standing {
    let is_writer = |number: usize| if number == 0 { Standing::Current } else { Standing::Stale };
    let found = match form {
        StoredForm::Plain(_) if providers.is_empty() => Some(Standing::Current),
        StoredForm::Plain(_) => providers.iter().position(|provider| provider.is_identity()).map(is_writer),
        StoredForm::Encrypted { provider, version, key_name } => {
            let prefix = format!("k8s:enc:{provider}:{version}:");
            let mut names = providers.iter().enumerate().flat_map(|(number, provider)| {
                let keys = provider.key_names().into_iter().enumerate();
                keys.map(move |(key, name)| (number + key, provider.prefix(), name))
            });
            let named = |(_, taken, name): &(usize, &str, &str)| {
                *taken == prefix && key_name.as_deref() == Some(*name)
            };
            names.find(named).map(|(number, ..)| is_writer(number))
        }
    };
    found.unwrap_or(Standing::Unreadable)
}
