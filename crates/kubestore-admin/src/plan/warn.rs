//! What would go wrong if a configuration was rolled out as it is.

use super::{
    chain::Link,
    report::{Warning, WarningKind},
    subject::Subject,
};
use crate::{Census, CensusRow};

pub(super) fn warn(subject: &Subject, census: Option<&Census>, servers: u32, into: &mut Vec<Warning>) {
    let mut add = |kind, text: String| into.push(Warning { kind, resource: subject.name(), text });
    let (old, new) = (&subject.old, &subject.new);
    if subject.has_other_secrets {
        add(
            WarningKind::SecretDiffers,
            "a key has the same name in both configurations and another secret, so that nobody can tell by which of \
             them a value was written; give the new secret a new name"
                .to_owned(),
        );
    } else if !subject.old_reads_new && servers > 1 {
        add(
            WarningKind::NewKeyUnreadable,
            format!(
                "servers with the old configuration cannot read what others write with {}; first add it behind the \
                 writing one on all {servers} servers",
                new.writer()
            ),
        );
    }
    for link in subject.removed() {
        let stored = subject.values_of(link);
        let text = if link == old.writer() && servers > 1 {
            still_written(link, stored)
        } else {
            match stored {
                Some(0) => continue,
                Some(values) => still_in_use(link, &count(values)),
                None if link == old.writer() => still_in_use(link, "values"),
                None => {
                    add(WarningKind::NotCounted, not_counted(link));
                    continue;
                }
            }
        };
        add(if link.is_identity() { WarningKind::PlainUnreadable } else { WarningKind::StillInUse }, text);
    }
    if new.writer().is_identity() && !old.writer().is_identity() {
        add(
            WarningKind::WritesPlain,
            "identity comes first: what is written from now on is not encrypted, and a re-encryption makes plain what \
             is there"
                .to_owned(),
        );
    }
    if census.is_some() {
        for row in subject.stored.iter().flatten().filter(|row| is_foreign(subject, row)) {
            add(
                WarningKind::Unreadable,
                format!(
                    "neither configuration reads the {} that are stored as {}; add what they were written with",
                    count(row.values),
                    row.form()
                ),
            );
        }
    }
}

/// Whether neither configuration has what the values were written with.
fn is_foreign(subject: &Subject, row: &CensusRow) -> bool {
    let key = if row.is_encrypted() { Some(row.key_name.clone().unwrap_or_default()) } else { None };
    let link = Link { provider: row.provider.clone(), key };
    !subject.old.has(&link) && !subject.new.has(&link)
}

fn still_written(link: &Link, stored: Option<u64>) -> String {
    let stored = match stored {
        Some(0) => String::new(),
        Some(values) => format!(", and {} are stored so", count(values)),
        None => ", and what is stored may be so".to_owned(),
    };
    format!(
        "{link} is missing in the new configuration: servers with the old one write with it until the last of them is \
         replaced{stored}; keep it for reading until everything is rewritten"
    )
}

fn still_in_use(link: &Link, values: &str) -> String {
    format!(
        "{link} is missing in the new configuration, and {values} are stored with it; keep it for reading until they \
         are rewritten"
    )
}

fn not_counted(link: &Link) -> String {
    format!(
        "{link} is missing in the new configuration; take a census before, to see whether something is still stored \
         with it"
    )
}

fn count(values: u64) -> String {
    if values == 1 { "1 value".to_owned() } else { format!("{values} values") }
}
