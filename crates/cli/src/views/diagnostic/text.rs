//! Diagnostics as text.

use std::fmt::Write as _;

use groma_diagnostics::{Diagnostic, Observed, Severity, Sources};

use super::consolidate::Consolidated;
use super::snippet::{Location, Snippet, locate};
use crate::terminal::{Palette, Tone, printable, wrap_line};

/// Renders diagnostics as text, with a vertical rule on the left if colors are enabled.
#[derive(Clone, Copy, Debug)]
pub struct DiagnosticText {
    /// Colors of the output.
    pub palette: Palette,
    /// Width of the output, for wrapping.
    pub columns: usize,
}

impl DiagnosticText {
    /// Appends the text of `diagnostic` to `out`.
    pub fn write(&self, diagnostic: &Diagnostic, sources: &Sources, out: &mut String) {
        match self.palette {
            Palette::Plain => {
                // Without a rule, diagnostics are separated by empty lines.
                out.push('\n');
                self.write_body(diagnostic, sources, self.columns.saturating_sub(1), out);
            }
            // The rule is drawn around the wrapped text, so the body needs the columns of the rule.
            Palette::Ansi => {
                let mut body = String::new();
                self.write_body(diagnostic, sources, self.columns.saturating_sub(3), &mut body);
                self.write_with_rule(diagnostic.severity, &body, out);
            }
        }
    }

