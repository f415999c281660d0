//! Resource identities: the parts of the primary identifier, with account and region.

use std::collections::BTreeMap;

use groma_provider::{IdentityAttribute, IdentityImport, IdentitySchema};
use groma_value::{Type, Value};

use super::connection::Connection;
use super::region::REGION;
use crate::Name;
use crate::schema::{Pointer, Step, TypeSchema};

const ACCOUNT: &str = "account_id";

/// Services whose objects are in no region.
const GLOBAL: [&str; 18] = [
    "AccessAnalyzer::Organization",
    "Account",
    "BillingConductor",
    "Budgets",
    "CE",
    "CUR",
    "Chatbot",
    "CloudFront",
    "GlobalAccelerator",
    "IAM",
    "Invoicing",
    "NetworkManager",
    "Organizations",
    "Route53",
    "Route53RecoveryControl",
    "Route53RecoveryReadiness",
    "Shield",
    "WAF",
];

/// The identity of objects of a type.
#[derive(Debug)]
pub(super) struct Identity {
    /// The attributes that form the primary identifier, in its order.
    parts: Vec<Name>,
    is_regional: bool,
}

impl Identity {
    /// Returns the identity of a type's objects.
    pub fn of(schema: &TypeSchema) -> Self {
        let parts = schema.primary_identifier.iter().map(attribute_name).collect();
        let service = schema.type_name.split("::").nth(1).unwrap_or_default();
        Self { parts, is_regional: !GLOBAL.contains(&service) }
    }

    /// Returns the schema of the identity.
    pub fn schema(&self) -> IdentitySchema {
        let attribute = |import, description: &str| IdentityAttribute {
            ty: Type::String,
            import,
            description: description.to_owned(),
        };
        let mut attributes: BTreeMap<Name, IdentityAttribute> = self
            .parts
            .iter()
            .map(|name| (name.clone(), attribute(IdentityImport::Required, "A part of the primary identifier.")))
            .collect();
        let further = [(ACCOUNT, "The AWS account of the object."), (REGION, "The AWS region of the object.")];
        for (name, description) in further.into_iter().filter(|(name, _)| self.is_regional || *name != REGION) {
            attributes.entry(name.into()).or_insert_with(|| attribute(IdentityImport::Optional, description));
        }
        IdentitySchema { version: 0, attributes }
    }

    /// Returns the identity of an object; none if its identifier does not have the parts of the type.
    pub fn value(&self, identifier: &str, connection: &Connection) -> Option<Value> {
        // The last part may contain the separator itself.
        let mut texts = identifier.splitn(self.parts.len(), '|');
        let mut values = BTreeMap::new();
        for part in &self.parts {
            values.insert(part.clone(), Value::string(texts.next()?));
        }
        let account = connection.account.as_ref().map_or_else(|| Value::null(Type::String), Value::string);
        values.entry(ACCOUNT.into()).or_insert(account);
        if self.is_regional {
            values.entry(REGION.into()).or_insert_with(|| Value::string(&connection.region));
        }
        Some(Value::object(values))
    }

    /// Returns the identifier that an identity stands for; none if a part is missing.
    pub fn identifier(&self, identity: &Value) -> Option<String> {
        let parts: Option<Vec<String>> = self
            .parts
            .iter()
            .map(|part| identity.attribute(part)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned))
            .collect();
        Some(parts?.join("|"))
    }

    /// Returns the account that an identity names, if it does.
    pub fn account(&self, identity: &Value) -> Option<String> {
        // The part of the identifier has this name, and it need not be the account of the object.
        if self.parts.iter().any(|part| &**part == ACCOUNT) {
            return None;
        }
        identity.attribute(ACCOUNT)?.as_str().map(str::to_owned)
    }

    /// Returns the region that an identity names, if it does.
    pub fn region(&self, identity: &Value) -> Option<String> {
        // The part of the identifier has this name, and it need not be the region of the object.
        if self.parts.iter().any(|part| &**part == REGION) {
            return None;
        }
        identity.attribute(REGION)?.as_str().map(str::to_owned)
    }
}

/// Returns the attribute of an identifier's part. Parts inside of objects have the names of these objects before theirs.
fn attribute_name(pointer: &Pointer) -> Name {
    let steps = pointer.steps().iter().filter_map(|step| match step {
        Step::Property(name) => Some(&**name),
        Step::Every => None,
    });
    let joined: String = steps.collect();
    snake(&joined).into()
}

/// Words begin at capitals before small letters, and at capitals after small letters and digits. The existing provider
/// names identity attributes in this way, and other attributes by [`crate::names::snake_case`].
fn snake(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut name = String::with_capacity(text.len() + 8);
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| letters.get(index));
        let after = letters.get(index + 1);
        let begins = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || after.is_some_and(|after| after.is_ascii_lowercase())
            });
        if begins {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Catalogue;

    #[test]
    fn identity_attributes_are_the_parts_of_the_identifier() {
        let names = |type_name: &str| -> Vec<String> {
            let schema = Catalogue::shipped().get(type_name).unwrap().unwrap();
            Identity::of(&schema).schema().attributes.keys().map(ToString::to_string).collect()
        };
        assert_eq!(names("AWS::S3::Bucket"), ["account_id", "bucket_name", "region"]);
        assert_eq!(names("AWS::IAM::Role"), ["account_id", "role_name"]);
        assert_eq!(names("AWS::EC2::Route"), ["account_id", "cidr_block", "region", "route_table_id"]);
        assert_eq!(names("AWS::EC2::FlowLog"), ["account_id", "id", "region"]);
        assert_eq!(snake("LoadBalancerArn"), "load_balancer_arn");
        assert_eq!(snake("DBInstanceIdentifier"), "db_instance_identifier");
    }

    #[test]
    fn every_type_has_an_identity() {
        for type_name in Catalogue::shipped().type_names() {
            let schema = Catalogue::shipped().get(type_name).unwrap().unwrap();
            let identity = Identity::of(&schema);
            let distinct: std::collections::BTreeSet<&Name> = identity.parts.iter().collect();
            assert_eq!(distinct.len(), schema.primary_identifier.len(), "{type_name}");
        }
    }
}
