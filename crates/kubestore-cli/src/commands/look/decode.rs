//! `kubestore decode`.

use std::{
    borrow::Cow,
    fs,
    io::{self, Read, Write},
    path::Path,
};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use kubestore::codec::{Damage, Encoding, Recognised, Unstructured, recognise};

use super::found;
use crate::{
    args::{DecodeArgs, DocumentFormat, GlobalArgs},
    commands::show,
    failure::{self, AlreadyTold},
    object::{ObjectCodec, Opener},
    output::{to_json, to_yaml},
    session::read_encryption,
};

pub(super) async fn run(global: &GlobalArgs, args: &DecodeArgs) -> Result<()> {
    let opener = Opener::new(&global.prefix, read_encryption(global)?, ObjectCodec::new());
    let (name, data) = read(&args.file)?;
    let values = recognise(&data);
    if values.is_empty() {
        bail!("{name}: etcdctl found no key; check the key and the endpoint that it was asked for");
    }
    let (count, mut failed) = (values.len(), false);
    for (number, value) in values.iter().enumerate() {
        let key = args.etcd_key.as_deref().map(|key| Cow::Borrowed(key.as_bytes()));
        let key = key.or_else(|| value.key.clone());
        let place = match &key {
            Some(key) if value.key.is_some() => String::from_utf8_lossy(key).escape_debug().to_string(),
            _ if count > 1 => format!("{name}: value {}", number + 1),
            _ => name.clone(),
        };
        if let Some(damage) = value.damage {
            show::note(&format!("warning: {place}: {damage}"))?;
        }
        match decode(&opener, key.as_deref(), value).await {
            Ok(object) => write(&object, args.output, number == 0)?,
            Err(error) => {
                failed = true;
                show::note(&format!("error: {place}: {}", failure::chain(&error)))?;
            }
        }
    }
    if failed { Err(AlreadyTold.into()) } else { Ok(()) }
}

async fn decode(opener: &Opener, key: Option<&[u8]>, value: &Recognised<'_>) -> Result<Unstructured> {
    let data = Bytes::copy_from_slice(&value.value);
    let plain = match (&value.encoding, key) {
        (Encoding::Encrypted { .. }, Some(key)) => found::plain(opener, key, data).await?,
        (Encoding::Encrypted { provider, key }, None) => {
            let named = match (provider, key) {
                (Some(provider), Some(key)) => format!(" by provider {provider} with key {key:?}"),
                _ => String::new(),
            };
            bail!(
                "the value is encrypted{named}, and its etcd key decides how; name it with --etcd-key, and the configuration \
                 with --encryption-config"
            );
        }
        (Encoding::Unknown, _) => bail!("{}", unknown(&value.value)),
        _ => data,
    };
    opener.decode(plain).map_err(|error| {
        let error = anyhow::Error::from(error);
        match value.damage {
            Some(Damage::Replaced | Damage::Inconsistent) => error.context("the value is damaged"),
            _ => error,
        }
    })
}

fn unknown(data: &[u8]) -> String {
    if data.is_empty() {
        return "there is nothing in it; check the key that was asked for".to_owned();
    }
    "nothing that Kubernetes stores was found in it: take the value as `etcdctl get KEY -w json` prints it, or the bare \
     bytes"
        .to_owned()
}

fn read(file: &Path) -> Result<(String, Vec<u8>)> {
    if file == Path::new("-") {
        let mut data = Vec::new();
        io::stdin().lock().read_to_end(&mut data).context("standard input: cannot be read")?;
        return Ok(("standard input".to_owned(), data));
    }
    let name = file.display().to_string();
    let data = fs::read(file).with_context(|| format!("{name}: cannot be read"))?;
    Ok((name, data))
}

fn write(object: &Unstructured, format: DocumentFormat, is_first: bool) -> Result<()> {
    let text = match format {
        DocumentFormat::Json => to_json(object)?,
        DocumentFormat::Yaml => {
            let begin = if is_first { "" } else { "---\n" };
            format!("{begin}{}", to_yaml(object)).into_bytes()
        }
    };
    Ok(io::stdout().write_all(&text)?)
}
