//! Services and what leads to them.

use kubestore::codec::{Map, Value};

use super::{AGE, Column, NAME, workloads};
use crate::output::view::{NONE, View, joined, member, or_none, scalar};

pub(super) const SERVICES: &[Column] = &[
    NAME,
    Column::narrow("TYPE", |view| {
        // What the API server fills in.
        view.at("/spec/type").map_or_else(|| "ClusterIP".to_owned(), scalar)
    }),
    Column::narrow("CLUSTER-IP", |view| or_none(view.text("/spec/clusterIP"))),
    Column::narrow("EXTERNAL-IP", external),
    Column::narrow("PORT(S)", |view| joined(view.objects("/spec/ports").map(port))),
    AGE,
    Column::wide("SELECTOR", |view| view.pairs("/spec/selector")),
];

pub(super) const ENDPOINTS: &[Column] = &[NAME, Column::narrow("ENDPOINTS", endpoints), AGE];

pub(super) const ENDPOINT_SLICES: &[Column] = &[
    NAME,
    Column::narrow("ADDRESSTYPE", |view| view.cell("/addressType")),
    Column::narrow("PORTS", |view| {
        some_of(view.objects("/ports").map(|port| port.get("port").map_or_else(|| "*".to_owned(), scalar)))
    }),
    Column::narrow("ENDPOINTS", |view| {
        let addresses = view.objects("/endpoints").filter_map(|endpoint| endpoint.get("addresses"));
        let addresses =
            addresses.filter_map(Value::as_array).flat_map(|addresses| addresses.iter().map(scalar));
        some_of(addresses)
    }),
    AGE,
];

pub(super) const INGRESSES: &[Column] = &[
    NAME,
    Column::narrow("CLASS", |view| view.cell("/spec/ingressClassName")),
    Column::narrow("HOSTS", |view| {
        let hosts: Vec<_> = view
            .objects("/spec/rules")
            .map(|rule| member(rule, "host"))
            .filter(|host| !host.is_empty())
            .collect();
        if hosts.is_empty() { "*".to_owned() } else { some_of(hosts.into_iter().map(str::to_owned)) }
    }),
    Column::narrow("ADDRESS", |view| balancers(view).join(",")),
    Column::narrow("PORTS", |view| if view.size("/spec/tls") > 0 { "80, 443" } else { "80" }.to_owned()),
    AGE,
];

pub(super) const INGRESS_CLASSES: &[Column] = &[
    NAME,
    Column::narrow("CONTROLLER", |view| view.cell("/spec/controller")),
    Column::narrow("PARAMETERS", |view| match view.at("/spec/parameters") {
        None => NONE.to_owned(),
        Some(_) => {
            let group = view.text("/spec/parameters/apiGroup");
            let dot = if group.is_empty() { "" } else { "." };
            let name = view.text("/spec/parameters/name");
            format!("{}{dot}{group}/{name}", view.text("/spec/parameters/kind"))
        }
    }),
    AGE,
];

pub(super) const POLICIES: &[Column] =
    &[NAME, Column::narrow("POD-SELECTOR", |view| workloads::selector(view, "/spec/podSelector")), AGE];

pub(super) const IP_ADDRESSES: &[Column] = &[
    NAME,
    Column::narrow("PARENTREF", |view| {
        let parent = ["group", "resource", "namespace", "name"]
            .map(|part| view.text(&format!("/spec/parentRef/{part}")));
        parent.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    }),
    workloads::NO_AGE,
];

pub(super) const SERVICE_CIDRS: &[Column] =
    &[NAME, Column::narrow("CIDRS", |view| joined(view.texts("/spec/cidrs"))), AGE];

/// The first three, and how many more there are.
fn some_of(texts: impl Iterator<Item = String>) -> String {
    let all: Vec<_> = texts.collect();
    match all.len() {
        0 => "<unset>".to_owned(),
        1..=3 => all.join(","),
        count => format!("{} + {} more...", all[..3].join(","), count - 3),
    }
}

fn balancers<'a>(view: &View<'a>) -> Vec<&'a str> {
    let address = |balancer: &'a Map| match member(balancer, "ip") {
        "" => member(balancer, "hostname"),
        address => address,
    };
    view.objects("/status/loadBalancer/ingress").map(address).filter(|address| !address.is_empty()).collect()
}

fn external(view: &View<'_>) -> String {
    let named = view.texts("/spec/externalIPs");
    match view.text("/spec/type") {
        "ExternalName" => or_none(view.text("/spec/externalName")),
        "LoadBalancer" => {
            let all: Vec<_> = balancers(view).into_iter().chain(named).collect();
            if all.is_empty() { "<pending>".to_owned() } else { all.join(",") }
        }
        _ => joined(named),
    }
}

fn port(port: &Map) -> String {
    let number = port.get("port").map_or_else(String::new, scalar);
    let node = match port.get("nodePort").and_then(Value::as_i64) {
        Some(node @ 1..) => format!(":{node}"),
        _ => String::new(),
    };
    let protocol = match member(port, "protocol") {
        "" => "TCP",
        protocol => protocol,
    };
    format!("{number}{node}/{protocol}")
}

fn endpoints(view: &View<'_>) -> String {
    let mut all = Vec::new();
    for subset in view.objects("/subsets") {
        let subset = view.of(subset);
        let addresses = || subset.objects("/addresses").map(|address| member(address, "ip"));
        if subset.size("/ports") == 0 {
            all.extend(addresses().map(str::to_owned));
        }
        for port in subset.objects("/ports") {
            let port = port.get("port").map_or_else(String::new, scalar);
            all.extend(addresses().map(|address| format!("{address}:{port}")));
        }
    }
    if all.is_empty() { NONE.to_owned() } else { some_of(all.into_iter()) }
}
