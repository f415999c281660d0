//! The server on loopback that the browser comes back to.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::http::Url;

/// More than any browser sends before the body.
const LONGEST_REQUEST: usize = 64 << 10;

/// Time limit for the browser's request.
const PATIENCE: Duration = Duration::from_secs(5);

/// The answer of the host, through the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Code(String),
    Refused(String),
}

/// Answers browsers until one of them brings what belongs to `state`.
pub(super) async fn wait(listener: &TcpListener, state: &str) -> io::Result<Word> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let Ok(Some(target)) = tokio::time::timeout(PATIENCE, target(&mut stream)).await else { continue };
        let word = word(&target, state);
        let (status, text) = match &word {
            Some(Word::Code(_)) => ("200 OK", "The login was successful. This page can be closed now."),
            Some(Word::Refused(_)) => ("200 OK", "The host refused the login. The terminal says why."),
            None => ("404 Not Found", "There is nothing here."),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        );
        // A browser that is gone already has said what it had to say.
        let _ = stream.write_all(answer.as_bytes()).await;
        if let Some(word) = word {
            return Ok(word);
        }
    }
}

/// The path and the query of the request.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while !seen.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await.ok()?;
        if count == 0 || seen.len() > LONGEST_REQUEST {
            return None;
        }
        seen.extend_from_slice(buffer.get(..count)?);
    }
    let text = String::from_utf8_lossy(&seen);
    let mut words = text.lines().next()?.split(' ');
    (words.next()? == "GET").then(|| words.next().map(str::to_owned))?
}

fn word(target: &str, state: &str) -> Option<Word> {
    let url = Url::parse("http://localhost/").and_then(|base| base.join(target)).ok()?;
    let value = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    // Anybody on this machine may knock; who does not know the state is not who was sent.
    if url.path() != "/login" || value("state")? != state {
        return None;
    }
    if let Some(problem) = value("error") {
        return Some(Word::Refused(value("error_description").unwrap_or(problem)));
    }
    value("code").filter(|code| !code.is_empty()).map(Word::Code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_knows_the_state_is_heard() {
        assert_eq!(word("/login?code=c&state=s", "s"), Some(Word::Code("c".to_owned())));
        assert_eq!(word("/login?code=c&state=other", "s"), None);
        assert_eq!(word("/login?code=c", "s"), None);
        assert_eq!(word("/favicon.ico?state=s&code=c", "s"), None);
        assert_eq!(word("/login?state=s&error=access_denied", "s"), Some(Word::Refused("access_denied".to_owned())));
    }
}
