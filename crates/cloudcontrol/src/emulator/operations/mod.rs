//! The eight operations of the API on a [`Store`](super::store::Store).

mod changes;
mod document;
mod read;
mod pages;
mod refusals;
mod requests;
mod start;
