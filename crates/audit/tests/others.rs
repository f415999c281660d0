//! The audit of unmanaged types: a provider that breaks one rule at a time, each of which is reported (FW-23).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use groma_audit::{Extent, Kind, Options, Report, audit, parse_user_configs};
use groma_diagnostics::Sources;
use groma_provider::{
    Answer, Attribute, Block, CallFunctionRequest, CloseEphemeralRequest, Description, EphemeralResponse,
    FunctionError, FunctionSignature, IdentityAttribute, IdentityImport, IdentitySchema, InvokeActionRequest,
    ListRequest, Listed, NestedBlock, OpenEphemeralRequest, OpenEphemeralResponse, Parameter, PlanActionRequest,
    PlanActionResponse, Provider, ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, ReadDataRequest,
    ReadDataResponse, RenewEphemeralRequest, Schema, SchemaLookup, TypeNames, ValidateRequest,
};
use groma_value::{Type, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    DataNull,
    DataUnknown,
    DataWrongType,
    DataChangesArgument,
    DataNeverTheSame,
    DataRefusesUnknown,
    OpensUnknown,
    OpensAnother,
    CannotRenew,
    CannotClose,
    FindsNameless,
    FindsWrongType,
    ActionRefusesUnknown,
    ActionHangs,
    ResultOfWrongType,
    ResultUnknown,
    NeverTheSame,
    RefusesUnknownArgument,
}

/// A provider with one fault, a call counter, and the number of open resources.
#[derive(Clone)]
struct Breaking(Fault, Arc<AtomicI64>, Arc<AtomicI64>);

impl Breaking {
    fn new(fault: Fault) -> Self {
        Self(fault, Arc::default(), Arc::default())
    }

    fn next(&self) -> i64 {
        self.1.fetch_add(1, Ordering::Relaxed)
    }
}

fn block() -> Arc<Block> {
    Arc::new(Block::new(
        [
            ("name", Attribute::required(Type::String)),
            ("note", Attribute::optional(Type::String)),
            ("id", Attribute::computed(Type::String)),
        ],
        Vec::<(&str, NestedBlock)>::new(),
    ))
}

fn with(object: &Value, name: &str, value: Value) -> Value {
    let parts = object.as_object().unwrap();
    let parts = parts.iter().map(|(own, old)| if **own == *name { value.clone() } else { old.clone() });
    block().object(parts.collect())
}

fn error(summary: &str) -> ProviderDiagnostics {
    ProviderDiagnostic::error(summary, "It is so.").into()
}

fn unless(wrong: bool, summary: &str) -> Answer<'static, ProviderDiagnostics> {
    Answer::ready(if wrong { error(summary) } else { ProviderDiagnostics::new() })
}

