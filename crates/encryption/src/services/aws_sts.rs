//! AWS Security Token Service (STS), which issues temporary keys for roles.

use groma_diagnostics::io_reason;

use super::arguments::ArgumentValues;
use super::aws_sigv4::signed;
use super::network::{AwsKeys, ConnectionOptions, Network, NetworkRequest, or_variable};
use crate::error::KeyError;

/// The session name if the configuration sets none. STS requires one.
const DEFAULT_SESSION_NAME: &str = "groma";

/// The limits of STS for the duration of a session, in seconds.
const MINIMUM_DURATION: u64 = 15 * 60;
const MAXIMUM_DURATION: u64 = 12 * 60 * 60;

/// A client of STS in one region.
pub(super) struct Sts<'a> {
    pub(super) region: &'a str,
    /// The URL of the service, if it differs from the region's default.
    pub(super) endpoint: Option<&'a str>,
    pub(super) network: &'a dyn Network,
    pub(super) connection: &'a ConnectionOptions,
}

impl Sts<'_> {
    /// Assumes the role of an `assume_role` object with `keys`.
    pub(super) fn assume_role(&self, role: &ArgumentValues, keys: &AwsKeys) -> Result<AwsKeys, KeyError> {
        let mut fields = session_fields(role, role.string("session_name"), &role.required_string("role_arn")?)?;
        fields.extend(role.string("external_id").map(|id| ("ExternalId".to_owned(), id)));
        for (index, (key, value)) in (1..).zip(role.map("tags")) {
            fields.push((format!("Tags.member.{index}.Key"), key));
            fields.push((format!("Tags.member.{index}.Value"), value));
        }
        for (index, key) in (1..).zip(role.strings("transitive_tag_keys")) {
            fields.push((format!("TransitiveTagKeys.member.{index}"), key));
        }
        issued_keys(&self.call("AssumeRole", fields, Some(keys))?)
    }

    /// Assumes the role of an `assume_role_with_web_identity` object. Environment variables replace missing arguments.
    pub(super) fn assume_role_with_web_identity(&self, role: &ArgumentValues) -> Result<AwsKeys, KeyError> {
        let argument = |name: &str, variable: &str| or_variable(role.string(name), self.network, &[variable]);
        let missing = |name: &str| KeyError::argument(format!("assume_role_with_web_identity has no {name}"));
        let arn = argument("role_arn", "AWS_ROLE_ARN").ok_or_else(|| missing("role_arn"))?;
        let token = match argument("web_identity_token", "AWS_WEB_IDENTITY_TOKEN") {
            Some(token) => token,
            None => {
                let path = argument("web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE");
                let path = path.ok_or_else(|| missing("web_identity_token"))?;
                std::fs::read_to_string(&path).map_err(|error| {
                    KeyError::credentials(format!("cannot read the token file {path:?}: {}", io_reason(&error)))
                })?
            }
        };
        let mut fields = session_fields(role, argument("session_name", "AWS_ROLE_SESSION_NAME"), &arn)?;
        fields.push(("WebIdentityToken".to_owned(), token.trim().to_owned()));
        // The token is the proof of identity, so this request has no signature.
        issued_keys(&self.call("AssumeRoleWithWebIdentity", fields, None)?)
    }

    /// Returns the ID of the account that the keys belong to.
    pub(super) fn account_id(&self, keys: &AwsKeys) -> Result<String, KeyError> {
        let answer = self.call("GetCallerIdentity", Vec::new(), Some(keys))?;
        element(&answer, "Account").ok_or_else(|| KeyError::response("the response of AWS STS has no account ID"))
    }

    fn call(&self, action: &str, more: Vec<(String, String)>, keys: Option<&AwsKeys>) -> Result<String, KeyError> {
        let domain = if self.region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        let url = self.endpoint.map_or_else(|| format!("https://sts.{}.{domain}/", self.region), str::to_owned);
        // The signature covers the path. The client sends "/" for a URL without a path, so sign that.
        let url = if url.matches('/').count() < 3 { format!("{url}/") } else { url };
        let mut fields = vec![("Action", action), ("Version", "2011-06-15")];
        fields.extend(more.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let request = NetworkRequest::form(url, &fields);
        let request = match keys {
            Some(keys) => signed(request, "sts", self.region, keys)?,
            None => request,
        };
        let answer = self.network.send(&request, self.connection)?;
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        if (200..300).contains(&answer.status) {
            return Ok(body);
        }
        let message = element(&body, "Message").or_else(|| element(&body, "Code"));
        Err(KeyError::rejected(answer.status, message.as_deref()).context(format!("AWS STS rejected {action}")))
    }
}

