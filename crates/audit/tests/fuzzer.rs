//! The audit of a provider that breaks one rule at a time, and of our providers, which break none (FW-23).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use groma_audit::{Extent, Kind, Options, Report, Weight, audit, parse_user_configs};
use groma_builtin::Terraform;
use groma_cloudcontrol::AwsCloudControl;
use groma_diagnostics::Sources;
use groma_provider::{
    Answer, ApplyRequest, ApplyResponse, Attribute, Block, ImportRequest, ImportResponse, ImportedResource,
    NestedBlock, Nesting, ObjectNesting, ObjectSchema, PlanRequest, PlanResponse, Provider, ProviderDiagnostic,
    ProviderDiagnostics, ProviderSchema, ReadRequest, ReadResponse, Schema, SchemaLookup, TypeNames, UpgradeRequest,
    UpgradeResponse, Use, ValidateRequest,
};
use groma_value::{Path, PathStep, Type, Value};

/// The rule that a [`Breaking`] violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    RoundsSize,
    InventsNote,
    DropsBlocks,
    ShoutsName,
    LeavesIdUnknown,
    KeepsDeleted,
    RefusesUnknown,
    ForgetsPlan,
    WrongType,
    ReadsAnother,
    NeverContent,
    LosesStored,
    ImportsAnother,
    Hangs,
    FailsUpdate,
    ShoutsPattern,
    LosesLimit,
}

/// A provider with one fault, and the number of its objects.
struct Breaking(Fault, Arc<AtomicI64>);

impl Breaking {
    fn new(fault: Fault) -> Self {
        Self(fault, Arc::default())
    }
}

fn block() -> Arc<Block> {
    let none = Vec::<(&str, NestedBlock)>::new;
    let matching = Block::new([("pattern", Attribute::optional(Type::String))], none());
    let rule = Block::new(
        [("port", Attribute::required(Type::Number)), ("why", Attribute::optional(Type::String))],
        [("match", NestedBlock::new(Nesting::List, matching))],
    );
    let limit = [("most", Attribute::optional(Type::Number)), ("unit", Attribute::optional(Type::String))];
    let limits = Attribute::nested(ObjectSchema::new(ObjectNesting::Map, limit), Use::Optional);
    Arc::new(Block::new(
        [
            ("id", Attribute::computed(Type::String)),
            ("name", Attribute::required(Type::String)),
            ("size", Attribute::optional(Type::Number)),
            ("note", Attribute::optional(Type::String)),
            ("tags", Attribute::optional(Type::map(Type::String))),
            ("limits", limits),
        ],
        [("rule", NestedBlock::new(Nesting::List, rule))],
    ))
}

fn with(object: &Value, name: &str, value: Value) -> Value {
    let block = block();
    let object = object.as_object().unwrap();
    let parts = object.iter().map(|(own, old)| if **own == *name { value.clone() } else { old.clone() });
    block.object(parts.collect())
}

/// Sets the argument `name` to `value` at every depth of `object`.
fn everywhere(object: &Value, name: &str, value: Value) -> Value {
    let is_it = |path: &Path| matches!(path.steps().last(), Some(PathStep::Attribute(own)) if **own == *name);
    object.transform(|path, old| if is_it(path) && !old.is_null() { value.clone() } else { old })
}

