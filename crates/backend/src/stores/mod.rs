//! The stores, one file or directory each.

pub(crate) mod inmem;
