//! A base in memory that can be held up, and that fails when it is told to.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::{Arc, Condvar, Mutex},
};

use kubestore_kv::BoxError;

use super::base::{Base, Batch, Visit, WriteError};

/// How the next writes end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Refused; whether it is there when the base is opened again.
    Refused {
        full: bool,
        lands: bool,
    },
    /// Refused, and the base does not open again.
    RefusedForGood,
    NotSynced,
    Panics,
}

/// The disk, which outlives every opening of it.
#[derive(Clone, Debug, Default)]
pub(super) struct FakeDisk(Arc<(Mutex<Inner>, Condvar)>);

#[derive(Debug, Default)]
struct Inner {
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
    faults: VecDeque<Fault>,
    held: bool,
    /// Writes that have begun.
    begun: usize,
    syncs: usize,
    broken: bool,
}

impl FakeDisk {
    pub(super) fn base(&self) -> Box<dyn Base> {
        Box::new(FakeBase { disk: self.clone() })
    }

    pub(super) fn fail(&self, fault: Fault) {
        self.0.0.lock().unwrap().faults.push_back(fault);
    }

    /// Writes that begin from now on do not end before [`release`](Self::release).
    pub(super) fn hold(&self) {
        self.0.0.lock().unwrap().held = true;
    }

    pub(super) fn release(&self) {
        self.0.0.lock().unwrap().held = false;
        self.0.1.notify_all();
    }

    /// Waits until `count` writes have begun.
    pub(super) fn wait_for_writes(&self, count: usize) {
        let inner = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(inner, |inner| inner.begun < count).unwrap());
    }

    pub(super) fn begun(&self) -> usize {
        self.0.0.lock().unwrap().begun
    }

    pub(super) fn syncs(&self) -> usize {
        self.0.0.lock().unwrap().syncs
    }
}

#[derive(Debug)]
struct FakeBase {
    disk: FakeDisk,
}

impl Base for FakeBase {
    fn write(&mut self, batch: &Batch, sync: bool) -> Result<(), WriteError> {
        let (lock, changed) = &*self.disk.0;
        let mut inner = lock.lock().unwrap();
        inner.begun += 1;
        changed.notify_all();
        let mut inner = changed.wait_while(inner, |inner| inner.held).unwrap();
        let fault = inner.faults.pop_front();
        if fault == Some(Fault::Panics) {
            drop(inner);
            panic!("a fault of the base");
        }
        if fault.is_none_or(|fault| fault == Fault::Refused { full: false, lands: true }) {
            for (key, value) in &batch.puts {
                inner.entries.insert(key.clone(), value.clone());
            }
            for key in &batch.removes {
                inner.entries.remove(key);
            }
        }
        match fault {
            None => {
                inner.syncs += usize::from(sync);
                Ok(())
            }
            Some(Fault::Refused { full, .. }) => {
                let kind = if full { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
                Err(WriteError::Refused(io::Error::from(kind).into()))
            }
            Some(Fault::RefusedForGood) => {
                inner.broken = true;
                Err(WriteError::Refused("no more".into()))
            }
            Some(_) => Err(WriteError::NotSynced("the cable is out".into())),
        }
    }

    fn scan(&self, visit: &mut Visit<'_>) -> Result<(), BoxError> {
        let entries = self.disk.0.0.lock().unwrap().entries.clone();
        entries.iter().try_for_each(|(key, value)| visit(key, value))
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BoxError> {
        Ok(self.disk.0.0.lock().unwrap().entries.get(key).cloned())
    }

    fn reopen(&mut self) -> Result<(), BoxError> {
        if self.disk.0.0.lock().unwrap().broken { Err("it does not open".into()) } else { Ok(()) }
    }

    fn reclaim(&mut self) {}

    fn disk_bytes(&self) -> u64 {
        0
    }
}