impl Provider for Breaking {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        Ok(ProviderSchema::default())
    }

    fn type_names(&self) -> TypeNames {
        TypeNames {
            data_sources: vec!["test_data".into()],
            ephemeral_resources: vec!["test_lease".into()],
            lists: vec!["test_thing".into()],
            actions: vec!["test_act".into()],
            functions: vec!["twice".into()],
            ..TypeNames::default()
        }
    }

    fn resource_schema(&self, _: &str) -> SchemaLookup {
        let id = IdentityAttribute { ty: Type::String, import: IdentityImport::Required, description: String::new() };
        let attributes = [("id".into(), id)].into_iter().collect();
        let identity = Some(Arc::new(IdentitySchema { version: 0, attributes }));
        Ok(Some(Arc::new(Schema { version: 0, block: block(), identity })))
    }

    fn data_schema(&self, _: &str) -> SchemaLookup {
        Ok(Some(Arc::new(Schema { version: 0, block: block(), identity: None })))
    }

    fn ephemeral_schema(&self, name: &str) -> SchemaLookup {
        self.data_schema(name)
    }

    fn list_schema(&self, name: &str) -> SchemaLookup {
        self.data_schema(name)
    }

    fn action_schema(&self, name: &str) -> SchemaLookup {
        self.data_schema(name)
    }

    fn validate_data(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let known = request.config.is_wholly_known();
        unless(!known && self.0 == Fault::DataRefusesUnknown, "A name is needed")
    }

    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        let found = with(&request.config, "id", Value::string("found"));
        let state = match self.0 {
            Fault::DataNull => block().null_value(),
            Fault::DataUnknown => with(&found, "id", Value::unknown(Type::String)),
            Fault::DataWrongType => Value::object([("id", Value::TRUE)]),
            Fault::DataChangesArgument => with(&found, "name", Value::string("other")),
            Fault::DataNeverTheSame => with(&found, "id", Value::string(self.next().to_string())),
            _ => found,
        };
        Answer::ready(ReadDataResponse { state, deferred: None, diagnostics: ProviderDiagnostics::new() })
    }

    fn open_ephemeral(&self, request: OpenEphemeralRequest) -> Answer<'_, OpenEphemeralResponse> {
        self.2.fetch_add(1, Ordering::Relaxed);
        let opened = with(&request.config, "id", Value::string("open"));
        let result = match self.0 {
            Fault::OpensUnknown => with(&opened, "id", Value::unknown(Type::String)),
            Fault::OpensAnother => with(&opened, "name", Value::string("other")),
            _ => opened,
        };
        Answer::ready(OpenEphemeralResponse {
            result,
            renew_at: Some(SystemTime::now()),
            private: Arc::from(*b"lease"),
            deferred: None,
            diagnostics: ProviderDiagnostics::new(),
        })
    }

    fn renew_ephemeral(&self, request: RenewEphemeralRequest) -> Answer<'_, EphemeralResponse> {
        assert_eq!(&*request.private, b"lease");
        let diagnostics = if self.0 == Fault::CannotRenew { error("No lease") } else { ProviderDiagnostics::new() };
        Answer::ready(EphemeralResponse { renew_at: None, private: request.private, diagnostics })
    }

    fn close_ephemeral(&self, request: CloseEphemeralRequest) -> Answer<'_, ProviderDiagnostics> {
        assert_eq!(&*request.private, b"lease");
        self.2.fetch_sub(1, Ordering::Relaxed);
        unless(self.0 == Fault::CannotClose, "No lease")
    }

    fn list_resource(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        let identity = if self.0 == Fault::FindsNameless {
            None
        } else {
            Some(Value::object([(
                "id",
                if self.0 == Fault::FindsWrongType { Value::TRUE } else { Value::string("a") },
            )]))
        };
        let object = with(&request.config, "id", Value::string("a"));
        (request.found)(Listed {
            identity,
            display_name: "a".to_owned(),
            object: Some(object),
            diagnostics: ProviderDiagnostics::new(),
        });
        Answer::ready(ProviderDiagnostics::new())
    }

    fn plan_action(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let refused = self.0 == Fault::ActionRefusesUnknown && !request.config.is_wholly_known();
        let diagnostics = if refused { error("Not now") } else { ProviderDiagnostics::new() };
        Answer::ready(PlanActionResponse { diagnostics, ..PlanActionResponse::default() })
    }

    fn invoke_action(&self, _: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        if self.0 == Fault::ActionHangs {
            return Answer::pending(std::future::pending());
        }
        Answer::ready(ProviderDiagnostics::new())
    }

    fn function(&self, _: &str) -> Option<Arc<FunctionSignature>> {
        let parameter = Parameter {
            name: "text".into(),
            ty: Type::String,
            allow_null: false,
            allow_unknown: true,
            description: Description::default(),
        };
        Some(Arc::new(FunctionSignature {
            parameters: vec![parameter.clone()],
            variadic: Some(Parameter { allow_unknown: false, ..parameter }),
            return_type: Type::String,
            summary: String::new(),
            description: Description::default(),
            deprecation: String::new(),
        }))
    }

    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        let first = request.arguments.first().cloned().unwrap();
        Answer::ready(match (first.as_str(), self.0) {
            (None, Fault::RefusesUnknownArgument) => Err(FunctionError::new("a text is needed".to_owned()).at(0)),
            (None, _) => Ok(Value::unknown(Type::String)),
            (_, Fault::ResultOfWrongType) => Ok(Value::TRUE),
            (_, Fault::ResultUnknown) => Ok(Value::unknown(Type::String)),
            (_, Fault::NeverTheSame) => Ok(Value::string(self.next().to_string())),
            (Some(text), _) => Ok(Value::string(format!("{text}{text}"))),
        })
    }
}

