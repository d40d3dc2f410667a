//! What the generated structs of `k8s-pb` say about the wire.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::facts::Scalar;
use crate::command::{cargo, read};

/// The messages and kinds of the package.
#[derive(Default)]
pub(super) struct Bindings {
    /// By the path of the type in Go.
    pub(super) messages: BTreeMap<String, Vec<Field>>,
    /// `apiVersion` and kind.
    pub(super) kinds: Vec<(String, String)>,
}

/// A field of a message.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) repeated: bool,
    pub(super) map: bool,
    /// Of the values where it is a map.
    pub(super) scalar: Scalar,
}

impl Bindings {
    /// Reads the sources that cargo has.
    pub(super) fn load() -> Result<Self> {
        let source = source_folder()?;
        let mut bindings = Self::default();
        bindings.read_folder(&source, &mut Vec::new())?;
        Ok(bindings)
    }

    fn read_folder(&mut self, folder: &Path, modules: &mut Vec<String>) -> Result<()> {
        let cannot = || format!("cannot read {}", folder.display());
        let file = folder.join("mod.rs");
        if file.is_file() {
            self.read_module(&fs::read_to_string(file).with_context(cannot)?, modules);
        }
        for entry in fs::read_dir(folder).with_context(cannot)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                modules.push(entry.file_name().to_string_lossy().into_owned());
                self.read_folder(&entry.path(), modules)?;
                modules.pop();
            }
        }
        Ok(())
    }

    /// The files are formatted, so that a line is an attribute, the start of a struct or of a field, or the rest of one.
    fn read_module(&mut self, text: &str, modules: &[String]) {
        let mut fields: Option<&mut Vec<Field>> = None;
        let mut attribute = String::new();
        let mut declaration = String::new();
        let mut api_version = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(name) =
                line.strip_prefix("pub struct ").and_then(|rest| rest.split([' ', ';']).next())
            {
                let path = go_path(modules, name);
                fields = Some(self.messages.entry(path).or_default());
            } else if let Some(rest) = line.strip_prefix("#[prost(") {
                rest.clone_into(&mut attribute);
            } else if let Some(rest) = line.strip_prefix("pub ").filter(|_| !attribute.is_empty()) {
                rest.clone_into(&mut declaration);
            } else if !declaration.is_empty() {
                declaration.push_str(line);
            } else if let Some(value) = constant(line, "API_VERSION") {
                value.clone_into(&mut api_version);
            } else if let Some(value) = constant(line, "KIND") {
                self.kinds.push((api_version.clone(), value.to_owned()));
            }
            if !declaration.is_empty()
                && line.ends_with(',')
                && declaration.matches('<').count() == declaration.matches('>').count()
            {
                let field = Field::parse(&attribute, &declaration, modules);
                if let Some(fields) = fields.as_mut() {
                    fields.extend(field);
                }
                attribute.clear();
                declaration.clear();
            }
        }
    }
}

impl Field {
    /// `attribute` is what stands in `#[prost(…)]`, `declaration` is `name: type,`.
    fn parse(attribute: &str, declaration: &str, modules: &[String]) -> Option<Self> {
        let number = attribute.split("tag = \"").nth(1)?.split('"').next()?.parse().ok()?;
        let (name, of) = declaration.split_once(':')?;
        let map = attribute.starts_with("btree_map");
        let kind = match attribute.split_once('"') {
            Some((_, rest)) if map => rest.split('"').next()?.split(", ").nth(1)?,
            _ => attribute.split([',', ' ', ')']).next()?,
        };
        let scalar = match kind {
            "string" => Scalar::Text,
            "bool" => Scalar::Bool,
            "int32" => Scalar::Int32,
            "int64" => Scalar::Int64,
            "double" => Scalar::Double,
            "message" => Scalar::Message(resolve(of, modules)?),
            // `bytes`, or `bytes = "vec"`
            _ => Scalar::Bytes,
        };
        let name = name.trim_start_matches("r#").to_owned();
        Some(Self { number, name, repeated: attribute.contains("repeated"), map, scalar })
    }
}

/// The path in Go of the message that a field holds, however it is wrapped.
fn resolve(of: &str, modules: &[String]) -> Option<String> {
    let of = of.trim().trim_end_matches([',', '>']);
    let path = of.rsplit(['<', ',']).next()?.trim();
    let parts: Vec<&str> = path.split("::").collect();
    let up = parts.iter().take_while(|part| **part == "super").count();
    let (name, down) = parts[up..].split_last()?;
    let mut modules = modules[..modules.len().checked_sub(up)?].to_vec();
    modules.extend(down.iter().map(|part| (*part).to_owned()));
    Some(go_path(&modules, name))
}

/// `["api", "core", "v1"]` and `Pod` are `api/core/v1.Pod`.
fn go_path(modules: &[String], name: &str) -> String {
    let modules: Vec<String> = modules
        .iter()
        .map(|module| match module.as_str() {
            "apiextensions_apiserver" | "kube_aggregator" => module.replace('_', "-"),
            _ => module.clone(),
        })
        .collect();
    format!("{}.{name}", modules.join("/"))
}

/// The value of a constant of the implementation of `Resource`.
fn constant<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.strip_prefix("const ")?.strip_prefix(name)?.split('"').nth(1)
}

fn source_folder() -> Result<PathBuf> {
    let metadata = read(&mut cargo(&["metadata", "--format-version", "1", "--locked", "--all-features"]))?;
    let metadata: Value =
        serde_json::from_str(&metadata).context("cargo metadata printed something else than JSON")?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let package =
        packages.find(|package| package["name"] == "k8s-pb").context("no package depends on k8s-pb")?;
    let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap_or_default());
    Ok(manifest.with_file_name("src"))
}
