//! Chooses steps for the store.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    Came, Run,
    pods::{Place, select},
};
use crate::dice::Dice;

pub(super) struct Maker {
    dice: Dice,
    /// Objects that were returned, by key: the step, and its UID and resource version.
    past: BTreeMap<String, Vec<Known>>,
    live: BTreeSet<String>,
    /// Steps that gave a continue token, and what they listed.
    tokens: Vec<(usize, String)>,
    watches: Vec<String>,
    /// Not waited for yet.
    fresh: BTreeSet<String>,
    watched: usize,
    uids: usize,
    head: i64,
    compacted: i64,
}

#[derive(Clone)]
struct Known {
    step: usize,
    uid: String,
    version: String,
}

const RANGES: [&str; 6] = ["/pods", "/pods", "/pods", "/pods/ns1", "/pods/ns2", "/pods/ns"];

impl Maker {
    pub(super) fn new(dice: Dice) -> Self {
        Self {
            dice,
            past: BTreeMap::new(),
            live: BTreeSet::new(),
            tokens: Vec::new(),
            watches: Vec::new(),
            fresh: BTreeSet::new(),
            watched: 0,
            uids: 0,
            head: 0,
            compacted: 0,
        }
    }

    /// Adds a step or a few.
    pub(super) fn next(&mut self, run: &mut Run) -> Result<()> {
        match self.dice.below(100) {
            0..16 => self.create(run),
            16..24 => self.get(run),
            24..33 => self.delete(run),
            33..56 => self.update(run),
            56..78 => self.list(run),
            78..81 => {
                let key = *self.dice.pick(&["/pods", "/pods/ns1", "/pods/ns2/", "/pods/ns"]);
                self.add(run, &json!({ "op": "count", "key": key }))
            }
            81..83 => {
                let key = self.place(true).key();
                self.add(run, &json!({ "op": "leaseOf", "key": key }))
            }
            83..86 => self.compact(run),
            86..93 => self.watch(run),
            93..98 => self.drain(run),
            _ => self.odd_key(run),
        }
    }

    /// Ends it: what the watches still have to tell, and what is there.
    pub(super) fn last(&mut self, run: &mut Run) -> Result<()> {
        self.drain(run)?;
        self.add(run, &json!({ "op": "list", "key": "/pods", "recursive": true }))?;
        self.add(run, &json!({ "op": "count", "key": "/pods" }))
    }

    fn add(&mut self, run: &mut Run, step: &Value) -> Result<()> {
        let came = run.add(step)?;
        self.learn(step, &came);
        Ok(())
    }

    fn learn(&mut self, step: &Value, came: &Came) {
        self.head = came.head;
        let text = |name: &str| step[name].as_str().unwrap_or_default().to_owned();
        let (operation, key) = (text("op"), text("key"));
        let error = came.err.as_ref().map(|error| error["kind"].as_str().unwrap_or_default().to_owned());
        match operation.as_str() {
            "create" | "update" | "get" | "delete" => {
                let object = came.ok.as_ref().map(|ok| &ok["obj"]).filter(|object| object.is_object());
                let there = match error.as_deref() {
                    None => operation == "create" || (operation != "delete" && object.is_some()),
                    Some("KeyExists") => true,
                    Some("KeyNotFound") => false,
                    Some(_) => self.live.contains(&key),
                };
                if there {
                    self.live.insert(key.clone())
                } else {
                    self.live.remove(&key)
                };
                if let Some(object) = object {
                    let of = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
                    let known = Known { step: came.number, uid: of("uid"), version: of("resourceVersion") };
                    self.past.entry(key).or_default().push(known);
                }
            }
            "list"
                if came
                    .ok
                    .as_ref()
                    .is_some_and(|ok| ok["continue"].is_object() || ok["continue"].is_string()) =>
            {
                self.tokens.push((came.number, key));
            }
            "compact" if error.is_none() => {
                self.compacted = text("revision").trim_start_matches('+').parse().unwrap_or(self.compacted);
            }
            _ => {}
        }
    }

    /// Somewhere where a pod is, or is not, if chance finds such a place soon.
    fn place(&mut self, live: bool) -> Place {
        let mut place = Place::any(&mut self.dice);
        for _ in 0..10 {
            if self.live.contains(&place.key()) == live || self.dice.chance(8) {
                break;
            }
            place = Place::any(&mut self.dice);
        }
        place
    }

