//! Creates, pages, updates and watches objects in memory.
#![expect(clippy::print_stdout, reason = "it shows what it does")]

use futures_util::StreamExt as _;
use kubestore::prelude::*;
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pods = Stores::new(Embedded::in_memory()).unstructured("pods");
    for name in ["a", "b", "c"] {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns1"}});
        pods.create(&format!("/pods/ns1/{name}"), pod.try_into()?, CreateOptions::default()).await?;
    }
    let page = pods.get_list("/pods", ListOptions::recursive().with_limit(2)).await?;
    println!("{} pods, {:?} more", page.items.len(), page.remaining_item_count);
    let version = page.resource_version.to_string();
    let mut changes = pods.watch("/pods", WatchOptions::recursive().with_resource_version(version)).await?;
    pods.remove("/pods/ns1/b").await?;
    if let Some(event) = changes.next().await {
        println!("{}", event?.event_type());
    }
    Ok(())
}