impl Provider for Breaking {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        Ok(ProviderSchema::default())
    }

    fn type_names(&self) -> TypeNames {
        TypeNames { resources: vec!["test_thing".into()], ..TypeNames::default() }
    }

    fn resource_schema(&self, _: &str) -> SchemaLookup {
        Ok(Some(Arc::new(Schema { version: 1, block: block(), identity: None })))
    }

    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let size = request.config.attribute("size").unwrap();
        if self.0 == Fault::Hangs && !request.config.attribute("note").unwrap().is_null() {
            return Answer::pending(std::future::pending());
        }
        let refused = self.0 == Fault::RefusesUnknown && !size.is_known();
        let problem = refused.then(|| ProviderDiagnostic::error("A size is needed", "It must be a number."));
        Answer::ready(problem.into_iter().collect())
    }

    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let mut plan = request.proposed_new_state.clone();
        if request.prior_state.is_null() {
            plan = with(&plan, "id", Value::unknown(Type::String));
        }
        let get = |name: &str| request.config.attribute(name).unwrap();
        let has_blocks = get("rule").held_length().is_some_and(|count| count > 0);
        plan = match self.0 {
            Fault::RoundsSize if get("size").as_number().is_some_and(|size| size.to_f64() > 2.0) => {
                with(&plan, "size", Value::number(10))
            }
            Fault::InventsNote if get("note").is_null() => with(&plan, "note", Value::string("made up")),
            Fault::DropsBlocks if has_blocks => {
                let rule = block().item("rule").unwrap().empty_value().clone();
                with(&plan, "rule", rule)
            }
            Fault::ShoutsPattern => everywhere(&plan, "pattern", Value::string("LOUD")),
            Fault::ForgetsPlan if !get("name").is_known() => with(&plan, "id", Value::string("early")),
            Fault::NeverContent => with(&plan, "id", Value::unknown(Type::String)),
            _ => plan,
        };
        let shape = if self.0 == Fault::WrongType { Value::object([("id", Value::TRUE)]) } else { plan };
        Answer::ready(PlanResponse::new(shape, request.prior_private))
    }

    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        if request.planned_state.is_null() {
            self.1.fetch_sub(1, Ordering::Relaxed);
            let left = if self.0 == Fault::KeepsDeleted { request.prior_state } else { request.planned_state };
            return Answer::ready(ApplyResponse::new(left, request.planned_private));
        }
        let plan = request.planned_state;
        if !request.prior_state.is_null() && self.0 == Fault::FailsUpdate {
            let response = ApplyResponse::new(plan, request.planned_private);
            let diagnostics = ProviderDiagnostic::error("Half done", "The service went away.").into();
            return Answer::ready(ApplyResponse { diagnostics, ..response });
        }
        self.1.fetch_add(i64::from(request.prior_state.is_null()), Ordering::Relaxed);
        let name = plan.attribute("name").unwrap();
        let state = match plan.attribute("id") {
            Some(id) if !id.is_known() && self.0 != Fault::LeavesIdUnknown => {
                with(&plan, "id", Value::string(format!("id-{}", name.as_str().unwrap_or_default())))
            }
            _ => plan,
        };
        let loud = name.as_str().unwrap_or_default().to_uppercase();
        let state = if self.0 == Fault::ShoutsName { with(&state, "name", Value::string(loud)) } else { state };
        let changes = !request.prior_state.is_null() && self.0 == Fault::LosesLimit;
        let state = if changes { everywhere(&state, "most", Value::null(Type::Number)) } else { state };
        Answer::ready(ApplyResponse::new(state, request.planned_private))
    }

    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let state = request.current_state;
        let tagged = !state.attribute("tags").unwrap().is_null();
        let state = if self.0 == Fault::ReadsAnother && tagged {
            with(&state, "tags", Value::null(Type::map(Type::String)))
        } else {
            state
        };
        Answer::ready(ReadResponse {
            new_state: state,
            private: request.private,
            deferred: None,
            new_identity: None,
            diagnostics: ProviderDiagnostics::new(),
        })
    }

    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        let stored = request.raw_state.decode(block().implied_type()).unwrap();
        let without_value = with(&stored, "note", Value::null(Type::String));
        let upgraded_state = if self.0 == Fault::LosesStored { without_value } else { stored };
        Answer::ready(UpgradeResponse { upgraded_state, diagnostics: ProviderDiagnostics::new() })
    }

    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        let groma_provider::ImportTarget::Id(id) = request.target else {
            return Answer::ready(ImportResponse::default());
        };
        let name = if self.0 == Fault::ImportsAnother { "somebody else" } else { id.trim_start_matches("id-") };
        let state = with(block().empty_value(), "name", Value::string(name));
        let imported = ImportedResource {
            type_name: request.type_name,
            state: with(&state, "id", Value::string(&id)),
            private: Arc::default(),
            identity: None,
        };
        Answer::ready(ImportResponse { imported: vec![imported], ..ImportResponse::default() })
    }
}

fn audited(fault: Fault) -> Report {
    let options = Options { call_timeout: Duration::from_millis(300), ..Options::default() };
    audit(&move || Ok(Arc::new(Breaking::new(fault))), &options, &mut |_| ()).unwrap()
}

#[test]
fn fw_23_each_violation_is_reported_with_a_minimal_configuration() {
    // Fault, expected rule, path, and arguments of the minimal configuration.
    let cases: &[(Fault, &str, &str, &[&str])] = &[
        (Fault::RoundsSize, "LC-07", ".size", &["name", "size"]),
        (Fault::InventsNote, "LC-08", ".note", &["name"]),
        (Fault::DropsBlocks, "LC-09", ".rule", &["name", "rule"]),
        (Fault::ShoutsName, "LC-12", ".name", &["name"]),
        (Fault::LeavesIdUnknown, "LC-13", ".id", &["name"]),
        (Fault::KeepsDeleted, "LC-15", "", &["name"]),
        (Fault::RefusesUnknown, "LC-03", ".size", &["name", "size"]),
        (Fault::ForgetsPlan, "LC-10", ".id", &["name"]),
        (Fault::WrongType, "LC-01", ".id", &["name"]),
        (Fault::ReadsAnother, "LC-22", ".tags", &["name", "tags"]),
        (Fault::NeverContent, "FW-03", ".id", &["name"]),
        (Fault::LosesStored, "LC-20", ".note", &["name", "note"]),
        (Fault::ImportsAnother, "LC-24", "", &["name"]),
        (Fault::Hangs, "FW-21", "", &["name", "note"]),
    ];
    for (fault, rule, path, arguments) in cases {
        let report = audited(*fault);
        let found = report.findings().find(|finding| finding.rule.id() == *rule && finding.path.starts_with(path));
        let finding = found.unwrap_or_else(|| panic!("{fault:?}: {report}"));
        let lines = finding.configuration.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let mut named: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
        named.retain(|word| *word != "}");
        assert_eq!(named, *arguments, "{fault:?}: {report}");
    }
}

