//! Every form of expression.

use groma_hcl::{ExpressionKind, parse_expression};

use crate::show::{show, source, summaries};

fn check(text: &str, tree: &str) {
    let file = source(text);
    let (expression, diagnostics) = parse_expression(&file);
    assert_eq!(summaries(&file, &diagnostics), Vec::<String>::new(), "{text}");
    assert_eq!(show(&expression), tree, "{text}");
    assert_eq!(file.slice(expression.span), Some(text.trim()), "the span is all of the text");
}

#[test]
fn literals() {
    check("null", "null");
    check(" true ", "true");
    check("12.50", "12.50");
    check("1e10", "1e10");
    check("1.5E-3", "1.5E-3");
    check("\"a\"", "\"a\"");
    check("\"\"", "\"\"");
}

#[test]
fn operators_bind_in_the_usual_order_and_to_the_left() {
    check("a || b && c", "(|| a (&& b c))");
    check("a == b && c != d", "(&& (== a b) (!= c d))");
    check("a < b == c >= d", "(== (< a b) (>= c d))");
    check("a + b < c - d", "(< (+ a b) (- c d))");
    check("a + b * c / d % e", "(+ a (% (/ (* b c) d) e))");
    check("a - b - c", "(- (- a b) c)");
    check("(a - b) * c", "(* <(- a b)> c)");
}

#[test]
fn signs_bind_more_strongly_than_operators_but_less_than_dots() {
    check("-a + b", "(+ (- a) b)");
    check("!a.b && c", "(&& (! a.b) c)");
    check("- -1", "(- (- 1))");
    check("a - -1", "(- a (- 1))");
    check("a -1", "(- a 1)");
}

#[test]
fn a_name_may_hold_a_minus_and_letters_of_any_script() {
    check("var.n-1", "var.n-1");
    check("größe.名前", "größe.名前");
    check("_a.b_", "_a.b_");
}

#[test]
fn conditionals_nest_to_the_right() {
    check("a ? b : c ? d : e", "(? a b (? c d e))");
    check("a ? b ? c : d : e", "(? a (? b c d) e)");
    check("a || b ? c : d", "(? (|| a b) c d)");
}

#[test]
fn references() {
    check("aws_instance.x[0].tags[\"a b\"].c", "aws_instance.x[0].tags[\"a b\"].c");
    check("a.0.b.1", "a[0].b[1]");
    check("a[b].c", "(index a b).c");
    check("a[\"${b}\"]", "(index a (template b))");
    check("a[-1]", "(index a (- 1))");
    check("f(x).a[0]", "f(x).a[0]");
    check("[a][0]", "[a][0]");
    check("{ a = 1 }.a", "{\"a\" = 1}.a");
    check("(a).b", "<a>.b");
    check("\"x\".b", "\"x\".b");
}

#[test]
fn full_splats_take_all_that_follows() {
    check("a[*]", "([*] a)");
    check("a[*].b[0].c", "([*] a .b[0].c)");
    check("a[*].b[c]", "([*] a .b[c])");
    check("a[*].b[*].c", "([*] a .b ([*] .c))");
    check("f(x)[*].b", "([*] f(x) .b)");
}

#[test]
fn attribute_splats_take_only_names_and_old_indexes() {
    check("a.*", "(.* a)");
    check("a.*.b.c", "(.* a .b.c)");
    check("a.*.b[0]", "(.* a .b)[0]");
    check("a.*.b.0.c", "(.* a .b[0].c)");
}

#[test]
fn calls() {
    check("f()", "f()");
    check("f(a, b,)", "f(a, b)");
    check("f(a, b...)", "f(a, b...)");
    check("provider::aws::arn_parse(a)", "provider::aws::arn_parse(a)");
    check("f(g(h(1)), [])", "f(g(h(1)), [])");
}

#[test]
fn namespaced_call_keeps_spans_of_name_and_arguments() {
    let file = source("core::max(1, 2)");
    let (expression, _) = parse_expression(&file);
    let ExpressionKind::Call(call) = &expression.kind else { panic!("{expression:?}") };
    assert_eq!(file.slice(call.name.span), Some("core::max"));
    assert_eq!(file.slice(call.open), Some("("));
    assert_eq!(file.slice(call.close), Some(")"));
}

#[test]
fn tuples_and_objects() {
    check("[]", "[]");
    check("[1, [2], ]", "[1, [2]]");
    check("{}", "{}");
    check("{ a = 1, \"b c\" = 2, (d) = 3, \"${e}\" = 4 }", "{\"a\" = 1, \"b c\" = 2, <d> = 3, (template e) = 4}");
    check("{ a: 1, b: 2 }", "{\"a\" = 1, \"b\" = 2}");
    check("{ 1 = a }", "{1 = a}");
    check("{ a.b = c }", "{a.b = c}");
    check("{ true = a }", "{true = a}");
}

#[test]
fn line_ends_separate_the_items_of_an_object_and_nothing_else() {
    check("{\n  a = 1\n\n  b = 2, c = 3,\n}", "{\"a\" = 1, \"b\" = 2, \"c\" = 3}");
    check("{\n  # about a\n  a = 1 // more\n  /* b */ b = 2\n}", "{\"a\" = 1, \"b\" = 2}");
    check("[\n  1,\n\n  2\n]", "[1, 2]");
    check("f(\n  a,\n  b\n)", "f(a, b)");
    check("(\n  a\n  + b\n)", "<(+ a b)>");
    check("{ a = (1\n + 2) }", "{\"a\" = <(+ 1 2)>}");
    check("a[\n0\n]", "a[0]");
    check("{ a = [\n{\nb = 1\n}\n] }", "{\"a\" = [{\"b\" = 1}]}");
}

#[test]
fn for_expressions() {
    check("[for x in y : x]", "(for x in y : x)");
    check("[for i, x in y : x if i > 0]", "(for i, x in y : x if (> i 0))");
    check("{ for k, v in m : k => v }", "(for k, v in m : k => v)");
    check("{ for k, v in m : k => v... if v != null }", "(for k, v in m : k => v... if (!= v null))");
    check("{\n  for k in\n  m :\n  k => 1\n}", "(for k in m : k => 1)");
    check("[for x in [for y in z : y] : x]", "(for x in (for y in z : y) : x)");
}
