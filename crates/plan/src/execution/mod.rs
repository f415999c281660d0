//! The execution graph: the actions of a plan with their order. Apply walks it and adds nothing to it (LC-06).

mod adjacency;
mod validity;

pub use adjacency::{Adjacency, Edge};
use serde::{Deserialize, Serialize};

/// A step of an apply. Module instances, blocks and changes are meant by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Step {
    /// The value of an input variable.
    Variable(u32, u32),
    /// Validation rules of a variable that refer to other objects.
    Validation(u32, u32),
    /// A local value of a module instance.
    Local(u32, u32),
    /// An output value of a module instance.
    Output(u32, u32),
    /// The assertions of a check block.
    Check(u32, u32),
    /// The values of `each.value` in the instances of a module call.
    ExpandCall(u32, u32),
    /// The values of `each.value` in the instances of a resource.
    ExpandResource(u32, u32),
    /// A provider configuration of a module instance.
    Provider(u32, u32),
    /// Conditions of an unchanged instance that were unknown at plan time.
    Conditions(u32),
    /// The object of a change comes into being.
    Create(u32),
    /// The object of a change changes in place.
    Update(u32),
    /// The object of a change goes.
    Delete(u32),
    /// The data resource of a change is read.
    Read(u32),
    /// An ephemeral resource is opened.
    Open(u32, u32),
    /// The object of a change is no longer managed.
    Forget(u32),
    /// An action is invoked.
    Invoke(u32),
    /// Nothing: many steps wait for many others through it.
    Join,
}

/// Steps, and which of them wait for which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionGraph {
    steps: Vec<Step>,
    /// The steps that wait for each step.
    dependents: Adjacency,
}

impl ExecutionGraph {
    /// A graph of steps with their edges, whose numbers are positions in `steps`.
    pub fn new(steps: Vec<Step>, edges: Vec<Edge>) -> Self {
        let dependents = Adjacency::new(steps.len(), edges.into_iter());
        Self { steps, dependents }
    }

    /// Returns the steps, in the order of their numbers.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the number of steps that create, update or delete an object.
    pub fn changes(&self) -> usize {
        let changes = |step: &&Step| matches!(step, Step::Create(_) | Step::Update(_) | Step::Delete(_));
        self.steps.iter().filter(changes).count()
    }

    /// The steps that wait for `step`.
    pub fn dependents(&self, step: usize) -> &[u32] {
        self.dependents.of(step)
    }

    /// For each step, how many others it waits for.
    pub fn waiting(&self) -> Vec<u32> {
        let mut waiting = self.dependents.incoming();
        waiting.resize(self.steps.len(), 0);
        waiting
    }
}
