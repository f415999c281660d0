//! Names of types and attributes: CloudFormation's on one side, ours on the other, and the exact way back.

mod plural;
mod snake;

pub use plural::plural;
pub use snake::snake_case;

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::Name;
use crate::schema::Catalogue;

/// The prefix of all our type names: the organisation AWS.
pub const PREFIX: &str = "awscc_";

/// Top-level attributes of these names would be taken for meta-arguments; a type that has one is left out (CC-04).
pub const META_ARGUMENTS: [&str; 4] = ["count", "depends_on", "for_each", "lifecycle"];

/// `AWS::EC2::Instance` gives `awscc_ec2_instance` (CC-02).
pub fn resource_type(type_name: &str) -> Option<String> {
    let (service, resource) = parts(type_name)?;
    Some(format!("{PREFIX}{}_{}", service.to_ascii_lowercase(), snake_case(resource)))
}

/// The type name of the plural data source: `awscc_ec2_instances`.
pub fn plural_data_source(type_name: &str) -> Option<String> {
    resource_type(type_name).map(|name| plural(&name))
}

/// The attribute of a top-level property (CC-03 to CC-05), given the snake case of the type's resource part.
pub fn top_level_attribute(property: &str, resource_part: &str) -> String {
    match snake_case(property).as_str() {
        "id" => format!("{resource_part}_id"),
        "provider" => "provider_name".to_owned(),
        other => other.to_owned(),
    }
}

/// The snake case of the third part of a type name: `flow_log` of `AWS::EC2::FlowLog`.
pub fn resource_part(type_name: &str) -> Option<String> {
    parts(type_name).map(|(_, resource)| snake_case(resource))
}

fn parts(type_name: &str) -> Option<(&str, &str)> {
    let mut parts = type_name.split("::");
    let (organisation, service, resource) = (parts.next()?, parts.next()?, parts.next()?);
    (organisation == "AWS" && parts.next().is_none()).then_some((service, resource))
}

/// The meaning of a resource type name of the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A resource and its singular data source.
    One(Name),
    /// The plural data source.
    Many(Name),
}

/// Finds the type behind one of our names. [`NameIndex`] is for many names.
pub fn find(catalogue: &Catalogue, name: &str) -> Option<Meaning> {
    let service = service_of(name)?;
    let is_of_service = |type_name: &&str| parts(type_name).is_some_and(|(own, _)| own.eq_ignore_ascii_case(service));
    let types: Vec<Name> = catalogue.type_names().into_iter().filter(is_of_service).map(Name::from).collect();
    meanings(&types).remove(name)
}

/// Returns the service in one of our names: `ec2` of `awscc_ec2_instance`.
fn service_of(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)?.split('_').next()
}

/// The types of a catalogue by our names. The names of a service are formed when one of them is first needed.
#[derive(Debug)]
pub struct NameIndex {
    services: HashMap<String, Service>,
}

#[derive(Debug, Default)]
struct Service {
    types: Vec<Name>,
    meanings: OnceLock<HashMap<String, Meaning>>,
}

impl NameIndex {
    /// Creates the index of a catalogue.
    pub fn new(catalogue: &Catalogue) -> Self {
        let mut services: HashMap<String, Service> = HashMap::new();
        for type_name in catalogue.type_names() {
            if let Some((service, _)) = parts(type_name) {
                services.entry(service.to_ascii_lowercase()).or_default().types.push(type_name.into());
            }
        }
        Self { services }
    }

    /// Finds the type behind one of our names.
    pub fn find(&self, name: &str) -> Option<&Meaning> {
        let service = self.services.get(service_of(name)?)?;
        service.meanings.get_or_init(|| meanings(&service.types)).get(name)
    }
}

fn meanings(types: &[Name]) -> HashMap<String, Meaning> {
    let mut meanings = HashMap::with_capacity(types.len() * 2);
    let named = || types.iter().filter_map(|type_name| Some((resource_type(type_name)?, type_name)));
    for (resource, type_name) in named() {
        meanings.entry(plural(&resource)).or_insert_with(|| Meaning::Many(type_name.clone()));
    }
    // A resource of this name precedes a plural.
    meanings.extend(named().map(|(resource, type_name)| (resource, Meaning::One(type_name.clone()))));
    meanings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cc_02_type_names_convert_both_ways() {
        let catalogue = Catalogue::shipped();
        assert_eq!(resource_type("AWS::EC2::Instance").as_deref(), Some("awscc_ec2_instance"));
        assert_eq!(resource_type("Alexa::ASK::Skill"), None);
        assert_eq!(find(catalogue, "awscc_ec2_instance"), Some(Meaning::One("AWS::EC2::Instance".into())));
        assert_eq!(find(catalogue, "awscc_ec2_instances"), Some(Meaning::Many("AWS::EC2::Instance".into())));
        assert_eq!(find(catalogue, "awscc_ec2_no_such"), None);
        assert_eq!(find(catalogue, "aws_instance"), None);
    }

    /// `GROMA_AWSCC_NAMES` may name a larger table of the same form: type, resource type, plural data source or `-`.
    #[test]
    fn cc_02_names_of_the_recorded_table() {
        let table = match std::env::var("GROMA_AWSCC_NAMES") {
            Ok(path) => std::fs::read_to_string(path).unwrap(),
            Err(_) => include_str!("../../tests/data/names.tsv").to_owned(),
        };
        let mut rows = 0;
        let mut wrong = Vec::new();
        for line in table.lines().filter(|line| !line.starts_with("cfn_type")) {
            let columns: Vec<&str> = line.split('\t').collect();
            let [cfn, resource, many] = columns[..] else { panic!("not a row: {line}") };
            rows += 1;
            if resource != "-" && resource_type(cfn).as_deref() != Some(resource) {
                wrong.push(format!("{cfn}: {:?} instead of {resource}", resource_type(cfn)));
            }
            if many != "-" && plural_data_source(cfn).as_deref() != Some(many) {
                wrong.push(format!("{cfn}: {:?} instead of {many}", plural_data_source(cfn)));
            }
        }
        assert!(rows >= 80, "only {rows} rows");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn cc_02_no_two_types_share_a_name() {
        let mut names: Vec<String> = Catalogue::shipped().type_names().into_iter().filter_map(resource_type).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn cc_05_and_cc_04_reserved_attribute_names() {
        assert_eq!(top_level_attribute("Id", "flow_log"), "flow_log_id");
        assert_eq!(top_level_attribute("Provider", "x"), "provider_name");
        assert_eq!(top_level_attribute("VpcId", "x"), "vpc_id");
    }
}
