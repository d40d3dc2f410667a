//! All metrics as one collector, so that they are registered together or not at all.

use prometheus::{
    Error, HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use super::LabelSet;
use crate::names::{self, Metric};

#[derive(Clone, Debug)]
pub(super) struct Collectors {
    pub(super) request_duration: HistogramVec,
    pub(super) requests: IntCounterVec,
    pub(super) request_errors: IntCounterVec,
    pub(super) lists: IntCounterVec,
    pub(super) list_fetched: IntCounterVec,
    pub(super) list_evaluated: IntCounterVec,
    pub(super) list_returned: IntCounterVec,
    pub(super) decode_errors: IntCounterVec,
    pub(super) decode_duration: HistogramVec,
    pub(super) events_received: IntCounterVec,
    pub(super) bookmarks: IntGaugeVec,
    pub(super) lease_objects: HistogramVec,
    pub(super) storage_objects: IntGaugeVec,
    /// Release 1.31 does not have it.
    pub(super) resource_objects: Option<IntGaugeVec>,
    pub(super) storage_size: IntGaugeVec,
    pub(super) transformations: IntCounterVec,
    pub(super) transformation_duration: HistogramVec,
    pub(super) key_writes: IntCounterVec,
    pub(super) watch_lag: HistogramVec,
}

impl Collectors {
    pub(super) fn new(labels: LabelSet) -> Result<Self, Error> {
        let (request, resource) = (labels.request_labels(), labels.resource_labels());
        let transformation: &[&str] = match labels {
            LabelSet::Combined => {
                &[names::LABEL_TRANSFORMATION_TYPE, names::LABEL_TRANSFORMER_PREFIX, names::LABEL_STATUS]
            }
            LabelSet::GroupResource => &[
                names::LABEL_RESOURCE,
                names::LABEL_TRANSFORMATION_TYPE,
                names::LABEL_TRANSFORMER_PREFIX,
                names::LABEL_STATUS,
            ],
        };
        let timed = &[names::LABEL_TRANSFORMATION_TYPE, names::LABEL_TRANSFORMER_PREFIX];
        Ok(Self {
            request_duration: histogram(
                names::ETCD_REQUEST_DURATION_SECONDS,
                request,
                &names::REQUEST_BUCKETS,
            )?,
            requests: counter(names::ETCD_REQUESTS_TOTAL, request)?,
            request_errors: counter(names::ETCD_REQUEST_ERRORS_TOTAL, request)?,
            lists: counter(names::LIST_TOTAL, resource)?,
            list_fetched: counter(names::LIST_FETCHED_OBJECTS_TOTAL, resource)?,
            list_evaluated: counter(names::LIST_EVALUATED_OBJECTS_TOTAL, resource)?,
            list_returned: counter(names::LIST_RETURNED_OBJECTS_TOTAL, resource)?,
            decode_errors: counter(names::DECODE_ERRORS_TOTAL, resource)?,
            decode_duration: histogram(
                names::DECODE_DURATION_SECONDS,
                resource,
                &names::TRANSFORMATION_BUCKETS,
            )?,
            events_received: counter(names::EVENTS_RECEIVED_TOTAL, resource)?,
            bookmarks: gauge(names::ETCD_BOOKMARK_COUNTS, resource)?,
            lease_objects: histogram(names::ETCD_LEASE_OBJECT_COUNTS, &[], &names::LEASE_OBJECT_BUCKETS)?,
            storage_objects: gauge(names::STORAGE_OBJECTS, &[names::LABEL_RESOURCE])?,
            resource_objects: match labels {
                LabelSet::Combined => None,
                LabelSet::GroupResource => Some(gauge(names::RESOURCE_OBJECTS, resource)?),
            },
            storage_size: gauge(names::STORAGE_SIZE_BYTES, &[names::LABEL_STORAGE_CLUSTER_ID])?,
            transformations: counter(names::TRANSFORMATION_OPERATIONS_TOTAL, transformation)?,
            transformation_duration: histogram(
                names::TRANSFORMATION_DURATION_SECONDS,
                timed,
                &names::TRANSFORMATION_BUCKETS,
            )?,
            key_writes: counter(names::KEY_WRITES_TOTAL, &[names::LABEL_PROVIDER, names::LABEL_KEY])?,
            watch_lag: histogram(names::WATCH_LAG_SECONDS, resource, &names::WATCH_LAG_BUCKETS)?,
        })
    }

    fn each(&self) -> impl Iterator<Item = &dyn Collector> {
        let all: [&dyn Collector; 18] = [
            &self.request_duration,
            &self.requests,
            &self.request_errors,
            &self.lists,
            &self.list_fetched,
            &self.list_evaluated,
            &self.list_returned,
            &self.decode_errors,
            &self.decode_duration,
            &self.events_received,
            &self.bookmarks,
            &self.lease_objects,
            &self.storage_objects,
            &self.storage_size,
            &self.transformations,
            &self.transformation_duration,
            &self.key_writes,
            &self.watch_lag,
        ];
        all.into_iter().chain(self.resource_objects.as_ref().map(|gauge| gauge as &dyn Collector))
    }
}

impl Collector for Collectors {
    fn desc(&self) -> Vec<&Desc> {
        self.each().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.each().flat_map(Collector::collect).collect()
    }
}

fn counter(metric: Metric, labels: &[&str]) -> Result<IntCounterVec, Error> {
    IntCounterVec::new(Opts::new(metric.name, metric.help), labels)
}

fn gauge(metric: Metric, labels: &[&str]) -> Result<IntGaugeVec, Error> {
    IntGaugeVec::new(Opts::new(metric.name, metric.help), labels)
}

fn histogram(metric: Metric, labels: &[&str], buckets: &[f64]) -> Result<HistogramVec, Error> {
    HistogramVec::new(HistogramOpts::new(metric.name, metric.help).buckets(buckets.to_vec()), labels)
}
