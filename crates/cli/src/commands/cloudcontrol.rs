//! `cloudcontrol`: resource types of AWS Cloud Control, their schemas and permissions.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use groma_address::Mode;
use groma_cloudcontrol::AwsCloudControl;
use groma_cloudcontrol::policy::{Scope, policy, type_of};
use groma_cloudcontrol::schema::{Catalogue, published, save};
use groma_diagnostics::{Diagnostics, did_you_mean};

use super::adopt;
use super::cli_configuration::configuration_folder;
use super::configuration::{Purpose, load};
use super::context::Context;
use super::outcome::{Outcome, fail};
use crate::arguments::{
    CloudControl, CloudControlPermissions, CloudControlSchemas, CloudControlTypes, CloudControlUpdate, Flag,
};
use crate::settings::Settings;
use crate::views::json::pretty;

/// The file with the schemas that the user has loaded, in the configuration directory.
const SCHEMAS: &str = "cloudcontrol-schemas";

pub(super) fn run(context: &mut Context, arguments: &CloudControl) -> Outcome {
    let text = match arguments {
        CloudControl::Types(arguments) => types(context, arguments)?,
        CloudControl::Schema(arguments) => schema(context, &arguments.type_name)?,
        CloudControl::Permissions(arguments) => permissions(context, arguments)?,
        CloudControl::Adopt(arguments) => return adopt::run(context, arguments),
        CloudControl::Schemas(CloudControlSchemas::Update(arguments)) => update(context, arguments)?,
    };
    context.streams.print(&text);
    Ok(0)
}

/// Returns the file with the schemas that the user has loaded, if there is one.
pub(super) fn schema_file(settings: &Settings) -> Option<PathBuf> {
    configuration_folder(settings).map(|folder| folder.join(SCHEMAS)).filter(|file| file.is_file())
}

/// Returns the schemas that the built-in provider uses.
///
/// # Errors
/// The file of the user cannot be read.
pub(super) fn catalogue(file: Option<&PathBuf>) -> Result<Arc<Catalogue>, groma_diagnostics::Diagnostic> {
    let Some(file) = file else { return Ok(Arc::clone(Catalogue::shipped())) };
    Catalogue::with_file(file).map(Arc::new).map_err(|problem| {
        groma_diagnostics::Diagnostic::error(
            "Unusable resource type schemas",
            format!("{problem}. Load the schemas again with \"cloudcontrol schemas update\", or delete the file."),
        )
    })
}

pub(super) fn catalogue_of(context: &Context) -> Result<Arc<Catalogue>, Diagnostics> {
    Ok(catalogue(schema_file(&context.settings).as_ref())?)
}

fn types(context: &Context, arguments: &CloudControlTypes) -> Result<String, Diagnostics> {
    let catalogue = catalogue_of(context)?;
    let wanted = arguments.pattern.as_deref().unwrap_or_default().to_lowercase();
    let left_out: HashMap<String, String> =
        AwsCloudControl::new(Arc::clone(&catalogue)).unsupported_types().into_iter().collect();
    let lines = catalogue.type_names().into_iter().filter_map(|name| {
        let resource = groma_cloudcontrol::names::resource_type(name).unwrap_or_default();
        let matches = name.to_lowercase().contains(&wanted) || resource.contains(&wanted);
        matches.then(|| match left_out.get(name) {
            Some(reason) => format!("{name} is not offered: {reason}\n"),
            None => format!("{name} {resource}\n"),
        })
    });
    Ok(lines.collect())
}

fn schema(context: &Context, name: &str) -> Result<String, Diagnostics> {
    let catalogue = catalogue_of(context)?;
    let type_name = known(&catalogue, name)?;
    let unusable = |problem: groma_cloudcontrol::schema::SchemaError| fail("Unusable schema", format!("{problem}."));
    let document = catalogue.described().document(&type_name).map_err(unusable)?.unwrap_or_default();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap_or_default();
    let parsed = catalogue.get(&type_name).map_err(unusable)?;
    let unsupported: Vec<String> =
        parsed.iter().flat_map(|schema| &schema.unsupported_keywords).map(ToString::to_string).collect();
    let resource = groma_cloudcontrol::names::resource_type(&type_name);
    let described = serde_json::json!({"resource": resource, "unsupported_keywords": unsupported, "schema": document});
    Ok(format!("{}\n", pretty(&described)))
}

fn permissions(context: &Context, arguments: &CloudControlPermissions) -> Result<String, Diagnostics> {
    let catalogue = catalogue_of(context)?;
    let mut types = BTreeSet::new();
    for name in &arguments.types {
        types.insert(known(&catalogue, name)?);
    }
    if arguments.types.is_empty() {
        let (configuration, _) = load(context, Purpose::Blocks)?;
        for module in configuration.modules() {
            let used = module.resources.values().map(|resource| &resource.address);
            let used = used.filter(|address| matches!(address.mode, Mode::Managed | Mode::Data));
            types.extend(used.filter_map(|address| type_of(&catalogue, &address.type_name)));
        }
    }
    let scope = if arguments.read_only.is_some_and(Flag::is_on) { Scope::Read } else { Scope::Manage };
    let document = policy(&catalogue, types.iter().map(|name| &**name), scope)
        .map_err(|problem| fail("Unusable schema", format!("{problem}.")))?;
    Ok(format!("{}\n", pretty(&document)))
}

fn update(context: &Context, arguments: &CloudControlUpdate) -> Result<String, Diagnostics> {
    let Some(folder) = configuration_folder(&context.settings) else {
        return Err(fail("No configuration directory", "The home directory is unknown. Set HOME."));
    };
    let unusable = |problem: groma_cloudcontrol::schema::PublishedError| {
        fail("Unusable resource type schemas", format!("{problem}. Give the archive that AWS publishes for a region."))
    };
    let documents = published(&arguments.from).map_err(unusable)?;
    let file = folder.join(SCHEMAS);
    save(&documents, &file).map_err(unusable)?;
    Ok(format!("Loaded the schemas of {} resource types into {}.\n", documents.len(), file.display()))
}

pub(super) fn known(catalogue: &Catalogue, name: &str) -> Result<groma_cloudcontrol::Name, Diagnostics> {
    type_of(catalogue, name).ok_or_else(|| {
        let detail = format!(
            "{name:?} is not a resource type of AWS Cloud Control.{} \"cloudcontrol types\" lists all types.",
            did_you_mean(name, catalogue.type_names())
        );
        fail("Unknown resource type", detail)
    })
}