/// Returns the configurations of a finding.
fn shown(report: &Report, rule: &str, path: &str) -> (String, Option<String>) {
    let found = report.findings().find(|finding| finding.rule.id() == rule && finding.path.contains(path));
    let finding = found.unwrap_or_else(|| panic!("{report}"));
    (finding.configuration.clone(), finding.changed_to.clone())
}

#[test]
fn fw_23_violations_in_deeply_nested_blocks_are_found_and_isolated() {
    let (configuration, _) = shown(&audited(Fault::ShoutsPattern), "LC-07", ".rule");
    let expected = "resource \"test_thing\" \"example\" {\n  name = \"a\"\n  rule {\n    match {\n      pattern = \"a\"\n    }\n    port = 1\n  }\n}\n";
    assert_eq!(configuration, expected);
    let (configuration, changed) = shown(&audited(Fault::LosesLimit), "LC-12", ".limits");
    let changed = changed.unwrap();
    assert!(changed.contains("most") && !changed.contains("unit") && !changed.contains("key-1"), "{changed}");
    assert!(!configuration.contains("rule"), "{configuration}");
}

#[test]
fn fw_23_conforming_provider_has_no_findings() {
    let report = audited(Fault::None);
    assert_eq!(report.findings().count(), 0, "{report}");
    let only = &report.types[0];
    assert!(only.lived == 24 && only.refused == 0 && only.flawed > 5, "{report}");
}

#[test]
fn fw_23_each_object_is_deleted_once_even_after_failures() {
    for fault in [Fault::None, Fault::ShoutsName, Fault::LeavesIdUnknown, Fault::FailsUpdate] {
        let objects = Arc::new(AtomicI64::new(0));
        let counted = Arc::clone(&objects);
        let start = move || Ok(Arc::new(Breaking(fault, Arc::clone(&counted))) as Arc<dyn Provider>);
        audit(&start, &Options::default(), &mut |_| ()).unwrap();
        assert_eq!(objects.load(Ordering::Relaxed), 0, "{fault:?}");
    }
}

#[test]
fn fw_23_equal_seeds_give_equal_reports() {
    let text = |report: Report| report.to_string();
    assert_eq!(text(audited(Fault::RoundsSize)), text(audited(Fault::RoundsSize)));
}

#[test]
fn fw_23_user_configurations_replace_generated_ones() {
    let sources = Arc::new(Sources::new());
    let text =
        "resource \"test_thing\" \"a\" {\n  count = 1\n  name = \"given\"\n  size = 2 + 3\n  rule { port = 1 }\n}\n";
    let given = parse_user_configs(&Breaking::new(Fault::None), "given.tf", text, &sources).unwrap();
    let options = Options { user_configs: given.resources, extent: Extent::Plan, ..Options::default() };
    let report = audit(&|| Ok(Arc::new(Breaking::new(Fault::RoundsSize))), &options, &mut |_| ()).unwrap();
    assert_eq!(report.types[0].lived, 1);
    assert!(report.findings().any(|finding| finding.rule.id() == "LC-07"), "{report}");
    let wrong =
        parse_user_configs(&Breaking::new(Fault::None), "given.tf", "resource \"test_thing\" \"a\" {}", &sources);
    assert!(wrong.unwrap_err().iter().any(|problem| problem.summary.contains("Missing required argument")));
}

#[test]
fn fw_23_builtin_provider_conforms() {
    let options = Options { configurations: 60, ..Options::default() };
    let report = audit(&|| Ok(Arc::new(Terraform::default())), &options, &mut |_| ()).unwrap();
    assert_eq!(report.findings().count(), 0, "{report}");
    assert!(report.types[0].lived > 50, "{report}");
}

/// Types that are independent of others and together cover most schema features.
const TYPES: &[&str] = &[
    "awscc_s3_bucket",
    "awscc_logs_log_group",
    "awscc_sqs_queue",
    "awscc_sns_topic",
    "awscc_dynamodb_table",
    "awscc_iam_role",
    "awscc_kms_key",
    "awscc_ecr_repository",
    "awscc_ssm_parameter",
    "awscc_ec2_vpc",
];

#[test]
fn fw_23_cloud_control_provider_conforms() {
    use groma_cloudcontrol::emulator::{Embedded, Settings, Store};
    use groma_cloudcontrol::schema::Catalogue;
    let store = Store::in_memory(Arc::clone(Catalogue::shipped()), Settings::default()).unwrap();
    let api = Arc::new(Embedded::new(Arc::new(store), "us-east-1"));
    let start = move || {
        let provider = AwsCloudControl::default().with_api(api.clone()).with_first_delay(Duration::ZERO);
        Ok(Arc::new(provider.served()) as Arc<dyn Provider>)
    };
    let types = TYPES.iter().map(|name| (*name).to_owned()).collect();
    let options = Options { types, configurations: 12, ..Options::default() };
    let report = audit(&start, &options, &mut |_| ()).unwrap();
    println!("{report}");
    assert_eq!(report.findings().filter(|finding| finding.weight == Weight::Error).count(), 0, "{report}");
    assert_eq!(report.of_kind(Kind::Resource).count(), TYPES.len());
}
