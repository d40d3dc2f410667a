#![doc = include_str!("../README.md")]

mod field;
mod json;
mod resource;
mod sniff;
mod unstructured;
mod value;

pub use resource::{
    InvalidCrd, InvalidObjectKey, InvalidResource, Location, Resource, ResourceScope, ResourceTable,
};
pub use sniff::{Encoding, sniff};
pub use unstructured::{Unstructured, UnstructuredCodec, UnstructuredVersioner};
pub use value::{Array, InvalidPointer, MAX_DEPTH, Map, NotAnObject, NotJson, Value};