fn audited(fault: Fault) -> Report {
    let provider = Breaking::new(fault);
    let open = Arc::clone(&provider.2);
    let options = Options { call_timeout: Duration::from_millis(300), configurations: 6, ..Options::default() };
    let start = move || Ok(Arc::new(provider.clone()) as Arc<dyn Provider>);
    let report = audit(&start, &options, &mut |_| ()).unwrap();
    assert_eq!(open.load(Ordering::Relaxed), 0, "{fault:?}: what is opened is closed");
    report
}

/// Returns the only finding about the category, as rule, path and configuration.
fn only_finding(fault: Fault, kind: Kind) -> (String, String, String) {
    let report = audited(fault);
    for other in Kind::ALL.into_iter().filter(|other| *other != kind) {
        assert_eq!(report.of_kind(other).flat_map(|one| &one.findings).count(), 0, "{fault:?}: {report}");
    }
    let found: Vec<_> = report.of_kind(kind).flat_map(|one| &one.findings).collect();
    let [finding] = &*found else { panic!("{fault:?}: {report}") };
    (finding.rule.id().to_owned(), finding.path.clone(), finding.configuration.clone())
}

/// Renders the minimal block, which has only the required argument.
fn smallest(kind: &str, name: &str) -> String {
    format!("{kind} \"{name}\" \"example\" {{\n  name = \"a\"\n}}\n")
}

fn is(fault: Fault, kind: Kind, rule: &str, path: &str, text: &str) {
    assert_eq!(only_finding(fault, kind), (rule.to_owned(), path.to_owned(), text.to_owned()), "{fault:?}");
}

#[test]
fn fw_23_conforming_provider_has_no_findings_in_any_category() {
    let report = audited(Fault::None);
    assert_eq!(report.findings().count(), 0, "{report}");
    assert!(report.types.iter().all(|one| one.lived == 6), "{report}");
    let text = report.to_string();
    assert!(
        text.contains("1 data source, 1 ephemeral resource type, 1 list resource type, 1 action, 1 function"),
        "{text}"
    );
}

#[test]
fn lc_15_data_source_returning_null_is_reported() {
    is(Fault::DataNull, Kind::DataSource, "LC-15", "", &smallest("data", "test_data"));
}

#[test]
fn lc_21_data_source_returning_unknown_values_is_reported() {
    is(Fault::DataUnknown, Kind::DataSource, "LC-21", ".id", &smallest("data", "test_data"));
}

#[test]
fn lc_01_data_source_of_wrong_type_is_reported() {
    let report = audited(Fault::DataWrongType);
    assert!(report.findings().all(|finding| finding.rule.id() == "LC-01"), "{report}");
    let finding = report.findings().find(|finding| finding.path == ".id").unwrap();
    assert_eq!(finding.configuration, smallest("data", "test_data"));
}

#[test]
fn lc_07_data_source_changing_its_arguments_is_reported() {
    is(Fault::DataChangesArgument, Kind::DataSource, "LC-07", ".name", &smallest("data", "test_data"));
}

#[test]
fn lc_22_unstable_data_source_is_reported() {
    is(Fault::DataNeverTheSame, Kind::DataSource, "LC-22", ".id", &smallest("data", "test_data"));
}

