//! From a document to rules.

use base64::{
    alphabet,
    engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig},
};
use zeroize::Zeroizing;

use super::{
    ConfigError, ResourcePattern, ResourceRule, key_pool::KeyPool, node::Node,
    resource_checks::check_resources, walker::Walker,
};
use crate::{Key, Provider, provider::CipherKind};

const API_VERSION: &str = "apiserver.config.k8s.io/v1";
const KIND: &str = "EncryptionConfiguration";
/// Version and kind of before Kubernetes 1.13, which the reference still reads.
const LEGACY: (&str, &str) = ("v1", "EncryptionConfig");
const PROVIDERS: [&str; 5] = ["aescbc", "aesgcm", "identity", "kms", "secretbox"];

/// Padded base64 in the standard alphabet, as lenient about unused bits as the reference.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// Reads the rules, or says everything that is wrong.
pub(super) fn read(text: &str, name: &str) -> Result<Vec<ResourceRule>, ConfigError> {
    let Some(document) = Node::parse(text, name)? else {
        return Err(ConfigError::whole(name, format!("is empty; write an {KIND}")));
    };
    let mut reader = Reader::default();
    let rules = reader.document(&document);
    match reader.walker.problems {
        problems if problems.is_empty() => Ok(rules),
        problems => Err(ConfigError::new(name, problems)),
    }
}

#[derive(Default)]
struct Reader {
    walker: Walker,
    pool: KeyPool,
}

impl Reader {
    fn document(&mut self, document: &Node) -> Vec<ResourceRule> {
        if !matches!(document, Node::Object(_)) {
            self.walker.report("", format!("is {}, must be an {KIND}", document.describe()));
            return Vec::new();
        }
        let [api_version, kind, resources] =
            self.walker.fields(document, "", ["apiVersion", "kind", "resources"]);
        let given = (self.walker.text(api_version, "apiVersion"), self.walker.text(kind, "kind"));
        if given != (Some(LEGACY.0), Some(LEGACY.1)) {
            for (text, path, expected) in [(given.0, "apiVersion", API_VERSION), (given.1, "kind", KIND)] {
                if text.is_some_and(|text| text != expected) {
                    self.walker.report(path, format!("must be {expected}"));
                }
            }
        }
        let elements = self.walker.list(resources, "resources");
        if elements.is_empty() && matches!(resources, Node::Null | Node::List(_)) {
            self.walker.report("resources", "is empty; add at least one rule with resources and providers");
        }
        let mut rules = Vec::new();
        for (number, element) in elements.iter().enumerate() {
            let rule = self.rule(element, &format!("resources[{number}]"));
            rules.push(rule);
        }
        self.check_masking(&rules);
        rules
    }

    fn rule(&mut self, node: &Node, path: &str) -> ResourceRule {
        let [resources, providers] = self.walker.fields(node, path, ["resources", "providers"]);
        let (in_resources, in_providers) = (format!("{path}.resources"), format!("{path}.providers"));

        let mut names = Vec::new();
        for (number, name) in self.walker.list(resources, &in_resources).iter().enumerate() {
            let path = format!("{in_resources}[{number}]");
            names.extend(self.walker.text(name, &path).map(|name| (path, name)));
        }
        if matches!(resources, Node::Null) || matches!(resources, Node::List(list) if list.is_empty()) {
            self.walker.report(&in_resources, "is empty; name at least one resource");
        }
        check_resources(&mut self.walker, &names, &in_resources);

        let elements = self.walker.list(providers, &in_providers);
        if elements.is_empty() && matches!(providers, Node::Null | Node::List(_)) {
            self.walker.report(&in_providers, "is empty; name at least one provider, the first writes");
        }
        let numbered = elements.iter().enumerate();
        let providers = numbered
            .filter_map(|(number, node)| self.provider(node, &format!("{in_providers}[{number}]")))
            .collect();
        let resources = names.iter().map(|(_, name)| ResourcePattern::parse(name)).collect();
        ResourceRule::new(resources, providers)
    }

