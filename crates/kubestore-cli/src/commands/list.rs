//! `kubestore list`.

use std::io::{self, Write};

use anyhow::Result;

use super::{get::more, read};
use crate::{
    args::ListArgs,
    output::{Printer, Style},
    session::Session,
};

pub(super) async fn run(session: &mut Session, args: &ListArgs) -> Result<()> {
    let resource = session.catalog.by_name(&args.resource).await?;
    let options = read::list_options(&args.listing, read::predicate(&args.select, &resource)?);
    let mut printer = Printer::new(Style::new(&args.output, args.select.all_namespaces));
    let listed = read::list(session, &resource, args.select.all_namespaces, options, |object| {
        Ok(printer.object(&resource, &object)?)
    })
    .await?;
    let meta = &listed.meta;
    printer.finish(meta)?;
    match meta.resource_version.as_str() {
        "" => writeln!(io::stderr(), "{} listed.", objects(printer.count()))?,
        version => {
            writeln!(io::stderr(), "{} listed at resource version {version}.", objects(printer.count()))?
        }
    }
    if let Some(token) = &meta.continue_token {
        writeln!(io::stderr(), "{}", more(meta, token))?;
    }
    listed.unread.tell()
}

fn objects(count: usize) -> String {
    if count == 1 { "1 object".to_owned() } else { format!("{count} objects") }
}
