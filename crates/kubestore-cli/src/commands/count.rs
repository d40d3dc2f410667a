//! `kubestore count`.

use std::io::{self, Write};

use anyhow::{Context, Result};
use kubestore::Storage;

use crate::{args::CountArgs, resources::targets, session::Session};

pub(super) async fn run(session: &mut Session, args: &CountArgs) -> Result<()> {
    let targets = targets(std::slice::from_ref(&args.resources), &mut session.catalog).await?;
    let is_one = targets.len() == 1;
    let mut lines = Vec::new();
    for target in &targets {
        let resource = &target.resource;
        anyhow::ensure!(target.names.is_empty(), "count takes resources, not names");
        let key = resource.list_key(session.listed_namespace(args.all_namespaces))?;
        let count = session.store(resource).count(&key).await.with_context(|| resource.full_name())?;
        lines.push(if is_one { count.to_string() } else { format!("{}\t{count}", resource.full_name()) });
    }
    writeln!(io::stdout(), "{}", lines.join("\n"))?;
    Ok(())
}
