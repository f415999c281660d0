//! YAML documents as JSON, as far as kubeconfig files need them: every scalar is a string.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value as Json};

/// Files nest a few levels; deeper ones are no kubeconfig.
const DEEPEST: usize = 50;

/// Aliases may repeat a node many times, so the size of the result is limited.
const LARGEST: usize = 100_000;

/// Reads the first document of a file.
///
/// # Errors
/// The reason why the text is not a usable document, as a clause.
pub(super) fn read(text: &str) -> Result<Json, YamlError> {
    let mut reader = Reader { parser: Parser::new_from_str(text), anchors: HashMap::new(), size: 0 };
    loop {
        match reader.next()? {
            Event::StreamEnd => return Ok(Json::Null),
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            event => return reader.node(event, 0),
        }
    }
}

/// The reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum YamlError {
    #[error("it is not valid YAML: {0}")]
    Syntax(String),
    #[error("it is nested too deeply or has too many nodes")]
    TooLarge,
    #[error("it has a key that is not a string")]
    Key,
    #[error("it has an alias of an unknown anchor")]
    Alias,
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: HashMap<usize, (Json, usize)>,
    size: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Event<'a>, YamlError> {
        match self.parser.next_event() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(problem)) => Err(YamlError::Syntax(problem.to_string())),
            None => Ok(Event::StreamEnd),
        }
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Json, YamlError> {
        let before = self.size;
        self.size += 1;
        if depth > DEEPEST || self.size > LARGEST {
            return Err(YamlError::TooLarge);
        }
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (scalar(&text, style), anchor),
            Event::SequenceStart(anchor, _) => (self.sequence(depth)?, anchor),
            Event::MappingStart(anchor, _) => (self.mapping(depth)?, anchor),
            Event::Alias(anchor) => {
                let (value, size) = self.anchors.get(&anchor).cloned().ok_or(YamlError::Alias)?;
                self.size += size;
                return if self.size > LARGEST { Err(YamlError::TooLarge) } else { Ok(value) };
            }
            _ => return Err(YamlError::Syntax("it ends too early".to_owned())),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), self.size - before));
        }
        Ok(value)
    }

    fn sequence(&mut self, depth: usize) -> Result<Json, YamlError> {
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Json::Array(elements)),
                event => elements.push(self.node(event, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Json, YamlError> {
        let mut members = Map::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => return Ok(Json::Object(members)),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err(YamlError::Key),
            };
            let value = self.next()?;
            members.insert(key, self.node(value, depth + 1)?);
        }
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Json {
    match text {
        "" | "~" | "null" if style == ScalarStyle::Plain => Json::Null,
        _ => Json::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_of_all_styles_are_read() {
        let text =
            "# comment\na: &x {b: [1, 'true', \"q\\n\"], c: }\nd: *x\ne: |\n  two\n  lines\nf: ~\n---\nsecond: 1\n";
        let inner = json!({ "b": ["1", "true", "q\n"], "c": null });
        assert_eq!(read(text).unwrap(), json!({ "a": inner, "d": inner, "e": "two\nlines\n", "f": null }));
        assert_eq!(read("").unwrap(), Json::Null);
        assert_eq!(read(r#"{"json": ["is", "yaml"]}"#).unwrap(), json!({ "json": ["is", "yaml"] }));
    }

    #[test]
    fn bad_documents_are_refused() {
        for text in ["a: [", "? [a]\n: b", "a: *unknown"] {
            assert!(read(text).is_err(), "{text:?}");
        }
        assert!(matches!(read(&"[".repeat(1000)), Err(YamlError::TooLarge | YamlError::Syntax(_))));
        let bomb: String =
            (0..9).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "))).collect();
        let bomb = bomb.replace("*a-1", "x");
        assert!(matches!(read(&bomb), Err(YamlError::TooLarge)));
    }
}
