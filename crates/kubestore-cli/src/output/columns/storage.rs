//! Volumes.

use kubestore::codec::Value;

use super::{AGE, Column, NAME};
use crate::output::view::{NONE, View, joined, scalar};

pub(super) const VOLUMES: &[Column] = &[
    NAME,
    Column::narrow("CAPACITY", |view| view.text("/spec/capacity/storage").to_owned()),
    Column::narrow("ACCESS MODES", |view| access_modes(view, "/spec/accessModes")),
    Column::narrow("RECLAIM POLICY", |view| view.text("/spec/persistentVolumeReclaimPolicy").to_owned()),
    Column::narrow("STATUS", status),
    Column::narrow("CLAIM", |view| match view.text("/spec/claimRef/name") {
        "" => String::new(),
        name => format!("{}/{name}", view.text("/spec/claimRef/namespace")),
    }),
    Column::narrow("STORAGECLASS", |view| view.text("/spec/storageClassName").to_owned()),
    Column::narrow("VOLUMEATTRIBUTESCLASS", attributes_class),
    Column::narrow("REASON", |view| view.text("/status/reason").to_owned()),
    AGE,
    Column::wide("VOLUMEMODE", |view| view.cell("/spec/volumeMode")),
];

pub(super) const CLAIMS: &[Column] = &[
    NAME,
    Column::narrow("STATUS", status),
    Column::narrow("VOLUME", |view| view.text("/spec/volumeName").to_owned()),
    Column::narrow("CAPACITY", |view| view.text("/status/capacity/storage").to_owned()),
    Column::narrow("ACCESS MODES", |view| access_modes(view, "/status/accessModes")),
    Column::narrow("STORAGECLASS", |view| view.text("/spec/storageClassName").to_owned()),
    Column::narrow("VOLUMEATTRIBUTESCLASS", attributes_class),
    AGE,
    Column::wide("VOLUMEMODE", |view| view.cell("/spec/volumeMode")),
];

pub(super) const CLASSES: &[Column] = &[
    NAME,
    Column::narrow("PROVISIONER", |view| view.cell("/provisioner")),
    Column::narrow("RECLAIMPOLICY", |view| or_default(view, "/reclaimPolicy", "Delete")),
    Column::narrow("VOLUMEBINDINGMODE", |view| or_default(view, "/volumeBindingMode", "Immediate")),
    Column::narrow("ALLOWVOLUMEEXPANSION", |view| or_default(view, "/allowVolumeExpansion", "false")),
    AGE,
];

pub(super) const ATTACHMENTS: &[Column] = &[
    NAME,
    Column::narrow("ATTACHER", |view| view.cell("/spec/attacher")),
    Column::narrow("PV", |view| view.text("/spec/source/persistentVolumeName").to_owned()),
    Column::narrow("NODE", |view| view.cell("/spec/nodeName")),
    Column::narrow("ATTACHED", |view| or_default(view, "/status/attached", "false")),
    AGE,
];

pub(super) const CSI_NODES: &[Column] =
    &[NAME, Column::narrow("DRIVERS", |view| view.size("/spec/drivers").to_string()), AGE];

pub(super) const CSI_DRIVERS: &[Column] = &[
    NAME,
    Column::narrow("ATTACHREQUIRED", |view| or_default(view, "/spec/attachRequired", "true")),
    Column::narrow("PODINFOONMOUNT", |view| or_default(view, "/spec/podInfoOnMount", "false")),
    Column::narrow("STORAGECAPACITY", |view| or_default(view, "/spec/storageCapacity", "false")),
    Column::narrow("TOKENREQUESTS", |view| match view.size("/spec/tokenRequests") {
        0 => "<unset>".to_owned(),
        _ => joined(
            view.objects("/spec/tokenRequests").filter_map(|request| request.get("audience")).map(scalar),
        ),
    }),
    Column::narrow("REQUIRESREPUBLISH", |view| or_default(view, "/spec/requiresRepublish", "false")),
    Column::narrow("MODES", |view| joined(view.texts("/spec/volumeLifecycleModes"))),
    AGE,
];

fn or_default(view: &View<'_>, pointer: &str, default: &str) -> String {
    view.at(pointer).map_or_else(|| default.to_owned(), scalar)
}

fn attributes_class(view: &View<'_>) -> String {
    view.at("/spec/volumeAttributesClassName").map_or_else(|| "<unset>".to_owned(), scalar)
}

fn status(view: &View<'_>) -> String {
    if view.at("/metadata/deletionTimestamp").is_some() {
        return "Terminating".to_owned();
    }
    view.at("/status/phase").map_or_else(|| NONE.to_owned(), scalar)
}

fn access_modes(view: &View<'_>, pointer: &str) -> String {
    let short = |mode: &Value| match mode.as_str().unwrap_or_default() {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        _ => "",
    };
    view.array(pointer).iter().map(short).collect::<Vec<_>>().join(",")
}