    fn provider(&mut self, node: &Node, path: &str) -> Option<Provider> {
        let before = self.walker.problems.len();
        let fields = self.walker.fields(node, path, PROVIDERS);
        let given: Vec<_> =
            PROVIDERS.into_iter().zip(fields).filter(|(_, node)| !matches!(node, Node::Null)).collect();
        let &[(name, node)] = &given[..] else {
            if !given.is_empty() {
                self.walker
                    .report(path, "has several providers; give each an element of its own in the list");
            } else if before == self.walker.problems.len() {
                self.walker.report(path, format!("names no provider; write one of {}", PROVIDERS.join(", ")));
            }
            return None;
        };
        let path = format!("{path}.{name}");
        match name {
            "identity" => {
                let [] = self.walker.fields(node, &path, []);
                Some(Provider::identity())
            }
            "kms" => {
                self.walker.report(
                    &path,
                    "is not yet supported; use aesgcm or secretbox, or keep to the API server",
                );
                None
            }
            name => self.keyed(name, node, &path),
        }
    }

    fn keyed(&mut self, name: &str, node: &Node, path: &str) -> Option<Provider> {
        let [list] = self.walker.fields(node, path, ["keys"]);
        let path = format!("{path}.keys");
        let Some(cipher) = cipher(name) else {
            self.walker.report(&path, format!("provider {name} is not built in; enable its feature"));
            return None;
        };
        let elements = self.walker.list(list, &path);
        if elements.is_empty() && matches!(list, Node::Null | Node::List(_)) {
            self.walker.report(&path, "is empty; give at least one key, the first writes");
        }
        let mut keys = Vec::new();
        for (number, node) in elements.iter().enumerate() {
            let Some(key) = self.key(cipher, node, &format!("{path}[{number}]")) else { continue };
            let usage = self.pool.usage(cipher.name, &key);
            keys.push((key, usage));
        }
        Provider::keyed(cipher, keys).ok()
    }

    fn key(&mut self, cipher: CipherKind, node: &Node, path: &str) -> Option<Key> {
        let [name, secret] = self.walker.fields(node, path, ["name", "secret"]);
        let (in_name, in_secret) = (format!("{path}.name"), format!("{path}.secret"));
        let name = self.walker.text(name, &in_name);
        if name == Some("") {
            self.walker.report(
                &in_name,
                "is missing; give the key a name, it goes into every value written with it",
            );
        }
        let secret = self.walker.text(secret, &in_secret)?;
        if secret.is_empty() {
            self.walker.report(&in_secret, "is missing; give the base64 of random bytes");
            return None;
        }
        // The reference ignores line breaks inside.
        let compact = Zeroizing::new(secret.replace(['\r', '\n'], ""));
        let Ok(bytes) = BASE64.decode(compact.as_bytes()) else {
            self.walker
                .report(&in_secret, "is not base64; encode the bytes with the standard alphabet and padding");
            return None;
        };
        // Nothing but the name can be missing here, and that was said above.
        let name = name.filter(|name| !name.is_empty()).unwrap_or("?");
        let key = match Key::new(name, bytes) {
            Ok(key) => key,
            Err(error) => {
                self.walker.report(&in_secret, error.to_string());
                return None;
            }
        };
        if let Err(error) = (cipher.cipher)(&key) {
            self.walker
                .report(&in_secret, format!("{error}; make a new one, an existing one cannot be stretched"));
            return None;
        }
        Some(key)
    }

    /// A resource may stand in several rules, whose providers then follow one another; but not behind a wildcard that
    /// covers it.
    fn check_masking(&mut self, rules: &[ResourceRule]) {
        for (number, rule) in rules.iter().enumerate() {
            let before = || rules[..number].iter().flat_map(ResourceRule::resources);
            for (at, later) in rule.resources().iter().enumerate() {
                if let Some(wide) = before().find(|earlier| earlier.masks(later)) {
                    self.walker.report(
                        &format!("resources[{number}].resources[{at}]"),
                        format!(
                            "{:?} is covered by {:?} of an earlier rule; move this rule before it",
                            later.to_string(),
                            wide.to_string()
                        ),
                    );
                }
            }
        }
    }
}

fn cipher(name: &str) -> Option<CipherKind> {
    match name {
        "aesgcm" => Some(CipherKind::AES_GCM),
        #[cfg(feature = "aes-cbc")]
        "aescbc" => Some(CipherKind::AES_CBC),
        #[cfg(feature = "secretbox")]
        "secretbox" => Some(CipherKind::SECRETBOX),
        _ => None,
    }
}