    fn pod(&mut self, place: &Place) -> Value {
        self.uids += 1;
        place.pod(&mut self.dice, self.uids)
    }

    fn create(&mut self, run: &mut Run) -> Result<()> {
        let place = self.place(false);
        let mut step = json!({ "op": "create", "key": place.key(), "obj": self.pod(&place) });
        if self.dice.chance(12) {
            step["ttl"] = json!(*self.dice.pick(&[600, 1_000, 1_000, 5_000]));
        }
        if self.dice.chance(4) {
            step["obj"]["metadata"]["resourceVersion"] =
                json!(*self.dice.pick(&["0", "+1", "12", "abc", ""]));
        }
        self.add(run, &step)
    }

    fn get(&mut self, run: &mut Run) -> Result<()> {
        let mut step = json!({ "op": "get", "key": self.place(true).key() });
        if self.dice.chance(45) {
            step["resourceVersion"] = json!(self.version());
        }
        if self.dice.chance(25) {
            step["ignoreNotFound"] = json!(true);
        }
        self.add(run, &step)
    }

    fn delete(&mut self, run: &mut Run) -> Result<()> {
        let place = self.place(true);
        let mut step = json!({ "op": "delete", "key": place.key() });
        self.prepare(&mut step, &place.key());
        match self.dice.below(12) {
            0 => step["validate"] = json!({ "deny": "deletion refused" }),
            1 | 2 => {
                let app = *self.dice.pick(&["x", "y"]);
                step["validate"] =
                    json!({ "require": { "/metadata/labels/app": app }, "requireMsg": "wrong app" });
            }
            3 => step["validate"] = json!({ "steps": self.interruption(&place) }),
            _ => {}
        }
        self.add(run, &step)
    }

    fn update(&mut self, run: &mut Run) -> Result<()> {
        let place = self.place(true);
        let mut step = json!({ "op": "update", "key": place.key() });
        self.uids += 1;
        let mut change = place.change(&mut self.dice, self.uids);
        if self.dice.chance(30) {
            step["ignoreNotFound"] = json!(true);
            place.whole(&mut change);
        }
        self.prepare(&mut step, &place.key());
        if self.dice.chance(12) {
            change["steps"] = self.interruption(&place);
        }
        if self.dice.chance(12) {
            change["ttl"] = json!(*self.dice.pick(&[0, 600, 1_000]));
        }
        match self.dice.below(16) {
            0 => change["error"] = json!("update refused"),
            1 => {
                change["error"] = json!("first call refused");
                change["errorOnCall"] = json!(1);
            }
            2 => {
                change["require"] = json!({ "/metadata/labels/app": *self.dice.pick(&["x", "y"]) });
                change["requireMsg"] = json!("wrong app");
            }
            _ => {}
        }
        step["try"] = change;
        self.add(run, &step)
    }

    /// Preconditions and an object from before, sometimes.
    fn prepare(&mut self, step: &mut Value, key: &str) {
        let Some(past) = self.past.get(key).filter(|past| !past.is_empty()).cloned() else { return };
        let last = &past[past.len() - 1];
        if self.dice.chance(30) {
            let known = if self.dice.chance(25) { self.dice.pick(&past) } else { last };
            let mut preconditions = json!({ "uid": known.uid });
            if self.dice.chance(12) {
                preconditions["uid"] = json!("wrong");
            }
            if self.dice.chance(40) && !known.version.is_empty() {
                preconditions["resourceVersion"] = json!(known.version);
            }
            step["preconditions"] = preconditions;
        }
        if self.dice.chance(40) {
            let known = if self.dice.chance(55) { self.dice.pick(&past) } else { last };
            step["cached"] = json!({ "fromStep": known.step });
        }
    }

    /// What somebody else does meanwhile.
    fn interruption(&mut self, place: &Place) -> Value {
        let key = place.key();
        let pod = self.pod(place);
        match self.dice.below(4) {
            0 => json!([{ "op": "delete", "key": key }]),
            1 => json!([{ "op": "delete", "key": key }, { "op": "create", "key": key, "obj": pod }]),
            _ => json!([{ "op": "update", "key": key, "try": { "incr": { "/spec/n": 10 } } }]),
        }
    }

