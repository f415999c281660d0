//! Diagnostics as JSON, for `validate -json` and the message stream.

use groma_diagnostics::{Diagnostic, FunctionCall, FunctionParameter, Position, Severity, Sources};
use serde_json::{Map, Value, json};

use super::snippet::{Location, Snippet, locate};

/// Returns the JSON object of `diagnostic`.
pub fn diagnostic_json(diagnostic: &Diagnostic, sources: &Sources) -> Value {
    let mut object = Map::new();
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    object.insert("severity".into(), severity.into());
    object.insert("summary".into(), diagnostic.summary.as_str().into());
    object.insert("detail".into(), diagnostic.detail.as_str().into());
    if let Some(address) = &diagnostic.address {
        object.insert("address".into(), address.to_string().into());
    }
    if let Some((location, snippet)) = locate(diagnostic, sources) {
        object.insert("range".into(), range(&location));
        object.insert("snippet".into(), lines(&snippet, diagnostic));
    }
    if let Some(origin) = &diagnostic.origin {
        object.insert("deprecation_origin_description".into(), origin.to_string().into());
    }
    Value::Object(object)
}

fn range(location: &Location) -> Value {
    json!({ "filename": location.file, "start": position(location.start), "end": position(location.end) })
}

fn position(position: Position) -> Value {
    json!({ "line": position.line, "column": position.column, "byte": position.byte })
}

fn lines(snippet: &Snippet, diagnostic: &Diagnostic) -> Value {
    let mut observed: Vec<_> = diagnostic.observed().iter().collect();
    // Terraform sorts values by expression.
    observed.sort_by(|a, b| a.expression.cmp(&b.expression));
    let values: Vec<Value> =
        observed.iter().map(|value| json!({ "traversal": value.expression, "statement": value.statement })).collect();
    let mut object = json!({
        "context": snippet.context,
        "code": snippet.code,
        "start_line": snippet.start_line,
        "highlight_start_offset": snippet.highlight_start,
        "highlight_end_offset": snippet.highlight_end,
        "values": values,
    });
    if let Some(call) = diagnostic.call() {
        object["function_call"] = function_call(call);
    }
    object
}

fn function_call(call: &FunctionCall) -> Value {
    let ty = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let parameter = |one: &FunctionParameter| json!({ "name": one.name, "type": ty(&one.ty) });
    // Terraform's field is the name without its namespace.
    let name = call.called_as.rsplit("::").next();
    let parameters: Vec<Value> = call.parameters.iter().map(parameter).collect();
    let mut signature = json!({ "name": name, "params": parameters });
    if let Some(variadic) = &call.variadic {
        signature["variadic_param"] = parameter(variadic);
    }
    signature["return_type"] = ty(&call.result);
    json!({ "called_as": call.called_as, "signature": signature })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_contains_range_and_snippet() {
        let sources = Sources::new();
        let text = "check \"c\" {\n  assert {\n    condition = var.x != \"two\"\n  }\n}\n";
        let file = sources.add("main.tf", text).unwrap();
        let at = text.find("var.x !=").unwrap();
        let diagnostic = Diagnostic::warning("Check block assertion failed", "x is two")
            .at(file.span(at, at + 14))
            .observing("var.x", "is \"two\"");
        assert_eq!(
            diagnostic_json(&diagnostic, &sources).to_string(),
            "{\"severity\":\"warning\",\"summary\":\"Check block assertion failed\",\"detail\":\"x is two\",\"range\":{\"filename\":\
             \"main.tf\",\"start\":{\"line\":3,\"column\":17,\"byte\":39},\"end\":{\"line\":3,\"column\":31,\"byte\":53}},\"snippet\":\
             {\"context\":\"check \\\"c\\\"\",\"code\":\"    condition = var.x != \\\"two\\\"\",\"start_line\":3,\
             \"highlight_start_offset\":16,\"highlight_end_offset\":30,\"values\":[{\"traversal\":\"var.x\",\"statement\":\"is \
             \\\"two\\\"\"}]}}"
        );
    }
}