    /// Appends the list of `warnings` for `-compact-warnings`.
    pub fn write_compact<'a>(
        &self,
        warnings: impl IntoIterator<Item = &'a Consolidated<'a>>,
        sources: &Sources,
        out: &mut String,
    ) {
        let _ = write!(out, "\n{}\n\n", self.palette.paint(Tone::BoldYellow, "Warnings:"));
        for Consolidated { diagnostic, others } in warnings {
            // Details are left out: compact warnings take one or two lines each.
            let _ = writeln!(out, "- {}", printable(&diagnostic.summary));
            if let Some((location, _)) = locate(diagnostic, sources) {
                let more = if *others > 0 { format!(" (and {others} more)") } else { String::new() };
                let _ = writeln!(out, "  on {} line {}{more}", printable(&location.file), location.start.line);
            }
        }
        out.push_str("\nRun without -compact-warnings to see each warning in full.\n");
    }

    fn write_with_rule(&self, severity: Severity, body: &str, out: &mut String) {
        let tone = match severity {
            Severity::Error => Tone::Red,
            Severity::Warning => Tone::Yellow,
        };
        let _ = writeln!(out, "{}", self.palette.paint(tone, "╷"));
        let rule = self.palette.paint(tone, "│");
        for line in body.trim_end_matches('\n').split('\n') {
            // Trailing spaces would be copied with the text.
            let gap = if line.is_empty() { "" } else { " " };
            let _ = writeln!(out, "{rule}{gap}{line}");
        }
        let _ = writeln!(out, "{}", self.palette.paint(tone, "╵"));
    }

    fn write_body(&self, diagnostic: &Diagnostic, sources: &Sources, width: usize, out: &mut String) {
        let (tone, word) = match diagnostic.severity {
            Severity::Error => (Tone::BoldRed, "Error: "),
            Severity::Warning => (Tone::BoldYellow, "Warning: "),
        };
        let summary = printable(&diagnostic.summary);
        let _ = write!(out, "{}{}\n\n", self.palette.paint(tone, word), self.palette.paint(Tone::Bold, summary));
        if let Some(address) = &diagnostic.address {
            let _ = writeln!(out, "  with {},", printable(&address.to_string()));
        }
        match locate(diagnostic, sources) {
            Some((location, snippet)) => self.write_snippet(&location, &snippet, diagnostic, out),
            // An address without a location still needs the empty line before the detail.
            None if diagnostic.address.is_some() => out.push('\n'),
            None => {}
        }
        if let Some(origin) = &diagnostic.origin {
            let _ = writeln!(out, "  The deprecation originates from {}\n", printable(&origin.to_string()));
        }
        self.write_detail(&diagnostic.detail, width, out);
    }

    fn write_snippet(&self, location: &Location, snippet: &Snippet, diagnostic: &Diagnostic, out: &mut String) {
        let _ = write!(out, "  on {} line {}", printable(&location.file), location.start.line);
        if let Some(context) = &snippet.context {
            let _ = write!(out, ", in {context}");
        }
        out.push_str(":\n");
        let (before, rest) = snippet.code.split_at(snippet.highlight_start);
        let (highlight, after) = rest.split_at(snippet.highlight_end - snippet.highlight_start);
        // Each line is underlined separately, or the rule on the left would be underlined too.
        let underlined: Vec<String> = highlight
            .split('\n')
            .map(|line| self.palette.paint(Tone::Underline, printable(line)).to_string())
            .collect();
        let code = format!("{}{}{}", printable(before), underlined.join("\n"), printable(after));
        for (line, number) in code.split('\n').zip(snippet.start_line..) {
            let _ = writeln!(out, "{number:>4}: {line}");
        }
        self.write_values(diagnostic, out);
        out.push('\n');
    }

    /// Appends the called function and the values of the expression.
    fn write_values(&self, diagnostic: &Diagnostic, out: &mut String) {
        if diagnostic.observed().is_empty() && diagnostic.call().is_none() {
            return;
        }
        let mut sorted: Vec<&Observed> = diagnostic.observed().iter().collect();
        // Terraform sorts values by expression.
        sorted.sort_by(|a, b| a.expression.cmp(&b.expression));
        let _ = writeln!(out, "    {}", self.palette.paint(Tone::Gray, "├────────────────"));
        let rule = self.palette.paint(Tone::Gray, "│");
        if let Some(call) = diagnostic.call() {
            let variadic = call.variadic.iter().map(|variadic| format!("{}...", variadic.name));
            let parameters = call.parameters.iter().map(|parameter| parameter.name.clone()).chain(variadic);
            let parameters = parameters.collect::<Vec<_>>().join(", ");
            let name = self.palette.paint(Tone::Bold, printable(&call.called_as));
            // Parameter names come from the provider for its functions, so they are not trusted.
            let _ = writeln!(out, "    {rule} while calling {name}({})", printable(&parameters));
        }
        for value in sorted {
            let _ = writeln!(
                out,
                "    {rule} {} {}",
                self.palette.paint(Tone::Bold, printable(&value.expression)),
                printable(&value.statement)
            );
        }
    }

    fn write_detail(&self, detail: &str, width: usize, out: &mut String) {
        if detail.is_empty() {
            return;
        }
        for line in printable(detail).split('\n') {
            // Indented lines are examples, whose line breaks matter.
            if line.starts_with(' ') || width == 0 {
                out.push_str(line);
            } else {
                wrap_line(line, width, out);
            }
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use groma_address::ResourceInstance;
    use groma_diagnostics::{FunctionCall, FunctionParameter};

    use super::*;

    fn check_example(palette: Palette, columns: usize) -> String {
        let sources = Sources::new();
        let text = "variable \"x\" {\n  default = \"two\"\n}\ncheck \"c\" {\n  assert {\n    condition = var.x != \"two\"\n  }\n}\n";
        let file = sources.add("main.tf", text).unwrap();
        let at = text.find("var.x !=").unwrap();
        let diagnostic = Diagnostic::warning("Check block assertion failed", "x is two")
            .at(file.span(at, at + "var.x != \"two\"".len()))
            .observing("var.x", "is \"two\"");
        let mut out = String::new();
        DiagnosticText { palette, columns }.write(&diagnostic, &sources, &mut out);
        out
    }

    #[test]
    fn plain_text_contains_block_line_and_values() {
        assert_eq!(
            check_example(Palette::Plain, 78),
            "\nWarning: Check block assertion failed\n\n  on main.tf line 6, in check \"c\":\n   6:     condition = var.x != \"two\"\n    \
             ├────────────────\n    │ var.x is \"two\"\n\nx is two\n"
        );
    }

    #[test]
    fn function_call_shows_signature() {
        let sources = Sources::new();
        let file = sources.add("main.tf", "output \"o\" {\n  value = join(3, var.x)\n}\n").unwrap();
        let parameter = |name: &str| FunctionParameter { name: name.to_owned(), ty: "\"string\"".to_owned() };
        let call = FunctionCall {
            called_as: "join".to_owned(),
            parameters: vec![parameter("separator")],
            variadic: Some(parameter("lists")),
            result: "\"string\"".to_owned(),
        };
        let diagnostic = Diagnostic::error("Invalid function argument", "No list.")
            .at(file.span(32, 37))
            .observing("var.x", "is \"two\"")
            .calling(call);
        let mut out = String::new();
        DiagnosticText { palette: Palette::Plain, columns: 78 }.write(&diagnostic, &sources, &mut out);
        assert!(
            out.ends_with(
                "    ├────────────────\n    │ while calling join(separator, lists...)\n    │ var.x is \"two\"\n\nNo list.\n"
            ),
            "{out}"
        );
        let call = &super::super::diagnostic_json(&diagnostic, &sources)["snippet"]["function_call"];
        assert_eq!(
            call.to_string(),
            "{\"called_as\":\"join\",\"signature\":{\"name\":\"join\",\"params\":[{\"name\":\"separator\",\"type\":\"string\"}],\
             \"variadic_param\":{\"name\":\"lists\",\"type\":\"string\"},\"return_type\":\"string\"}}"
        );
    }

    #[test]
    fn terminal_text_has_rule_and_underline() {
        let out = check_example(Palette::Ansi, 78);
        assert!(out.starts_with("\x1b[33m╷\x1b[0m\n\x1b[33m│\x1b[0m \x1b[1m\x1b[33mWarning: \x1b[0m"), "{out}");
        // The rule on the left is not underlined, only the expression.
        assert!(out.contains("condition = \x1b[4mvar.x != \"two\"\x1b[0m\n"), "{out}");
        assert!(out.ends_with("\x1b[33m╵\x1b[0m\n"), "{out}");
    }

    #[test]
    fn block_header_is_not_inside_its_block() {
        let sources = Sources::new();
        let file = sources.add("main.tf", "variable \"need\" {\n}\n").unwrap();
        let diagnostic = Diagnostic::error("No value for required variable", "Set it.").at(file.span(0, 15));
        let mut out = String::new();
        DiagnosticText { palette: Palette::Plain, columns: 78 }.write(&diagnostic, &sources, &mut out);
        assert_eq!(
            out,
            // The context "in variable ..." would repeat the line.
            "\nError: No value for required variable\n\n  on main.tf line 1:\n   1: variable \"need\" {\n\nSet it.\n"
        );
    }

    #[test]
    fn address_precedes_location() {
        let sources = Sources::new();
        let text = "resource \"ex_item\" \"a\" {\n  name = var.name\n}\n";
        let file = sources.add("main.tf", text).unwrap();
        let at = text.find("var.name").unwrap();
        let instance: ResourceInstance = "ex_item.a".parse().unwrap();
        let diagnostic =
            Diagnostic::error("Refused", "name boom is refused").at(file.span(at, at + 8)).about(&instance);
        let mut out = String::new();
        DiagnosticText { palette: Palette::Plain, columns: 78 }.write(&diagnostic, &sources, &mut out);
        assert_eq!(
            out,
            "\nError: Refused\n\n  with ex_item.a,\n  on main.tf line 2, in resource \"ex_item\" \"a\":\n   2:   name = var.name\n\n\
             name boom is refused\n"
        );
    }

    #[test]
    fn values_have_no_control_characters() {
        let mut out = String::new();
        let diagnostic = Diagnostic::error("Bad", "\u{1b}[2Jgone");
        DiagnosticText { palette: Palette::Plain, columns: 78 }.write(&diagnostic, &Sources::new(), &mut out);
        assert!(!out.contains('\u{1b}'));
    }
}