    fn list(&mut self, run: &mut Run) -> Result<()> {
        let mut step = json!({ "op": "list", "recursive": true, "key": *self.dice.pick(&RANGES) });
        if self.dice.chance(12) {
            step["key"] = json!(self.place(true).key());
            step["recursive"] = json!(false);
        }
        select(&mut step, &mut self.dice);
        if self.dice.chance(55) {
            step["limit"] = json!(1 + self.dice.below(4));
        }
        if step["recursive"] == true && !self.tokens.is_empty() && self.dice.chance(35) {
            let (from, key) = self.dice.pick(&self.tokens).clone();
            step["continue"] = json!({ "fromStep": from });
            step["key"] = json!(key);
        } else if self.dice.chance(60) {
            step["resourceVersion"] = json!(self.version());
            step["resourceVersionMatch"] = json!(*self.dice.pick(&["", "Exact", "NotOlderThan", "Exact"]));
            if self.dice.chance(4) {
                step["resourceVersionMatch"] = json!("Other");
            }
        }
        self.add(run, &step)
    }

    fn compact(&mut self, run: &mut Run) -> Result<()> {
        if self.head < 4 {
            return self.get(run);
        }
        // What a watch has not been told of yet would be lost to it, or not, by whoever is faster.
        self.drain(run)?;
        let to = match self.dice.below(12) {
            0 => self.head + 1,
            1 => self.compacted,
            _ => self.revision(self.compacted + 1),
        };
        self.add(run, &json!({ "op": "compact", "revision": format!("+{}", to.max(1)) }))
    }

    fn watch(&mut self, run: &mut Run) -> Result<()> {
        if self.watches.len() >= 3 {
            return self.drain(run);
        }
        self.watched += 1;
        let id = format!("w{}", self.watched);
        let mut step =
            json!({ "op": "watch", "id": id, "recursive": true, "key": *self.dice.pick(&RANGES[..5]) });
        if self.dice.chance(20) {
            step["key"] = json!(self.place(true).key());
            step["recursive"] = json!(false);
        }
        select(&mut step, &mut self.dice);
        step["resourceVersion"] = json!(match self.dice.below(10) {
            0..3 => String::new(),
            3 | 4 => "0".to_owned(),
            5 => "abc".to_owned(),
            // Forgotten, where anything is.
            6 if self.compacted > 2 => format!("+{}", self.compacted - 2),
            _ => format!("+{}", self.revision(self.compacted.max(1))),
        });
        let came = run.add(&step)?;
        if came.err.is_none() {
            self.watches.push(id.clone());
            self.fresh.insert(id);
        }
        // A compaction would end it or not, by whoever is faster.
        self.drain(run)
    }

    /// Waits for all that the watches have to tell.
    fn drain(&mut self, run: &mut Run) -> Result<()> {
        for id in std::mem::take(&mut self.watches) {
            let (pending, closed) = run.model.pending(&id);
            if pending > 0 {
                run.add(&json!({ "op": "events", "id": id, "count": pending }))?;
            } else if self.fresh.contains(&id) {
                run.add(&json!({ "op": "quiet", "id": id, "ms": 250 }))?;
            }
            self.fresh.remove(&id);
            if closed {
                run.add(&json!({ "op": "closed", "id": id }))?;
            } else {
                self.watches.push(id);
            }
        }
        if self.watches.len() > 1 && self.dice.chance(20) {
            let id = self.watches.remove(0);
            run.add(&json!({ "op": "stop", "id": id }))?;
        }
        Ok(())
    }

    fn odd_key(&mut self, run: &mut Run) -> Result<()> {
        let key = *self.dice.pick(&["", "/", "..", "/pods/../x", "/pods/ns1/.", "./a", "/pods/./b"]);
        let step = match self.dice.below(4) {
            0 => json!({ "op": "get", "key": key }),
            1 => json!({ "op": "delete", "key": key }),
            2 => json!({ "op": "update", "key": key, "try": {}, "ignoreNotFound": true }),
            _ => json!({ "op": "list", "key": key, "recursive": true }),
        };
        run.add(&step).map(drop)
    }

    /// A resource version as a client might send it.
    fn version(&mut self) -> String {
        match self.dice.below(100) {
            0..20 => String::new(),
            20..35 => "0".to_owned(),
            35..55 => format!("+{}", self.head),
            55..90 => format!("+{}", self.revision(self.compacted)),
            90..97 => format!("+{}", self.revision(1)),
            97 => format!("+{}", self.head + 7),
            _ => "1x".to_owned(),
        }
    }

    /// From `least` to the head.
    fn revision(&mut self, least: i64) -> i64 {
        let span = (self.head - least + 1).unsigned_abs().max(1);
        least + (self.dice.roll() % span).cast_signed()
    }
}
