//! JSON arrays.

use std::{fmt, mem, ops};

use super::{Value, drop::release};

/// The values of a JSON array, without spare capacity.
///
/// Changes of a value go through the slice it derefs to. [`push`](Self::push) copies the whole array; to build a long one,
/// collect it or convert a `Vec`.
#[derive(Default)]
pub struct Array(Box<[Value]>);

impl Array {
    /// An empty array.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts `value` at the end.
    pub fn push(&mut self, value: impl Into<Value>) {
        let mut values = mem::take(&mut self.0).into_vec();
        values.reserve_exact(1);
        values.push(value.into());
        self.0 = values.into_boxed_slice();
    }

    /// The values, in a `Vec`, which can be changed and converted back.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<Value> {
        mem::take(&mut self.0).into_vec()
    }
}

impl ops::Deref for Array {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl ops::DerefMut for Array {
    fn deref_mut(&mut self) -> &mut [Value] {
        &mut self.0
    }
}

impl From<Vec<Value>> for Array {
    fn from(values: Vec<Value>) -> Self {
        Self(values.into_boxed_slice())
    }
}

impl<V: Into<Value>> FromIterator<V> for Array {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        Self(values.into_iter().map(Into::into).collect())
    }
}

impl<'a> IntoIterator for &'a Array {
    type Item = &'a Value;
    type IntoIter = std::slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl IntoIterator for Array {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({} values)", self.len())
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        release(self.0.iter_mut());
    }
}
