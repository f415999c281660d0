//! The whole graph of an operation, for those who draw it: with the names that Terraform gives the nodes.

mod blocks;
mod cycle_mode;
mod drawing;
mod drawn;
mod going;
mod resource_dependencies;

use std::sync::Arc;

use groma_config::Configuration;
use groma_diagnostics::Diagnostics;
use groma_plan::Mode;

use crate::config_graph::ConfigGraph;
pub use cycle_mode::CycleMode;
use drawing::Drawing;
pub use drawing::Operation;
pub use drawn::{DrawnObject, OperationNode};
pub use resource_dependencies::{ResourceDependencies, resource_dependencies};

/// The nodes of an operation in the order of their names.
///
/// # Errors
/// The references lead in a circle, and that is refused.
pub fn operation_graph(
    configuration: &Arc<Configuration>,
    operation: Operation<'_>,
    cycle_mode: CycleMode,
) -> Result<Vec<OperationNode>, Diagnostics> {
    let graph = ConfigGraph::new(configuration);
    let diagnostics = graph.check();
    if diagnostics.has_errors() && cycle_mode == CycleMode::Refused {
        return Err(diagnostics);
    }
    let mut drawing = Drawing::new(configuration, &graph, operation);
    match operation {
        Operation::Plan(state) => {
            drawing.blocks();
            drawing.orphans(state);
            drawing.orphaned(state);
            drawing.leave_out_unused();
        }
        Operation::Apply(state) => {
            drawing.blocks();
            drawing.orphaned(state);
            drawing.leave_out_unused();
        }
        Operation::Planned(plan) if plan.mode == Mode::Destroy => {
            drawing.outputs();
            drawing.data_goes(&plan.prior_state);
            drawing.deletions(plan);
            drawing.orphaned_outputs(&plan.prior_state);
        }
        Operation::Planned(plan) => {
            drawing.blocks();
            drawing.deletions(plan);
            drawing.orphaned(&plan.prior_state);
            drawing.leave_out_unused();
        }
        Operation::Destroy(state) => {
            drawing.everything_goes(state);
            drawing.orphaned_outputs(state);
        }
    }
    Ok(drawing.finish())
}
