//! What all reports have in common.

use std::io::{self, Write};

use anyhow::Result;
use kubestore_admin::Failures;
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::output::Table;

/// Prints one JSON object.
pub(super) fn json(report: &impl Serialize) -> Result<()> {
    let mut out = Vec::new();
    report.serialize(&mut Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(b"    ")))?;
    out.push(b'\n');
    io::stdout().write_all(&out)?;
    Ok(())
}

/// Prints rows under a line of column names, and nothing if there is no row.
pub(super) fn table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Result<()> {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let mut table = Table::default();
    table.push(columns.iter().map(|column| (*column).to_owned()).collect());
    rows.for_each(|row| table.push(row));
    table.write(&mut io::stdout())?;
    Ok(())
}

/// Prints a line.
pub(super) fn line(text: &str) -> Result<()> {
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}

/// Says on standard error which values failed and why.
pub(super) fn failures(failures: &Failures) -> Result<()> {
    let mut stderr = io::stderr().lock();
    for failure in &failures.first {
        writeln!(stderr, "error: {}: {}", failure.key.escape_debug(), failure.message)?;
    }
    let more = failures.total - failures.first.len() as u64;
    if more > 0 {
        writeln!(stderr, "error: {more} more")?;
    }
    Ok(())
}

/// Says something on standard error.
pub(super) fn note(text: &str) -> Result<()> {
    writeln!(io::stderr(), "{text}")?;
    Ok(())
}

/// A part in percent. Rounded down, so that 100 % is all.
pub(super) fn share(part: u64, whole: u64) -> String {
    let percent = u128::from(part) * 100 / u128::from(whole.max(1));
    if percent == 0 && part > 0 { "<1 %".to_owned() } else { format!("{percent} %") }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn all_is_100_percent_and_nothing_less() {
        assert_eq!(share(150, 150), "100 %");
        assert_eq!(share(9_999, 10_000), "99 %");
        assert_eq!(share(1, 10_000), "<1 %");
        assert_eq!(share(0, 0), "0 %");
    }
}
