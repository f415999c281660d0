//! Progress of a run: lines for people, messages for programs.

mod counter;
mod lines;
mod live;
mod messages;
mod ticker;
mod twofold;
mod under_way;
mod words;

pub use counter::Counter;
pub use lines::LineProgress;
pub use live::LiveProgress;
pub use messages::MessageProgress;
pub use ticker::{Progress, Ticker};
pub use twofold::{Counting, Twofold};
