//! Invocations of actions in a plan, and their configurations.

mod condition;
mod drafting;
mod requested;
mod triggered;
