//! Which actions are invoked, and with what.

mod condition;
mod drafting;
mod requested;
mod triggered;
