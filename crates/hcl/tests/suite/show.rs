//! Trees as short texts: `a + b * c` is `(+ a (* b c))`.

use std::sync::Arc;

use groma_diagnostics::{Diagnostics, SourceFile, Sources};
use groma_hcl::{
    Expression, ExpressionKind, Ident, LiteralKey, Selector, Splat, SplatKind, Step, Template, TemplatePart,
    UnaryOperator,
};

pub fn source(text: &str) -> Arc<SourceFile> {
    // Something before it, so that addresses and offsets differ.
    let sources = Sources::new();
    sources.add("other.tf", "x").unwrap();
    sources.add("main.tf", text).unwrap()
}

/// `line: summary` of each diagnostic.
pub fn summaries(file: &SourceFile, diagnostics: &Diagnostics) -> Vec<String> {
    let line = |diagnostic: &groma_diagnostics::Diagnostic| {
        let line = diagnostic.subject.map_or(0, |span| file.position(span.start()).line);
        format!("{line}: {}", diagnostic.summary)
    };
    diagnostics.iter().map(line).collect()
}

pub fn show(expression: &Expression) -> String {
    match &expression.kind {
        ExpressionKind::Invalid => "INVALID".to_owned(),
        ExpressionKind::Null => "null".to_owned(),
        ExpressionKind::Bool(value) => value.to_string(),
        ExpressionKind::Number(digits) => digits.to_string(),
        ExpressionKind::String(text) => format!("{text:?}"),
        ExpressionKind::Template(template) => format!("(template{})", show_template(template)),
        ExpressionKind::JsonString(string) => format!("(json {})", show(&string.template)),
        ExpressionKind::Traversal(traversal) => format!("{}{}", traversal.root.name, show_steps(traversal.steps())),
        ExpressionKind::Relative(relative) => format!("{}{}", show(&relative.source), show_steps(&relative.steps)),
        ExpressionKind::Index(index) => format!("(index {} {})", show(&index.source), show(&index.key)),
        ExpressionKind::Splat(splat) => show_splat(splat),
        ExpressionKind::Call(call) => {
            let dots = if call.expansion.is_some() { "..." } else { "" };
            format!("{}({}{dots})", call.name.name, list(call.arguments()))
        }
        ExpressionKind::Tuple(elements) => format!("[{}]", list(elements)),
        ExpressionKind::Object(items) => {
            let items: Vec<String> =
                items.iter().map(|item| format!("{} = {}", show(&item.key), show(&item.value))).collect();
            format!("{{{}}}", items.join(", "))
        }
        ExpressionKind::For(parts) => {
            let variables = variables(parts.key.as_ref(), &parts.value);
            let key = parts.key_expression.as_ref().map(|key| format!("{} => ", show(key))).unwrap_or_default();
            let dots = if parts.grouping.is_some() { "..." } else { "" };
            let condition = parts.condition.as_ref().map(|when| format!(" if {}", show(when))).unwrap_or_default();
            let result = show(&parts.value_expression);
            format!("(for {variables} in {} : {key}{result}{dots}{condition})", show(&parts.collection))
        }
        ExpressionKind::Conditional(parts) => {
            format!("(? {} {} {})", show(&parts.condition), show(&parts.yes), show(&parts.no))
        }
        ExpressionKind::Unary(parts) => {
            let sign = if parts.operator == UnaryOperator::Not { "!" } else { "-" };
            format!("({sign} {})", show(&parts.operand))
        }
        ExpressionKind::Binary(parts) => {
            format!("({} {} {})", parts.operator.symbol(), show(&parts.left), show(&parts.right))
        }
        ExpressionKind::Parentheses(inner) => format!("<{}>", show(inner)),
    }
}

fn list(expressions: &[Expression]) -> String {
    expressions.iter().map(show).collect::<Vec<_>>().join(", ")
}

fn variables(key: Option<&Ident>, value: &Ident) -> String {
    key.map(|key| format!("{}, ", key.name)).unwrap_or_default() + &value.name
}

pub fn show_steps(steps: &[Step]) -> String {
    steps.iter().map(show_step).collect()
}

fn show_step(step: &Step) -> String {
    match step {
        Step::Attribute { name, .. } => format!(".{name}"),
        Step::Index { key: LiteralKey::Number(digits), .. } => format!("[{digits}]"),
        Step::Index { key: LiteralKey::String(text), .. } => format!("[{text:?}]"),
    }
}

fn show_splat(splat: &Splat) -> String {
    format!("({} {}{})", splat_sign(splat.kind), show(&splat.source), show_selectors(&splat.each))
}

fn splat_sign(kind: SplatKind) -> &'static str {
    match kind {
        SplatKind::Full => "[*]",
        SplatKind::Attribute => ".*",
    }
}

fn show_selectors(selectors: &[Selector]) -> String {
    let show_selector = |selector: &Selector| match selector {
        Selector::Step(step) => show_step(step),
        Selector::Index { key, .. } => format!("[{}]", show(key)),
        Selector::Splat { kind, each, .. } => format!(" ({}{})", splat_sign(*kind), show_selectors(each)),
    };
    let shown: String = selectors.iter().map(show_selector).collect();
    if shown.is_empty() { shown } else { format!(" {shown}") }
}

fn show_template(template: &Template) -> String {
    let show_part = |part: &TemplatePart| match part {
        TemplatePart::Literal { text, .. } => format!(" {text:?}"),
        TemplatePart::Interpolation(expression) => format!(" {}", show(expression)),
        TemplatePart::If(parts) => {
            let (yes, no) = (show_template(&parts.yes), show_template(&parts.no));
            format!(" (if {} then{yes} else{no})", show(&parts.condition))
        }
        TemplatePart::For(parts) => {
            let variables = variables(parts.key.as_ref(), &parts.value);
            format!(" (for {variables} in {} :{})", show(&parts.collection), show_template(&parts.body))
        }
    };
    template.parts.iter().map(show_part).collect()
}
