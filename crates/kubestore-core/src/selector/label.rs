//! Label selectors: `app=web,tier in (front,back),!canary`.

use std::fmt;

use super::{InvalidSelector, parse};

/// Requirements on labels, all of which must hold. Empty matches everything. Parsed from Kubernetes' whole syntax:
/// `=`, `==`, `!=`, `in`, `notin`, `key`, `!key`, `>`, `<`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<LabelRequirement>,
}

/// How a label is compared.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelOperator {
    /// `!key`.
    DoesNotExist,
    /// `key`.
    Exists,
    /// `key > 5`; both sides must be integers.
    GreaterThan,
    /// `=`, `==` and `in`.
    In,
    /// `key < 5`; both sides must be integers.
    LessThan,
    /// `!=` and `notin`; also holds when the label is absent.
    NotIn,
}

/// One requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRequirement {
    key: String,
    operator: LabelOperator,
    values: Vec<String>,
}

impl LabelSelector {
    /// Everything matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The requirements, sorted by key.
    #[must_use]
    pub fn requirements(&self) -> &[LabelRequirement] {
        &self.requirements
    }
}

impl LabelRequirement {
    /// A requirement, checked.
    ///
    /// # Errors
    /// A key or value that no label can have, or a number of values that the operator does not take; the text says which.
    pub fn new(key: &str, operator: LabelOperator, mut values: Vec<String>) -> Result<Self, String> {
        check_key(key)?;
        match operator {
            LabelOperator::In | LabelOperator::NotIn if values.is_empty() => {
                return Err(format!("{key} is compared with no value; write at least one"));
            }
            LabelOperator::Exists | LabelOperator::DoesNotExist if !values.is_empty() => {
                return Err(format!("{key} is only looked for; it takes no value"));
            }
            LabelOperator::GreaterThan | LabelOperator::LessThan
                if values.len() != 1 || values[0].parse::<i64>().is_err() =>
            {
                return Err(format!("{key} is compared by size; it takes one integer"));
            }
            _ => {}
        }
        for value in &values {
            check_value(key, value)?;
        }
        values.sort_unstable();
        values.dedup();
        Ok(Self { key: key.to_owned(), operator, values })
    }

    /// The label's key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How it is compared.
    #[must_use]
    pub fn operator(&self) -> LabelOperator {
        self.operator
    }

    /// With what, sorted.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether an object whose label has this value (`None`: does not have the label) is wanted.
    #[must_use]
    pub fn matches(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|wanted| wanted == value);
        let compared = |holds: fn(&i64, &i64) -> bool| {
            let value = value.and_then(|value| value.parse().ok());
            let bound = self.values.first().and_then(|bound| bound.parse().ok());
            matches!((value, bound), (Some(value), Some(bound)) if holds(&value, &bound))
        };
        match self.operator {
            LabelOperator::DoesNotExist => value.is_none(),
            LabelOperator::Exists => value.is_some(),
            LabelOperator::GreaterThan => compared(i64::gt),
            LabelOperator::In => value.is_some_and(listed),
            LabelOperator::LessThan => compared(i64::lt),
            LabelOperator::NotIn => !value.is_some_and(listed),
        }
    }
}

impl std::str::FromStr for LabelSelector {
    type Err = InvalidSelector;

    fn from_str(text: &str) -> Result<Self, InvalidSelector> {
        let mut requirements = parse::requirements(text)
            .map_err(|reason| InvalidSelector { selector: text.to_owned(), reason })?;
        requirements.sort_by(|left, right| left.key.cmp(&right.key));
        Ok(Self { requirements })
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, requirement) in self.requirements.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for LabelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match (self.operator, self.values.as_slice()) {
            (LabelOperator::DoesNotExist, _) => write!(f, "!{key}"),
            (LabelOperator::Exists, _) => f.write_str(key),
            (LabelOperator::GreaterThan, values) => write!(f, "{key}>{}", values.concat()),
            (LabelOperator::LessThan, values) => write!(f, "{key}<{}", values.concat()),
            (LabelOperator::In, [value]) => write!(f, "{key}={value}"),
            (LabelOperator::NotIn, [value]) => write!(f, "{key}!={value}"),
            (LabelOperator::In, values) => write!(f, "{key} in ({})", values.join(",")),
            (LabelOperator::NotIn, values) => write!(f, "{key} notin ({})", values.join(",")),
        }
    }
}

fn check_key(key: &str) -> Result<(), String> {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if prefix.is_some_and(|prefix| !is_subdomain(prefix)) {
        return Err(format!("the prefix of label key {key:?} is not a lower-case domain name"));
    }
    if name.is_empty() || !is_name(name) {
        return Err(format!(
            "label key {key:?} is not 1 to 63 letters, digits, '-', '_' or '.' that begin and end with a letter or digit"
        ));
    }
    Ok(())
}

fn check_value(key: &str, value: &str) -> Result<(), String> {
    if value.is_empty() || is_name(value) {
        return Ok(());
    }
    Err(format!(
        "value {value:?} of label {key} is not up to 63 letters, digits, '-', '_' or '.' that begin and end with a letter \
         or digit"
    ))
}

fn is_name(text: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_subdomain(text: &str) -> bool {
    let edge =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        edge(bytes.first())
            && edge(bytes.last())
            && bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}