#[test]
fn lc_03_data_source_rejecting_unknown_arguments_is_reported() {
    let report = audited(Fault::DataRefusesUnknown);
    assert!(report.findings().all(|finding| finding.rule.id() == "LC-03"), "{report}");
    let finding = report.findings().find(|finding| finding.path == ".name").unwrap();
    assert_eq!(finding.configuration, smallest("data", "test_data"));
}

#[test]
fn lc_21_ephemeral_resource_returning_unknown_values_is_reported() {
    is(Fault::OpensUnknown, Kind::EphemeralResource, "LC-21", ".id", &smallest("ephemeral", "test_lease"));
}

#[test]
fn lc_07_ephemeral_resource_changing_its_arguments_is_reported() {
    is(Fault::OpensAnother, Kind::EphemeralResource, "LC-07", ".name", &smallest("ephemeral", "test_lease"));
}

#[test]
fn fw_19_failed_renewals_and_closings_are_reported() {
    is(Fault::CannotRenew, Kind::EphemeralResource, "FW-19", "", &smallest("ephemeral", "test_lease"));
    is(Fault::CannotClose, Kind::EphemeralResource, "FW-19", "", &smallest("ephemeral", "test_lease"));
}

#[test]
fn lc_31_listed_objects_with_missing_or_invalid_identity_are_reported() {
    let text = "list \"test_thing\" \"example\" {\n  config {\n    name = \"a\"\n  }\n}\n";
    is(Fault::FindsNameless, Kind::List, "LC-31", "", text);
    is(Fault::FindsWrongType, Kind::List, "LC-31", ".id", text);
}

#[test]
fn lc_03_action_rejecting_unknown_arguments_is_reported() {
    let report = audited(Fault::ActionRefusesUnknown);
    assert!(report.findings().all(|finding| finding.rule.id() == "LC-03"), "{report}");
    let text = "action \"test_act\" \"example\" {\n  config {\n    name = \"a\"\n  }\n}\n";
    assert!(report.findings().any(|finding| finding.configuration == text), "{report}");
}

#[test]
fn fw_21_hanging_action_is_reported() {
    let (rule, _, text) = only_finding(Fault::ActionHangs, Kind::Action);
    assert_eq!(rule, "FW-21");
    assert!(text.starts_with("action \"test_act\""), "{text}");
}

#[test]
fn lc_01_and_lc_13_function_results_must_be_known_and_conform_to_return_type() {
    let (rule, _, text) = only_finding(Fault::ResultOfWrongType, Kind::Function);
    assert_eq!(rule, "LC-01");
    assert!(text.starts_with("twice(\""), "{text}");
    assert_eq!(only_finding(Fault::ResultUnknown, Kind::Function).0, "LC-13");
}

#[test]
fn fw_19_nondeterministic_function_is_reported() {
    assert_eq!(only_finding(Fault::NeverTheSame, Kind::Function).0, "FW-19");
}

#[test]
fn lc_03_function_rejecting_allowed_unknowns_is_reported() {
    let (rule, path, _) = only_finding(Fault::RefusesUnknownArgument, Kind::Function);
    assert_eq!((&*rule, &*path), ("LC-03", "text"));
}

#[test]
fn fw_23_user_configurations_may_contain_data_and_ephemeral_blocks() {
    let sources = Arc::new(Sources::new());
    let text =
        "data \"test_data\" \"a\" {\n  name = \"given\"\n}\nephemeral \"test_lease\" \"a\" {\n  name = \"given\"\n}\n";
    let given = parse_user_configs(&Breaking::new(Fault::None), "given.tf", text, &sources).unwrap();
    let options = Options { user_configs: given.resources, extent: Extent::Plan, ..Options::default() };
    let report = audit(&|| Ok(Arc::new(Breaking::new(Fault::DataNull))), &options, &mut |_| ()).unwrap();
    let kinds: Vec<Kind> = report.types.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [Kind::DataSource, Kind::EphemeralResource]);
    assert!(report.findings().any(|finding| finding.configuration.contains("data \"test_data\"")), "{report}");
}
