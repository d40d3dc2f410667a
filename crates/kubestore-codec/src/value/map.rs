//! JSON objects.

use std::{fmt, mem};

use super::{Value, drop::release};

/// A member: its name and its value.
pub(crate) type Member = (Box<str>, Value);

/// The members of a JSON object in the order of their names, without spare capacity.
///
/// Look-ups are binary searches. [`insert`](Self::insert) and [`remove`](Self::remove) copy the member list (40 bytes a
/// member); to build a large object, collect it or [`extend`](Extend::extend) it.
#[derive(Default)]
pub struct Map(Box<[Member]>);

impl Map {
    /// An empty object.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Members in any order; of several with one name the last counts.
    pub(crate) fn from_members(mut members: Vec<Member>) -> Self {
        if !members.is_sorted_by(|a, b| a.0 < b.0) {
            members.sort_by(|a, b| a.0.cmp(&b.0));
            // `dedup_by` keeps the first of a run; the value of the last one moves there.
            members.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    mem::swap(&mut later.1, &mut kept.1);
                }
                same
            });
        }
        Self(members.into_boxed_slice())
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|member| (*member.0).cmp(key))
    }

    /// Whether there is a member of that name.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_ok()
    }

    /// The member of that name.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.position(key).ok().map(|at| &self.0[at].1)
    }

    /// The member of that name, to change.
    #[must_use]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.position(key).ok().map(|at| &mut self.0[at].1)
    }

    /// The member of that name, which is `null` at first if there was none.
    pub fn get_or_insert(&mut self, key: &str) -> &mut Value {
        let at = self.position(key).unwrap_or_else(|at| {
            self.insert_at(at, key.into(), Value::Null);
            at
        });
        &mut self.0[at].1
    }

    /// Sets a member and returns what it was.
    pub fn insert(
        &mut self,
        key: impl AsRef<str> + Into<Box<str>>,
        value: impl Into<Value>,
    ) -> Option<Value> {
        match self.position(key.as_ref()) {
            Ok(at) => Some(mem::replace(&mut self.0[at].1, value.into())),
            Err(at) => {
                self.insert_at(at, key.into(), value.into());
                None
            }
        }
    }

    fn insert_at(&mut self, at: usize, key: Box<str>, value: Value) {
        let mut members = mem::take(&mut self.0).into_vec();
        members.reserve_exact(1);
        members.insert(at, (key, value));
        self.0 = members.into_boxed_slice();
    }

    /// Takes a member out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.position(key).ok()?;
        let mut members = mem::take(&mut self.0).into_vec();
        let (_, value) = members.remove(at);
        self.0 = members.into_boxed_slice();
        Some(value)
    }

    /// The members in the order of their names.
    #[must_use]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Value)> + ExactSizeIterator + Clone {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// The members in the order of their names, to change their values.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&str, &mut Value)> + ExactSizeIterator {
        self.0.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// The names in order.
    #[must_use]
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator + Clone {
        self.0.iter().map(|(key, _)| &**key)
    }

    pub(crate) fn members(&self) -> &[Member] {
        &self.0
    }

    pub(crate) fn members_mut(&mut self) -> &mut [Member] {
        &mut self.0
    }
}

impl<K: Into<Box<str>>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Self::from_members(members.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl<K: Into<Box<str>>, V: Into<Value>> Extend<(K, V)> for Map {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, members: I) {
        let mut all = mem::take(&mut self.0).into_vec();
        all.extend(members.into_iter().map(|(key, value)| (key.into(), value.into())));
        *self = Self::from_members(all);
    }
}

impl IntoIterator for Map {
    type Item = (Box<str>, Value);
    type IntoIter = std::vec::IntoIter<(Box<str>, Value)>;

    fn into_iter(mut self) -> Self::IntoIter {
        mem::take(&mut self.0).into_vec().into_iter()
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({} members)", self.len())
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        release(self.0.iter_mut().map(|(_, value)| value));
    }
}