/// Returns the form fields that both kinds of role have.
fn session_fields(role: &ArgumentValues, name: Option<String>, arn: &str) -> Result<Vec<(String, String)>, KeyError> {
    let name = name.unwrap_or_else(|| DEFAULT_SESSION_NAME.to_owned());
    let mut fields = vec![("RoleArn".to_owned(), arn.to_owned()), ("RoleSessionName".to_owned(), name)];
    fields.extend(session_duration(role)?.map(|seconds| ("DurationSeconds".to_owned(), seconds.to_string())));
    fields.extend(role.string("policy").map(|policy| ("Policy".to_owned(), policy)));
    for (index, arn) in (1..).zip(role.strings("policy_arns")) {
        fields.push((format!("PolicyArns.member.{index}.arn"), arn));
    }
    Ok(fields)
}

/// Parses `duration`, in Go's syntax for durations, into seconds.
pub(super) fn session_duration(role: &ArgumentValues) -> Result<Option<u64>, KeyError> {
    let Some(duration) = role.string("duration") else { return Ok(None) };
    let invalid = || {
        let problem = format!("duration must be from 15m to 12h, for example \"1h\" or \"1h30m\", not {duration:?}");
        KeyError::argument(problem)
    };
    let mut seconds = 0_u64;
    let mut rest = duration.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(invalid)?;
        let (number, after) = rest.split_at(end);
        let unit = match after.chars().next() {
            Some('h') => 3600,
            Some('m') => 60,
            Some('s') => 1,
            _ => return Err(invalid()),
        };
        let number: u64 = number.parse().map_err(|_| invalid())?;
        seconds = number.checked_mul(unit).and_then(|more| seconds.checked_add(more)).ok_or_else(invalid)?;
        rest = &after[1..];
    }
    if (MINIMUM_DURATION..=MAXIMUM_DURATION).contains(&seconds) { Ok(Some(seconds)) } else { Err(invalid()) }
}

/// Reads the temporary keys in a response.
fn issued_keys(answer: &str) -> Result<AwsKeys, KeyError> {
    let field = |name: &str| {
        element(answer, name).ok_or_else(|| KeyError::response(format!("the response of AWS STS has no {name}")))
    };
    Ok(AwsKeys { id: field("AccessKeyId")?, secret: field("SecretAccessKey")?, session: Some(field("SessionToken")?) })
}

/// Returns the text of the first XML element of this name. Responses of STS have no attributes, comments or CDATA, so
/// this needs no XML parser.
fn element(document: &str, name: &str) -> Option<String> {
    let (_, rest) = document.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    // "&amp;" must be the last, or "&amp;lt;" would become "<".
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    Some(entities.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character)))
}

#[cfg(test)]
mod tests {
    use super::super::arguments::ArgumentValue;
    use super::*;

    #[test]
    fn session_duration_must_be_within_the_limits_of_sts() {
        let role = |duration: &str| {
            ArgumentValues::from_iter([("duration".to_owned(), ArgumentValue::String(duration.to_owned()))])
        };
        assert_eq!(session_duration(&role("1h30m")), Ok(Some(5400)));
        assert_eq!(session_duration(&role("900s")), Ok(Some(900)));
        assert_eq!(session_duration(&ArgumentValues::default()), Ok(None));
        for wrong in ["15", "14m", "13h", "1d", "h", "-1h", "99999999999999999999h", "5124095576030432h", "1 h", "1é"]
        {
            assert!(session_duration(&role(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn element_returns_unescaped_text() {
        assert_eq!(element("<A><B>a&amp;lt;b</B></A>", "B"), Some("a&lt;b".to_owned()));
        assert_eq!(element("<B>x", "B"), None);
    }
}
