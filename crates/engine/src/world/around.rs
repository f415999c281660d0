//! Instances of another module as seen from a module instance.

use super::{ModuleId, World};
use crate::config_graph::{Caller, ModuleIndex};

impl World {
    /// Returns the instances of `module` that an object in `from` can depend on: those inside its closest ancestor that contains
    /// `module`, itself included.
    pub fn seen_from(&self, from: ModuleId, module: ModuleIndex) -> Vec<ModuleId> {
        let callers = self.callers(module);
        let mut around = std::iter::successors(Some(from), |id| self.module(*id).caller);
        let closest = around.find_map(|id| {
            let of = self.module(id).of;
            let inside = callers.iter().position(|caller| caller.module == of).map(|at| at + 1);
            inside.or((of == module).then_some(0)).map(|calls| (id, calls))
        });
        let Some((closest, calls)) = closest else { return Vec::new() };
        let mut found = vec![closest];
        for caller in callers[..calls].iter().rev() {
            let called = |id: ModuleId| self.module(id).calls.get(caller.call as usize);
            found = found.into_iter().filter_map(called).flat_map(|call| call.instances.iter().copied()).collect();
        }
        found
    }

    /// Returns the call of `module`, the call of its caller, and so on up to the root module.
    fn callers(&self, module: ModuleIndex) -> Vec<Caller> {
        std::iter::successors(self.graph.module(module).caller, |caller| self.graph.module(caller.module).caller)
            .collect()
    }
}
