//! The eight operations of the API on a [`Store`](super::store::Store).

mod changes;
mod document;
mod looks;
mod pages;
mod refusals;
mod requests;
mod start;
