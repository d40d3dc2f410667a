//! `schema`: writes the table by which `kubestore-codec` reads and writes Kubernetes' protobuf. It joins two sources: the
//! bindings of `k8s-pb` say what is on the wire, `xtask/schema/facts.tsv` what the struct tags of Go say about it.

mod bindings;
mod facts;
mod join;
mod table;

use std::fs;

use anyhow::{Context, Result, bail};

use crate::command::root;

const TABLE: &str = "crates/kubestore-codec/src/protobuf/schema/table.txt";
const FACTS: &str = "xtask/schema/facts.tsv";

/// Writes the table, or with `check` says whether it is what it would be.
pub(crate) fn run_task(check: bool) -> Result<()> {
    let facts = fs::read_to_string(root().join(FACTS)).with_context(|| format!("cannot read {FACTS}"))?;
    let facts = facts::Facts::parse(&facts).with_context(|| format!("cannot read {FACTS}"))?;
    let bindings = bindings::Bindings::load()?;
    let report = join::check(&facts, &bindings);
    for line in &report.notes {
        eprintln!("schema: {line}");
    }
    for line in &report.faults {
        eprintln!("error: {line}");
    }
    if !report.faults.is_empty() {
        bail!("{FACTS} and the bindings of k8s-pb do not agree");
    }
    let table = table::write(&facts)?;
    let path = root().join(TABLE);
    let before = fs::read_to_string(&path).unwrap_or_default();
    if before == table {
        eprintln!("schema: {TABLE} is up to date, {} bytes", table.len());
        return Ok(());
    }
    if check {
        bail!("{TABLE} is not what its sources give; run `cargo xtask schema`");
    }
    fs::write(&path, &table).with_context(|| format!("cannot write {TABLE}"))?;
    eprintln!("schema: {TABLE} written, {} bytes", table.len());
    Ok(())
}
