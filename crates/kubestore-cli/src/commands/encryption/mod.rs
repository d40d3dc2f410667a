//! `kubestore encryption`.

mod keygen;
mod plan;
mod rewrap;
mod status;
mod verify;

use std::time::Duration;

use anyhow::Result;
use kubestore::transform::EncryptionConfig;

use crate::{
    args::{EncryptionArgs, EncryptionCommand, GlobalArgs},
    commands::on,
    failure::Usage,
    session::{Access, read_encryption},
};

pub(super) async fn run(global: &GlobalArgs, args: &EncryptionArgs) -> Result<()> {
    match &args.command {
        EncryptionCommand::Status(args) => {
            let config = read_encryption(global)?;
            on(global, Access::Read, async |session| status::run(session, config, args).await).await
        }
        EncryptionCommand::Rewrap(args) => {
            let (config, patience) = (needed_config(global)?, global.timeout);
            let access = if args.dry_run { Access::Read } else { Access::Change };
            on(global, access, async |session| rewrap::run(session, &config, patience, args).await).await
        }
        EncryptionCommand::Verify(args) => {
            let config = needed_config(global)?;
            on(global, Access::Read, async |session| verify::run(session, &config, args).await).await
        }
        EncryptionCommand::Plan(args) => plan::run(global, args).await,
        EncryptionCommand::Keygen(args) => keygen::run(args),
    }
}

fn needed_config(global: &GlobalArgs) -> Result<EncryptionConfig> {
    let missing = "--encryption-config is needed: name the configuration that the API servers have";
    read_encryption(global)?.ok_or_else(|| Usage::new(missing).into())
}

/// How long a store may be away.
fn patience(given: Option<Duration>) -> Duration {
    given.unwrap_or(Duration::from_secs(30))
}
