//! A list, with the reference's paging.

use anyhow::Result;
use kubestore_codec::{Unstructured, UnstructuredVersioner};
use kubestore_core::{
    ContinueToken, List, ListOptions, ResourceVersionMatch, Scope, StorageError, Versioner as _,
    parse_resource_version,
};
use kubestore_kv::KeyValue;

use super::{Behaviour, Model, keys::Unreadable, read::Answer};
use crate::{recording::ListStep, replay::Performed};

/// Pages grow up to this.
const MAX_PAGE: i64 = 10_000;

impl Model {
    pub(super) fn list(&mut self, step: &ListStep) -> Result<Performed> {
        let options = self.results.list_options(step)?;
        match self.listed(&step.key, &options) {
            Ok(list) => Performed::list(list, self.notation.base),
            Err(error) => {
                let mut performed = Performed::failed(&error, &self.notation);
                performed.result.token = error.continue_token().unwrap_or_default().to_owned();
                Ok(performed)
            }
        }
    }

    fn listed(&self, key: &str, options: &ListOptions) -> Answer<List<Unstructured>> {
        let recursive = options.scope == Scope::Recursive;
        let prefix =
            if recursive { self.prefix.prepare_recursive(key)? } else { self.prefix.prepare(key)? };
        let token = if recursive && !options.continue_token.is_empty() {
            Some(ContinueToken::decode(&options.continue_token, &prefix)?)
        } else {
            None
        };
        let asked = asked_revision(options, token.as_ref())?;
        let read = self.keys.readable(asked);
        let revision = read.map_err(|why| self.unreadable(why, asked, options, token.as_ref(), &prefix))?;
        self.check_minimum(&options.resource_version)?;
        let start = token.map_or_else(|| prefix.clone(), |token| token.start_key);
        let resource_version = if asked == 0 { self.keys.head } else { asked };
        if recursive {
            return self.pages(&prefix, start, revision, resource_version, options);
        }
        let found = self.keys.at(&prefix, revision);
        let items = found.map(|kv| self.matching(&prefix, kv, options)).transpose()?.flatten();
        Ok(List::new(items.into_iter().collect(), resource_version.cast_unsigned()))
    }

    fn unreadable(
        &self,
        why: Unreadable,
        asked: i64,
        options: &ListOptions,
        token: Option<&ContinueToken>,
        prefix: &str,
    ) -> StorageError {
        match why {
            Unreadable::Future if self.behaviour == Behaviour::Own => {
                let (asked, head) = (asked.cast_unsigned(), self.keys.head.cast_unsigned());
                StorageError::too_large_resource_version(asked, head, 0)
            }
            Unreadable::Future => {
                StorageError::other("etcdserver: mvcc: required revision is a future revision")
            }
            Unreadable::Compacted if options.continue_token.is_empty() => StorageError::list_expired(),
            Unreadable::Compacted => {
                let fresh = |token: &ContinueToken| {
                    ContinueToken::encode(token.start_key.as_bytes(), prefix, -1).ok()
                };
                StorageError::continue_expired(token.and_then(fresh))
            }
        }
    }

    fn pages(
        &self,
        prefix: &str,
        mut start: String,
        revision: i64,
        resource_version: i64,
        options: &ListOptions,
    ) -> Answer<List<Unstructured>> {
        let (mut items, mut page) = (Vec::new(), options.limit);
        let full = |items: &Vec<_>| options.limit > 0 && length(items) >= options.limit;
        loop {
            let rest: Vec<_> = self.keys.range(prefix, &start, revision).collect();
            let taken = if page > 0 { usize::try_from(page).unwrap_or(usize::MAX) } else { usize::MAX };
            let mut more = rest.len() > taken;
            for (key, kv) in rest.iter().take(taken) {
                if full(&items) {
                    more = true;
                    break;
                }
                start = format!("{key}\0");
                items.extend(self.matching(key, kv, options)?);
            }
            if more && options.limit > 0 && !full(&items) {
                page = page.saturating_mul(2).min(MAX_PAGE.max(page));
                continue;
            }
            let list = List::new(items, resource_version.cast_unsigned());
            if !more {
                return Ok(list);
            }
            let token = ContinueToken::encode(start.as_bytes(), prefix, resource_version)
                .map_err(|error| StorageError::other(error.to_string()))?;
            let remaining = options.predicate.is_empty().then(|| length(&rest) - options.limit);
            return Ok(list.continued(Some(token), remaining));
        }
    }

    fn matching(&self, key: &str, kv: &KeyValue, options: &ListOptions) -> Answer<Option<Unstructured>> {
        let object = self.item(key, kv)?;
        let predicate = &options.predicate;
        let matches = predicate.matches(&UnstructuredVersioner.find(&object, &predicate.wanted()));
        Ok(matches.then_some(object))
    }
}

fn length<T>(items: &[T]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}

/// The revision to read; 0 and below are the newest.
fn asked_revision(options: &ListOptions, token: Option<&ContinueToken>) -> Answer<i64> {
    let text = options.resource_version.as_str();
    if let Some(token) = token {
        if !text.is_empty() && text != "0" {
            let text = "specifying resource version is not allowed when using continue";
            return Err(StorageError::bad_request(text));
        }
        return Ok(token.revision.max(0));
    }
    if text.is_empty() {
        return Ok(0);
    }
    let parsed = parse_resource_version(text).map_err(|error| StorageError::bad_resource_version(&error))?;
    let recursive = options.scope == Scope::Recursive;
    match &options.resource_version_match {
        ResourceVersionMatch::NotOlderThan => Ok(0),
        ResourceVersionMatch::Exact => Ok(parsed.cast_signed()),
        ResourceVersionMatch::Unset if recursive && options.limit > 0 => Ok(parsed.cast_signed()),
        ResourceVersionMatch::Unset => Ok(0),
        other => Err(StorageError::other(format!("unknown ResourceVersionMatch value: {}", other.as_str()))),
    }
}
