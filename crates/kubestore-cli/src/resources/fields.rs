//! Which fields the objects of a resource can be selected by.

use anyhow::{Result, anyhow};
use kubestore::core::{FieldSelector, FieldTerm};

use super::Resource;
use crate::failure::Usage;

/// Reads a field selector, and refuses fields that an API server does not know either: a store would take them as empty
/// and find nothing.
pub(crate) fn check_fields(text: &str, resource: &Resource) -> Result<FieldSelector> {
    let selector: FieldSelector =
        text.parse().map_err(|error| Usage::new(format!("--field-selector: {error}")))?;
    for term in selector.terms() {
        if !resource.inner.has_selectable_field(term.field()) {
            let known: Vec<_> = resource.inner.selectable_fields().collect();
            let message = format!(
                "--field-selector: {} have no field {:?} to select by; there are: {}",
                resource.full_name(),
                term.field(),
                known.join(", ")
            );
            return Err(Usage::new(message).into());
        }
    }
    as_stored(&selector)
}

/// The selector on what is stored: some fields have another name there, or are left out where an API server says `false`
/// or 0.
fn as_stored(selector: &FieldSelector) -> Result<FieldSelector> {
    let terms: Vec<_> = selector.terms().iter().map(term_as_stored).collect();
    // Each of these terms was one that could be read.
    terms.join(",").parse().map_err(|error| anyhow!("--field-selector: {error}"))
}

fn term_as_stored(term: &FieldTerm) -> String {
    let field = match term.field() {
        "source" => "source.component",
        "status.successful" => "status.succeeded",
        field => field,
    };
    let is = |equal: bool| if equal { "=" } else { "!=" };
    match (field, term.value()) {
        ("spec.unschedulable" | "spec.hostNetwork", "false") => {
            format!("{field}{}true", is(!term.is_equal()))
        }
        ("status.succeeded", "0") => format!("{field}{}", is(term.is_equal())),
        (_, value) => {
            let value = value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
            format!("{field}{}{value}", is(term.is_equal()))
        }
    }
}

#[cfg(test)]
mod tests {
    use kubestore::codec::ResourceTable;

    use super::*;

    fn checked(resource: &str, text: &str) -> Result<String> {
        let resource = Resource::builtin(ResourceTable::builtin().by_name(resource).unwrap());
        Ok(check_fields(text, &resource)?.to_string())
    }

    #[test]
    fn known_fields_are_read_where_they_are_stored() {
        for (resource, text, wanted) in [
            ("pods", "spec.nodeName=a,status.phase!=Running", "spec.nodeName=a,status.phase!=Running"),
            ("pods", r"metadata.name=a\,b\=c\\d", r"metadata.name=a\,b\=c\\d"),
            ("pods", "spec.hostNetwork=false", "spec.hostNetwork!=true"),
            ("nodes", "spec.unschedulable!=false", "spec.unschedulable=true"),
            ("jobs", "status.successful=0", "status.succeeded="),
            ("jobs", "status.successful=2", "status.succeeded=2"),
            ("events", "source=kubelet", "source.component=kubelet"),
            ("secrets", "", ""),
        ] {
            assert_eq!(checked(resource, text).unwrap(), wanted, "{resource} {text}");
        }
    }

    #[test]
    fn unknown_fields_are_refused_with_those_there_are() {
        let error = checked("secrets", "spec.nodeName=a").unwrap_err();
        assert!(error.is::<Usage>());
        assert_eq!(
            error.to_string(),
            "--field-selector: secrets have no field \"spec.nodeName\" to select by; there are: metadata.name, \
             metadata.namespace, type"
        );
        assert!(checked("pods", "metadata.name").unwrap_err().to_string().contains("has no ="));
    }
}
