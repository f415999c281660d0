//! The rules of the execution graph, with the cloud in process. The scenarios are those that the command line runs over
//! the plugin protocol, beside Terraform.

#[path = "../../../../cli/tests/it/destruction_order/rules.rs"]
mod rules;
mod scenario;
#[path = "../../../../cli/tests/it/destruction_order/script.rs"]
mod script;
