//! Schemas as AWS publishes them: a zip of JSON files for each region, or a folder of such files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value as Json;

use crate::Name;

/// The size limit of a schema in bytes. The largest published schema has about one megabyte.
const LARGEST: u64 = 32 * 1024 * 1024;

/// The error of reading published schemas.
#[derive(Debug, thiserror::Error)]
pub enum PublishedError {
    /// A file cannot be read.
    #[error("{name} cannot be read: {reason}")]
    File {
        /// The path or the name inside of the archive.
        name: String,
        /// The reason of the system or the archive reader.
        reason: String,
    },
    /// A file is larger than any schema.
    #[error("{name} is larger than {} MiB, the limit for a resource type schema", LARGEST / 1024 / 1024)]
    TooLarge {
        /// The path or the name inside of the archive.
        name: String,
    },
    /// There is no schema.
    #[error("{0} has no resource type schema; expected JSON files with a typeName")]
    Empty(String),
}

/// Reads the schema documents in a zip archive, a folder, or a JSON file, by type name. Types without handlers are left
/// out: Cloud Control does not manage them.
///
/// # Errors
/// The archive or a file in it cannot be read, or there is no schema.
pub fn published(path: &Path) -> Result<BTreeMap<Name, String>, PublishedError> {
    let shown = path.display().to_string();
    let failed = |reason: String| PublishedError::File { name: shown.clone(), reason };
    let mut found = BTreeMap::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).map_err(|error| failed(error.kind().to_string()))? {
            let file = entry.map_err(|error| failed(error.kind().to_string()))?.path();
            if file.extension().is_some_and(|extension| extension == "json") {
                let opened = File::open(&file).map_err(|error| failed(error.kind().to_string()))?;
                add(&file.display().to_string(), opened, &mut found)?;
            }
        }
    } else if path.extension().is_some_and(|extension| extension == "json") {
        add(&shown, File::open(path).map_err(|error| failed(error.kind().to_string()))?, &mut found)?;
    } else {
        let file = File::open(path).map_err(|error| failed(error.kind().to_string()))?;
        let mut archive = zip::ZipArchive::new(file).map_err(|error| failed(error.to_string()))?;
        for index in 0..archive.len() {
            let member = archive.by_index(index).map_err(|error| failed(error.to_string()))?;
            let name = member.name().map_err(|error| failed(error.to_string()))?.into_owned();
            if name.ends_with(".json") {
                add(&name, member, &mut found)?;
            }
        }
    }
    if found.is_empty() { Err(PublishedError::Empty(shown)) } else { Ok(found) }
}

fn add(name: &str, source: impl Read, found: &mut BTreeMap<Name, String>) -> Result<(), PublishedError> {
    let failed = |reason: String| PublishedError::File { name: name.to_owned(), reason };
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is too large from one that ends at the limit.
    source.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(error.kind().to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(PublishedError::TooLarge { name: name.to_owned() });
    }
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
    let document: Json = serde_json::from_str(&text)
        .map_err(|error| failed(format!("it is not valid JSON (line {}, column {})", error.line(), error.column())))?;
    let has_handlers = document.get("handlers").and_then(|handlers| handlers.get("create")).is_some();
    if let Some(type_name) = document.get("typeName").and_then(Json::as_str).filter(|_| has_handlers) {
        // Minified, because a saved file has one document on each line.
        found.insert(type_name.into(), document.to_string());
    }
    Ok(())
}

/// Writes schema documents into one file, from which [`super::Catalogue::with_file`] reads them.
///
/// # Errors
/// The file cannot be written.
pub fn save(documents: &BTreeMap<Name, String>, path: &Path) -> Result<(), PublishedError> {
    let failed = |error: std::io::Error| PublishedError::File {
        name: path.display().to_string(),
        reason: error.kind().to_string(),
    };
    let lines: Vec<&str> = documents.values().map(String::as_str).collect();
    let packed = zstd::encode_all(lines.join("\n").as_bytes(), 12).map_err(failed)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    // A run that reads the file at the same time sees the old one or the new one.
    let temporary = path.with_extension("new");
    std::fs::write(&temporary, packed).and_then(|()| std::fs::rename(&temporary, path)).map_err(failed)
}

/// Reads the documents of a saved file.
///
/// # Errors
/// The file cannot be read.
pub(super) fn load(path: &Path) -> Result<BTreeMap<Name, String>, PublishedError> {
    let failed = |reason: String| PublishedError::File { name: path.display().to_string(), reason };
    let file = File::open(path).map_err(|error| failed(error.kind().to_string()))?;
    let bytes = zstd::decode_all(file).map_err(|error| failed(error.kind().to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
    let mut found = BTreeMap::new();
    for line in text.lines() {
        found.insert(type_name(line).ok_or_else(|| failed("a line is no schema".to_owned()))?, line.to_owned());
    }
    Ok(found)
}

fn type_name(document: &str) -> Option<Name> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        type_name: String,
    }
    serde_json::from_str::<Named>(document).ok().map(|named| named.type_name.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Catalogue;
    use serde_json::json;

    #[test]
    fn published_schemas_precede_the_shipped_ones() {
        let folder = tempfile::tempdir().unwrap();
        let queue = json!({"typeName": "AWS::SQS::Queue", "properties": {"QueueUrl": {"type": "string"}, "New": {"type": "string",
            "description": "New since."}}, "primaryIdentifier": ["/properties/QueueUrl"], "handlers": {"create": {}}});
        let retired = json!({"typeName": "AWS::Old::Thing", "properties": {"Id": {"type": "string"}},
            "primaryIdentifier": ["/properties/Id"], "handlers": {"create": {}}});
        let other = json!({"typeName": "AWS::Not::Managed", "properties": {}});
        for (name, schema) in [("a.json", &queue), ("b.json", &retired), ("c.json", &other)] {
            std::fs::write(folder.path().join(name), schema.to_string()).unwrap();
        }
        let file = folder.path().join("saved").join("schemas");
        save(&published(folder.path()).unwrap(), &file).unwrap();
        let catalogue = Catalogue::with_file(&file).unwrap();
        assert!(catalogue.get("AWS::SQS::Queue").unwrap().unwrap().root().property("New").is_some());
        assert!(catalogue.contains("AWS::Old::Thing") && catalogue.contains("AWS::EC2::VPC"));
        assert!(!catalogue.contains("AWS::Not::Managed"));
        let names = catalogue.type_names();
        assert_eq!(names.len(), Catalogue::shipped().type_names().len() + 1);
        let mut visited = 0;
        catalogue.documents(|_, _| visited += 1).unwrap();
        assert_eq!(visited, names.len());
    }

    #[test]
    fn files_that_are_no_schemas_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(published(folder.path()), Err(PublishedError::Empty(_))));
        std::fs::write(folder.path().join("a.json"), "{").unwrap();
        assert!(matches!(published(folder.path()), Err(PublishedError::File { .. })));
        let large = File::create(folder.path().join("large.json")).unwrap();
        large.set_len(LARGEST + 1).unwrap();
        let refused = published(&folder.path().join("large.json")).unwrap_err();
        assert!(matches!(refused, PublishedError::TooLarge { .. }));
        assert!(
            refused.to_string().ends_with("large.json is larger than 32 MiB, the limit for a resource type schema")
        );
        std::fs::write(folder.path().join("a.zip"), "x").unwrap();
        assert!(matches!(published(&folder.path().join("a.zip")), Err(PublishedError::File { .. })));
    }
}
