//! The order in which objects are created, updated and destroyed, on a cloud that refuses what clouds refuse.
//!
//! With `GROMA_TERRAFORM`, every scenario runs under Terraform too; with `GROMA_TERRAFORM_ONLY`, under Terraform alone, which
//! shows whether a scenario expects what Terraform does.

mod compare;
mod generate;
mod histories;
mod minimize;
mod program;
mod reported;
mod rules;
mod scenario;
mod script;
mod single_rules;
mod site;
