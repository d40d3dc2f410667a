//! JSON paths, as far as printer columns of custom resources use them.

use kubestore::codec::Value;

use crate::output::{
    age,
    view::{View, scalar},
};

/// A path such as `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Item(usize),
    All,
    /// Those items whose member, below these names, has this text.
    Where(Vec<String>, String),
}

impl JsonPath {
    /// Reads a path; `None` when it uses what is not known here.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text.trim().trim_start_matches('{').trim_end_matches('}').trim_start_matches('$');
        while !rest.is_empty() {
            rest = if let Some(inside) = rest.strip_prefix('[') {
                let end = closing(inside)?;
                steps.push(bracket(inside[..end].trim())?);
                &inside[end + 1..]
            } else {
                let name = rest.strip_prefix('.')?;
                let (name, after) = member_name(name);
                if name.is_empty() {
                    return None;
                }
                steps.push(if name == "*" { Step::All } else { Step::Member(name) });
                after
            };
        }
        Some(Self(steps))
    }

    fn find<'a>(&self, view: &View<'a>) -> Vec<&'a Value> {
        let mut steps = self.0.iter();
        let Some(Step::Member(first)) = steps.next() else { return Vec::new() };
        let mut found: Vec<&Value> = view.object.get(first).into_iter().collect();
        for step in steps {
            found = found.into_iter().flat_map(|value| take(step, value)).collect();
        }
        found.retain(|value| !value.is_null());
        found
    }

    /// The text of a cell; nothing when there is nothing.
    pub(super) fn text(&self, view: &View<'_>) -> String {
        self.find(view).into_iter().map(scalar).collect::<Vec<_>>().join(",")
    }

    /// How long ago the time was.
    pub(super) fn age(&self, view: &View<'_>) -> String {
        match self.find(view).first().and_then(|value| value.as_str()) {
            Some(time) => age::since(time, view.now),
            None => String::new(),
        }
    }
}

fn take<'a>(step: &Step, value: &'a Value) -> Vec<&'a Value> {
    match (step, value) {
        (Step::Member(name), Value::Object(map)) => map.get(name).into_iter().collect(),
        (Step::Item(index), Value::Array(array)) => array.get(*index).into_iter().collect(),
        (Step::All, Value::Array(array)) => array.iter().collect(),
        (Step::All, Value::Object(map)) => map.iter().map(|(_, value)| value).collect(),
        (Step::Where(names, wanted), Value::Array(array)) => {
            let holds = |item: &&Value| {
                let member = names.iter().try_fold(*item, |value, name| value.get(name));
                member.is_some_and(|member| scalar(member) == *wanted)
            };
            array.iter().filter(holds).collect()
        }
        _ => Vec::new(),
    }
}

/// Where the bracket closes; one in quotes does not.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(position, c)| {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ']') => return Some(position),
            _ => {}
        }
        None
    })
}

fn bracket(inside: &str) -> Option<Step> {
    if inside == "*" {
        return Some(Step::All);
    }
    if let Some(filter) = inside.strip_prefix("?(").and_then(|filter| filter.strip_suffix(')')) {
        let (left, right) = filter.split_once("==")?;
        let names = left.trim().strip_prefix("@.")?.split('.').map(str::to_owned).collect();
        return Some(Step::Where(names, unquote(right.trim()).to_owned()));
    }
    match inside.parse() {
        Ok(index) => Some(Step::Item(index)),
        Err(_) if unquote(inside) != inside => Some(Step::Member(unquote(inside).to_owned())),
        Err(_) => None,
    }
}

/// A name up to the next dot or bracket, where a backslash keeps a dot in the name.
fn member_name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((position, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return (name, &text[position..]),
            c => name.push(c),
        }
    }
    (name, "")
}

fn unquote(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use kubestore::codec::Map;

    use super::*;

    #[test]
    fn paths_of_printer_columns_find_their_values() {
        let object: Map = serde_json::from_str(
            r#"{"spec": {"size": 3, "a.b": "dot", "list": [{"x": "1"}, {"x": "2"}]},
                "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Old", "status": "False"}]}}"#,
        )
        .unwrap();
        let view = View { object: &object, now: "2024-01-01T00:00:00Z".parse().unwrap() };
        for (path, wanted) in [
            (".spec.size", "3"),
            ("{.spec.size}", "3"),
            (r".spec.a\.b", "dot"),
            (".spec['a.b']", "dot"),
            (".spec.list[1].x", "2"),
            (".spec.list[*].x", "1,2"),
            (r#".status.conditions[?(@.type=="Ready")].status"#, "True"),
            (".status.conditions[?(@.type=='Old')].status", "False"),
            (".spec.none", ""),
            (".spec.size.deeper", ""),
        ] {
            assert_eq!(JsonPath::parse(path).unwrap().text(&view), wanted, "{path}");
        }
        for path in ["spec", ".spec[?(@.a>1)]", ".spec[0:1]", "..x", ".spec["] {
            assert_eq!(JsonPath::parse(path), None, "{path}");
        }
    }
}
