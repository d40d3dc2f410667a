//! What each command does.

mod apply;
mod bar;
mod corrupt;
mod count;
mod delete;
mod encryption;
mod get;
mod list;
mod look;
mod many;
mod merge;
mod plan;
mod read;
mod repair;
mod show;
mod transfer;
mod watch;

use anyhow::Result;
use kubestore_admin::Scope;

use crate::{
    args::{Cli, Command, GlobalArgs},
    failure::Usage,
    input,
    session::{Access, Session, read_encryption},
};

/// Does what the command line says.
pub(crate) async fn run(cli: Cli) -> Result<()> {
    let global = &cli.global;
    match &cli.command {
        Command::Apply(args) => {
            // Files are read before the store is opened, so that a malformed one changes nothing at all.
            let documents = input::read(&args.files, args.recursive)?;
            on(global, Access::Make, async |session| apply::run(session, args, documents).await).await
        }
        Command::Get(args) => on(global, Access::Read, async |session| get::run(session, args).await).await,
        Command::List(args) => on(global, Access::Read, async |session| list::run(session, args).await).await,
        Command::Delete(args) => {
            let documents = input::read(&args.files, args.recursive)?;
            on(global, Access::Change, async |session| delete::run(session, args, documents).await).await
        }
        Command::Count(args) => {
            on(global, Access::Read, async |session| count::run(session, args).await).await
        }
        Command::Inspect(args) => {
            on(global, Access::Read, async |session| look::inspect(session, args).await).await
        }
        Command::History(args) => {
            on(global, Access::Read, async |session| look::history(session, args).await).await
        }
        Command::Diff(args) => {
            on(global, Access::Read, async |session| look::diff(session, args).await).await
        }
        Command::Keys(args) => {
            on(global, Access::Read, async |session| look::keys(session, args).await).await
        }
        Command::Decode(args) => look::decode(global, args).await,
        Command::Check(args) => {
            let config = read_encryption(global)?;
            on(global, Access::Read, async |session| transfer::check(session, config, args).await).await
        }
        Command::Repair(args) => repair::run(global, args).await,
        Command::Export(args) => {
            on(global, Access::Read, async |session| transfer::export(session, args).await).await
        }
        Command::Import(args) => {
            on(global, Access::Make, async |session| transfer::import(session, args).await).await
        }
        Command::Encryption(args) => encryption::run(global, args).await,
        Command::Watch(args) => {
            on(global, Access::Read, async |session| watch::run(session, args).await).await
        }
    }
}

/// Opens the store, does something with it, and closes it whatever came of that.
async fn on(
    global: &GlobalArgs,
    access: Access,
    command: impl AsyncFnOnce(&mut Session) -> Result<()>,
) -> Result<()> {
    let mut session = Session::open(global, access).await?;
    let result = command(&mut session).await;
    session.close().await;
    result
}

/// The part of the store that is named by resources; all of it if none is.
fn scope(session: &Session, resources: &[String]) -> Result<Scope> {
    let names = resources.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    let scope = Scope::new(session.prefix()).only(names);
    Ok(scope.map_err(|error| Usage::new(format!("--resource: {error}")))?)
}
