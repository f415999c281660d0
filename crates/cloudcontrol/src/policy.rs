//! IAM policies: the actions that the handlers of resource types need.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use crate::Name;
use crate::names::{self, Meaning};
use crate::schema::{Catalogue, SchemaError};

/// The actions of Cloud Control itself, which belong to CloudFormation.
const OWN: [&str; 8] = [
    "cloudformation:CancelResourceRequest",
    "cloudformation:CreateResource",
    "cloudformation:DeleteResource",
    "cloudformation:GetResource",
    "cloudformation:GetResourceRequestStatus",
    "cloudformation:ListResourceRequests",
    "cloudformation:ListResources",
    "cloudformation:UpdateResource",
];

/// The operations that an identity may perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Plans: reading and listing.
    Read,
    /// Plans and applies.
    Manage,
}

/// Returns the name of the type that `name` means: `AWS::S3::Bucket` or `awscc_s3_bucket`.
pub fn type_of(catalogue: &Catalogue, name: &str) -> Option<Name> {
    if catalogue.contains(name) {
        return Some(name.into());
    }
    match names::find(catalogue, name) {
        Some(Meaning::One(cloud_name) | Meaning::Many(cloud_name)) => Some(cloud_name),
        None => None,
    }
}

/// Returns the least policy with which the objects of types can be managed: a document of IAM. The schemas name actions and
/// no resources, so the resource is `*`.
///
/// # Errors
/// A schema cannot be read.
pub fn policy<'a>(
    catalogue: &Catalogue,
    types: impl IntoIterator<Item = &'a str>,
    scope: Scope,
) -> Result<Json, SchemaError> {
    let changes = ["create", "update", "delete"];
    let mut actions: BTreeSet<String> = OWN
        .iter()
        .filter(|action| scope == Scope::Manage || action.contains(":Get") || action.contains(":List"))
        .map(|action| (*action).to_owned())
        .collect();
    for type_name in types {
        for (operation, needed) in catalogue.permissions(type_name)? {
            if scope == Scope::Manage || !changes.contains(&operation.as_str()) {
                actions.extend(needed);
            }
        }
    }
    Ok(json!({
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(policy: &Json) -> Vec<&str> {
        policy["Statement"][0]["Action"].as_array().unwrap().iter().filter_map(Json::as_str).collect()
    }

    #[test]
    fn a_policy_has_the_actions_of_the_handlers() {
        let catalogue = Catalogue::shipped();
        let manage = policy(catalogue, ["AWS::SQS::Queue"], Scope::Manage).unwrap();
        assert!(actions(&manage).contains(&"sqs:CreateQueue"));
        assert!(actions(&manage).contains(&"cloudformation:CreateResource"));
        let read = policy(catalogue, ["AWS::SQS::Queue"], Scope::Read).unwrap();
        assert!(actions(&read).contains(&"sqs:GetQueueAttributes"));
        assert!(!actions(&read).contains(&"sqs:CreateQueue"));
        assert!(!actions(&read).contains(&"cloudformation:CreateResource"));
    }

    #[test]
    fn types_have_two_names() {
        let catalogue = Catalogue::shipped();
        assert_eq!(type_of(catalogue, "awscc_s3_bucket").as_deref(), Some("AWS::S3::Bucket"));
        assert_eq!(type_of(catalogue, "AWS::S3::Bucket").as_deref(), Some("AWS::S3::Bucket"));
        assert_eq!(type_of(catalogue, "aws_s3_bucket"), None);
    }
}
