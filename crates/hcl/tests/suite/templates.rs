//! Strings, heredocs and templates.

use groma_hcl::{Expression, ExpressionKind, parse_expression, parse_file, parse_template};

use crate::show::{show, source, summaries};

fn check(text: &str, tree: &str) {
    let file = source(text);
    let (expression, diagnostics) = parse_expression(&file);
    assert_eq!(summaries(&file, &diagnostics), Vec::<String>::new(), "{text}");
    assert_eq!(show(&expression), tree, "{text}");
}

/// A heredoc needs a line end after it, so that it is checked as an argument.
fn check_heredoc(text: &str, tree: &str) {
    let file = source(&format!("a = {text}\n"));
    let (parsed, diagnostics) = parse_file(&file);
    assert_eq!(summaries(&file, &diagnostics), Vec::<String>::new(), "{text}");
    let (attributes, _) = parsed.body.attributes();
    assert_eq!(show(&attributes[0].expression), tree, "{text}");
}

fn check_template(text: &str, tree: &str) {
    let file = source(text);
    let (expression, diagnostics) = parse_template(&file);
    assert_eq!(summaries(&file, &diagnostics), Vec::<String>::new(), "{text}");
    assert_eq!(show(&expression), tree, "{text}");
}

#[test]
fn escapes() {
    check(r#""\n\r\t\"\\""#, r#""\n\r\t\"\\""#);
    check(r#""\u00e9\U0001F600""#, "\"é😀\"");
    check(r#""$${a} %%{b} $a %b $$a $""#, r#""${a} %{b} $a %b $$a $""#);
    check(r#""$$${a}""#, r#""$${a}""#);
    check(r#""a$${b}${c}""#, r#"(template "a${b}" c)"#);
}

#[test]
fn interpolations() {
    check(r#""${a}""#, "(template a)");
    check(r#""a ${b} c ${d}""#, r#"(template "a " b " c " d)"#);
    check(r#""${f("x ${g("y")}")}""#, r#"(template f((template "x " g("y"))))"#);
    check(r#""${ { a = 1 }.a }""#, r#"(template {"a" = 1}.a)"#);
    check("\"${\n  a\n}\"", "(template a)");
}

#[test]
fn a_template_that_is_one_interpolation_is_known_as_such() {
    let wrapped = |text: &str| {
        let (expression, _) = parse_expression(&source(text));
        let ExpressionKind::Template(template) = expression.kind else { panic!("{text}") };
        template.wrapped().map(show)
    };
    assert_eq!(wrapped(r#""${a.b}""#), Some("a.b".to_owned()));
    assert_eq!(wrapped(r#""${a}${b}""#), None);
    assert_eq!(wrapped(r#""${a} ""#), None);
}

#[test]
fn directives() {
    check(r#""%{ if a }b%{ else }c%{ endif }""#, r#"(template (if a then "b" else "c"))"#);
    check(r#""%{ if a }b%{ endif }c""#, r#"(template (if a then "b" else) "c")"#);
    check(r#""%{ for x in y }${x},%{ endfor }""#, r#"(template (for x in y : x ","))"#);
    check(
        r#""%{ for k, v in y }%{ if v }${k}%{ endif }%{ endfor }""#,
        "(template (for k, v in y : (if v then k else)))",
    );
}

#[test]
fn strip_markers_take_white_space_away() {
    check(r#""a ${~ b ~} c""#, r#"(template "a" b "c")"#);
    check(r#""a %{~ if b ~} c %{~ endif ~} d""#, r#"(template "a" (if b then "c" else) "d")"#);
    check(r#""a ~ ${b}""#, r#"(template "a ~ " b)"#);
    check(r#"" ${~ b}""#, r#"(template b "")"#);
}

#[test]
fn text_that_is_stripped_whole_leaves_a_template() {
    // Its result is a string, where that of "${b}" alone is b itself. Terraform does the same.
    check(r#""${b ~} ""#, r#"(template b "")"#);
    check(r#""${~ b ~}""#, "(template b)");
    check_heredoc("<<EOT\n${b ~}\nEOT", r#"(template b "")"#);
}

#[test]
fn heredocs() {
    check_heredoc("<<EOT\n  a\nb\nEOT", "\"  a\\nb\\n\"");
    check_heredoc("<<EOT\nEOT", "\"\"");
    check_heredoc("<<EOT\n${a} b\n  EOT", r#"(template a " b\n")"#);
    check_heredoc("<<E\nEOT\nE", "\"EOT\\n\"");
    check_heredoc("<<E\na \\n \"b\" $${c}\nE", r#""a \\n \"b\" ${c}\n""#);
    check_heredoc("<<A\n${f(<<B\nx\nB\n)}\nA", "(template f(\"x\\n\") \"\\n\")");
    check_heredoc("<<EOT\r\na\r\nEOT\r", "\"a\\r\\n\"");
}

#[test]
fn the_shared_indentation_of_a_heredoc_goes() {
    check_heredoc("<<-EOT\n    a\n      b\n    c\n  EOT", "\"a\\n  b\\nc\\n\"");
    check_heredoc("<<-EOT\n    a\n\n  b\n  EOT", "\"  a\\n\\nb\\n\"");
    check_heredoc("<<-EOT\n    ${a}\n      b\n  EOT", r#"(template a "\n  b\n")"#);
    check_heredoc("<<-EOT\n  a ${b}\n  c\nEOT", r#"(template "a " b "\nc\n")"#);
    check_heredoc("<<-EOT\n\ta\n\t\tb\nEOT", "\"a\\n\\tb\\n\"");
}

#[test]
fn strip_markers_come_before_the_indentation_goes() {
    // A line that was joined to the one before has no indentation of its own any more. Terraform does the same.
    let text = "<<-EOT\n  %{ for x in y ~}\n  - ${x}\n  %{ endfor ~}\n  z\n  EOT";
    check_heredoc(text, r#"(template (for x in y : "  - " x "\n") "  z\n")"#);
    let text = "<<-EOT\n    a ${~ b ~}\n    c\n      d\n    ${e} f\n  EOT";
    check_heredoc(text, r#"(template "a" b "    c\n  d\n" e " f\n")"#);
}

#[test]
fn bare_templates() {
    check_template("", "\"\"");
    check_template("a \"b\" \\n $", "\"a \\\"b\\\" \\\\n $\"");
    check_template("${a}", "(template a)");
    check_template("a\n%{ if b }\nc\n%{ endif }d", r#"(template "a\n" (if b then "\nc\n" else) "d")"#);
}

#[test]
fn spans_inside_strings_are_exact() {
    let file = source(r#""é ${var.x + 1}""#);
    let (expression, _) = parse_expression(&file);
    let ExpressionKind::Template(template) = &expression.kind else { panic!("{expression:?}") };
    let [_, groma_hcl::TemplatePart::Interpolation(Expression { span, .. })] = &*template.parts else { panic!() };
    assert_eq!(file.slice(*span), Some("var.x + 1"));
}
