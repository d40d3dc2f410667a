//! `kubestore encryption plan`.

use std::io::{self, Write};

use anyhow::{Context, Result};
use kubestore::transform::EncryptionConfig;
use kubestore_admin::{Census, CensusOptions, census, plan};

use crate::{
    args::{GlobalArgs, PlanArgs, PlanFormat},
    commands::{bar::Bar, show},
    session::{Access, Session},
};

pub(super) async fn run(global: &GlobalArgs, args: &PlanArgs) -> Result<()> {
    let (old, new) = (EncryptionConfig::from_file(&args.old)?, EncryptionConfig::from_file(&args.new)?);
    let census = if args.offline {
        None
    } else {
        Some(counted(global).await.context("what is stored was not counted (--offline leaves that out)")?)
    };
    let plan = plan(&old, &new, census.as_ref(), args.servers);
    match args.output {
        PlanFormat::Json => show::json(&plan),
        PlanFormat::Text => Ok(write!(io::stdout(), "{plan}")?),
    }
}

async fn counted(global: &GlobalArgs) -> Result<Census> {
    let session = Session::open(global, Access::Read).await?;
    let bar = Bar::new(false);
    let options = CensusOptions::default().on_progress(bar.observer());
    let counted = census(session.kv(), session.prefix(), &options).await;
    bar.finish();
    session.close().await;
    Ok(counted?)
}
