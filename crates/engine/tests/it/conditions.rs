//! Conditions of variables, objects and outputs (PL-27).

use crate::support::{Project, errors};

#[test]
fn pl_27_invalid_message_is_an_error_even_if_the_condition_holds() {
    let errors = |text: &str| Project::new(&format!("variable \"x\" {{\n  default = 1\n}}\n{text}")).plan().errors();
    let lifecycle = |message: &str| {
        errors(&format!(
            r#"
            resource "terraform_data" "a" {{
              lifecycle {{
                precondition {{
                  condition     = var.x == 1
                  error_message = {message}
                }}
              }}
            }}
            "#
        ))
    };
    assert_eq!(lifecycle("[var.x]"), ["Invalid error message"]);
    assert_eq!(lifecycle("var.x + \"a\""), ["Invalid operand"]);
    // A number converts to a string.
    assert!(lifecycle("var.x").is_empty());
    let check = |condition: &str, message: &str| {
        errors(&format!(
            r#"
            check "c" {{
              assert {{
                condition     = {condition}
                error_message = {message}
              }}
            }}
            "#
        ))
    };
    assert!(check("var.x == 2", "\"Not two.\"").is_empty());
    assert_eq!(check("var.x == 2", "[var.x]"), ["Invalid error message"]);
    assert_eq!(check("[var.x][0] > \"a\"", "\"Never said.\""), ["Invalid operand"]);
}

#[test]
fn pl_27_message_of_a_variable_is_evaluated_only_if_its_rule_fails() {
    let errors = |default: u8| {
        Project::new(&format!(
            r#"
            variable "x" {{
              default = {default}
              validation {{
                condition     = var.x == 1
                error_message = [var.x]
              }}
            }}
            "#
        ))
        .plan()
        .errors()
    };
    // The rule holds, so its invalid message does not matter.
    assert!(errors(1).is_empty());
    assert_eq!(errors(2), ["Invalid error message", "Invalid value for variable"]);
}

#[test]
fn pl_27_conditions_stop_what_they_guard() {
    let mut project = Project::new(
        r#"
        variable "n" {
          default = 3
          validation {
            condition     = var.n > 5
            error_message = "Too small."
          }
        }
        resource "terraform_data" "a" { input = var.n }
        "#,
    );
    assert_eq!(project.plan().errors(), ["Invalid value for variable"]);
    project.rewrite(
        r#"
        resource "terraform_data" "a" {
          input = 1
          lifecycle {
            postcondition {
              condition     = self.output == 2
              error_message = "Not two."
            }
          }
        }
        resource "terraform_data" "b" { input = terraform_data.a.output }
        "#,
    );
    let planned = project.plan();
    assert!(planned.errors().is_empty(), "{:?}", planned.errors());
    // The output is unknown during planning, so the condition can fail only during apply.
    assert_eq!(errors(&project.apply_plan(planned)), ["Resource postcondition failed"]);
    assert_eq!(
        project.recorded(),
        ["terraform_data.a"],
        "the created object is kept, and its dependents are not started"
    );
}

#[test]
fn results_of_conditions_stay_known_when_nothing_evaluates_them_again() {
    let text = |input: u8| {
        format!(
            r#"
            resource "terraform_data" "a" {{
              input = 1
              lifecycle {{
                postcondition {{
                  condition     = self.input == 1
                  error_message = "Not one."
                }}
              }}
            }}
            resource "terraform_data" "b" {{ input = {input} }}
            "#
        )
    };
    let mut project = Project::new(&text(1));
    project.apply();
    project.rewrite(&text(2));
    project.apply();
    let results = project.state.check_results.as_ref().unwrap();
    assert_eq!(results.len(), 1);
    // Only b changed: the result for a comes from the plan.
    assert_eq!(results[0].status, groma_state::CheckStatus::Pass);
}
