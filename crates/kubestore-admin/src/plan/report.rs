//! Steps and warnings, as text and as data.

use std::fmt;

use serde::Serialize;

/// How to get from one configuration to another. `Display` writes it for people, over several lines.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// What would go wrong, and what to know; dangers first.
    pub warnings: Vec<Warning>,
    /// What to do, in this order. None if nothing is to be done.
    pub steps: Vec<Step>,
}

/// One thing to do.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What kind of thing.
    pub kind: StepKind,
    /// What to do, in a sentence.
    pub text: String,
    /// The resources concerned, where the providers stay as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// The providers that the configuration of all servers shall have after this step, where it changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<ProviderOrder>,
}

/// The providers of some resources.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderOrder {
    /// The resources, as a configuration names them.
    pub resources: Vec<String>,
    /// Provider and key (`aesgcm:key1`) or `identity`, the writing one first.
    pub providers: Vec<String>,
}

/// A kind of step.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StepKind {
    /// Give all servers keys to read with, before anything is written with them.
    AddKeys,
    /// Make another key the writing one, everywhere.
    ChangeWriter,
    /// Write anew what older keys wrote.
    Rewrap,
    /// Prove that everything opens and nothing is stale.
    Verify,
    /// Take away what nothing is stored with any more.
    RemoveKeys,
}

/// Something to know before a configuration is rolled out.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// What kind of thing.
    pub kind: WarningKind,
    /// The resource, or pattern of resources, that it is about.
    pub resource: String,
    /// What would happen and what to do about it.
    pub text: String,
}

/// A kind of warning.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WarningKind {
    /// The key that is to write cannot be read yet by servers with the old configuration.
    NewKeyUnreadable,
    /// A key or provider is missing that something stored needs, or may need.
    StillInUse,
    /// Values are stored that are not encrypted, and the new configuration does not read them.
    PlainUnreadable,
    /// A key has the same name in both configurations and different secrets.
    SecretDiffers,
    /// What is written from now on is not encrypted.
    WritesPlain,
    /// Something is stored that neither configuration reads.
    Unreadable,
    /// What is stored was not counted, so that it is not known whether something still needs what is missing.
    NotCounted,
}

impl Plan {
    /// Whether the new configuration could be rolled out as it is, without any of the steps before, and leave nothing
    /// unreadable for any server.
    #[must_use]
    pub fn is_safe_at_once(&self) -> bool {
        !self.warnings.iter().any(Warning::is_danger)
    }
}

impl Warning {
    /// Whether something would be unreadable for a server if the new configuration was rolled out as it is.
    #[must_use]
    pub fn is_danger(&self) -> bool {
        !matches!(self.kind, WarningKind::WritesPlain | WarningKind::NotCounted)
    }
}

impl Step {
    /// A change of the configuration; none if no resource has one.
    pub(super) fn new(kind: StepKind, providers: Vec<ProviderOrder>) -> Option<Self> {
        (!providers.is_empty()).then(|| Self { providers, ..Self::on(kind, Vec::new()) })
    }

    pub(super) fn on(kind: StepKind, resources: Vec<String>) -> Self {
        Self { kind, text: kind.text().to_owned(), resources, providers: Vec::new() }
    }
}

impl StepKind {
    fn text(self) -> &'static str {
        match self {
            Self::AddKeys => {
                "give every server the new keys for reading, while the old one still writes, and restart them one after \
                 another; go on when all have it"
            }
            Self::ChangeWriter => {
                "make the new provider or key the first on every server, keep the old ones for reading, and restart them \
                 one after another; go on when all have it"
            }
            Self::Rewrap => {
                "write anew what older keys wrote: `kubestore encryption rewrap`, with the configuration that the servers \
                 have now"
            }
            Self::Verify => {
                "prove that everything opens and nothing is stale: `kubestore encryption verify`, with the same \
                 configuration"
            }
            Self::RemoveKeys => {
                "take away what nothing is stored with any more, on every server; keep it for as long as there are \
                 backups from before"
            }
        }
    }
}

impl ProviderOrder {
    /// Resources with the same providers together, in the order in which they come.
    pub(super) fn grouped(orders: impl Iterator<Item = Self>) -> Vec<Self> {
        let mut grouped: Vec<Self> = Vec::new();
        for order in orders {
            match grouped.iter_mut().find(|known| known.providers == order.providers) {
                Some(known) => known.resources.extend(order.resources),
                None => grouped.push(order),
            }
        }
        grouped
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for warning in &self.warnings {
            let level = if warning.is_danger() { "danger" } else { "note" };
            writeln!(f, "{level}: {}: {}", warning.resource, warning.text)?;
        }
        if self.steps.is_empty() {
            let safe = self.is_safe_at_once();
            return f.write_str(if safe { "nothing to do\n" } else { "no steps lead there as it is\n" });
        }
        for (number, step) in (1..).zip(&self.steps) {
            writeln!(f, "{number}. {}", step.text)?;
            if !step.resources.is_empty() {
                writeln!(f, "   {}", step.resources.join(", "))?;
            }
            for order in &step.providers {
                writeln!(f, "   {}: {}", order.resources.join(", "), order.providers.join(", "))?;
            }
        }
        Ok(())
    }
}
