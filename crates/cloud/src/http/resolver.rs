//! Addresses of host names, from the system's resolver.

use std::io;
use std::net::ToSocketAddrs;
use std::thread::Builder;

use groma_diagnostics::io_reason;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::oneshot;

/// Resolves each name on a thread, since the system's resolver blocks.
///
/// The resolver of the HTTP library panics where the operating system does not allow another thread; here that is an error.
#[derive(Clone, Copy, Debug)]
pub struct Resolver {
    /// Starts a lookup on a new thread.
    spawn: fn(Lookup) -> io::Result<()>,
}

type Lookup = Box<dyn FnOnce() + Send>;

impl Resolver {
    /// Creates the resolver.
    pub fn new() -> Self {
        Self { spawn: |lookup| Builder::new().name("name lookup".to_owned()).spawn(lookup).map(drop) }
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::new()
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (sender, receiver) = oneshot::channel();
        let lookup = move || {
            // Nobody waits any more for an answer that comes after the deadline.
            let _ = sender.send((name.as_str(), 0).to_socket_addrs());
        };
        let started = (self.spawn)(Box::new(lookup));
        Box::pin(async move {
            started.map_err(|error| {
                io::Error::other(format!(
                    "no thread can be started to look up the name: {}; raise the limit on processes and threads (ulimit -u), or end \
                     other programs",
                    io_reason(&error)
                ))
            })?;
            let found = receiver.await.map_err(|_| io::Error::other("the name lookup was given up"))??;
            Ok(Box::new(found) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(resolver: Resolver, name: &str) -> Result<usize, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(resolver.resolve(name.parse().unwrap()));
        found.map(Iterator::count).map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_resolved() {
        assert!(resolved(Resolver::new(), "localhost").unwrap() > 0);
        assert!(resolved(Resolver::new(), "no-such-host.invalid").is_err());
    }

    #[test]
    fn thread_that_cannot_be_started_is_an_error_with_advice() {
        let resolver = Resolver { spawn: |_| Err(io::ErrorKind::WouldBlock.into()) };
        let problem = resolved(resolver, "localhost").unwrap_err();
        assert!(problem.contains("no thread can be started") && problem.contains("ulimit -u"), "{problem}");
    }
}
