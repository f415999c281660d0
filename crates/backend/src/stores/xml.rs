//! Elements of XML answers, as S3 and Azure list objects.

/// Returns the content of each element of this name that has no attributes. Elements of one name must not be nested.
pub(super) fn elements<'a>(document: &'a str, name: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut found = Vec::new();
    let mut rest = document;
    while let Some((_, after)) = rest.split_once(&open) {
        let Some((content, after)) = after.split_once(&close) else { break };
        found.push(content);
        rest = after;
    }
    found
}

/// Returns the text of the first element of this name; `None` without one, or if it is empty.
pub(super) fn text(document: &str, name: &str) -> Option<String> {
    elements(document, name).first().map(|content| unescaped(content)).filter(|text| !text.is_empty())
}

/// Replaces control characters and the characters with a meaning in XML by entities.
pub(super) fn escaped(text: &str) -> String {
    let mut content = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => content.push_str("&lt;"),
            '>' => content.push_str("&gt;"),
            '&' => content.push_str("&amp;"),
            other if other.is_control() => content.push_str(&format!("&#{};", u32::from(other))),
            other => content.push(other),
        }
    }
    content
}

/// Replaces the entities of XML by their characters.
pub(super) fn unescaped(content: &str) -> String {
    let mut text = String::with_capacity(content.len());
    let mut rest = content;
    while let Some((before, after)) = rest.split_once('&') {
        text.push_str(before);
        let character = after.split_once(';').and_then(|(entity, after)| Some((character(entity)?, after)));
        match character {
            Some((character, after)) => {
                text.push(character);
                rest = after;
            }
            None => {
                text.push('&');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

fn character(entity: &str) -> Option<char> {
    match entity {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_and_entities_replaced() {
        let document = "<List><Key>a&amp;lt;b</Key><Key/><Key>c&#x27;&#100;&x;</Key><Next></Next></List>";
        let keys: Vec<String> = elements(document, "Key").into_iter().map(unescaped).collect();
        assert_eq!(keys, ["a&lt;b", "c'd&x;"]);
        assert_eq!((text(document, "Next"), text(document, "None")), (None, None));
        assert!(elements("<Key>cut off", "Key").is_empty());
        let key = "a&<b>\n'\"";
        assert_eq!((escaped("a&<b>"), unescaped(&escaped(key))), ("a&amp;&lt;b&gt;".to_owned(), key.to_owned()));
    }
}
