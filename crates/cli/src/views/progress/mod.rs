//! Progress of a run, as text or JSON messages.

mod lines;
mod live;
mod messages;
mod tee;
mod texts;
mod ticker;

pub use lines::LineProgress;
pub use live::LiveProgress;
pub use messages::MessageProgress;
pub use tee::{Counter, Counting, Tee};
pub use ticker::{Progress, Ticker};
