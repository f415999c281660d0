//! The Security Token Service of AWS, which lends keys to who may take a role on.

use groma_diagnostics::io_reason;

use super::aws_signature::signed;
use super::given::Given;
use super::network::{AwsKeys, Network, NetworkRequest, Way, or_variable, refusal};

/// What a session is called that nobody has named.
const SESSION: &str = "groma";

/// How long a role may be taken on, in seconds.
const SHORTEST: u64 = 15 * 60;
const LONGEST: u64 = 12 * 60 * 60;

/// The service that lends keys.
pub(super) struct Lender<'a> {
    pub(super) region: &'a str,
    /// Its address, where that is not the usual one of the region.
    pub(super) place: Option<&'a str>,
    pub(super) network: &'a dyn Network,
    pub(super) way: &'a Way,
}

impl Lender<'_> {
    pub(super) fn for_role(&self, role: &Given, keys: &AwsKeys) -> Result<AwsKeys, String> {
        let mut fields = session(role, role.text("session_name"), &role.needed("role_arn")?)?;
        fields.extend(role.text("external_id").map(|id| ("ExternalId".to_owned(), id)));
        for (at, (key, value)) in (1..).zip(role.map("tags")) {
            fields.push((format!("Tags.member.{at}.Key"), key));
            fields.push((format!("Tags.member.{at}.Value"), value));
        }
        for (at, key) in (1..).zip(role.texts("transitive_tag_keys")) {
            fields.push((format!("TransitiveTagKeys.member.{at}"), key));
        }
        lent(&self.ask("AssumeRole", fields, Some(keys))?)
    }

    pub(super) fn for_web_identity(&self, role: &Given) -> Result<AwsKeys, String> {
        let named = |name: &str, variable: &str| or_variable(role.text(name), self.network, &[variable]);
        let lacking = |name: &str| format!("assume_role_with_web_identity has no {name}");
        let arn = named("role_arn", "AWS_ROLE_ARN").ok_or_else(|| lacking("role_arn"))?;
        let token = match named("web_identity_token", "AWS_WEB_IDENTITY_TOKEN") {
            Some(token) => token,
            None => {
                let path = named("web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE");
                let path = path.ok_or_else(|| lacking("web_identity_token"))?;
                std::fs::read_to_string(&path).map_err(|problem| {
                    format!("the file {path:?} cannot be read: {problem}", problem = io_reason(&problem))
                })?
            }
        };
        let mut fields = session(role, named("session_name", "AWS_ROLE_SESSION_NAME"), &arn)?;
        fields.push(("WebIdentityToken".to_owned(), token.trim().to_owned()));
        lent(&self.ask("AssumeRoleWithWebIdentity", fields, None)?)
    }

    /// The number of the account that the keys belong to.
    pub(super) fn account(&self, keys: &AwsKeys) -> Result<String, String> {
        let answer = self.ask("GetCallerIdentity", Vec::new(), Some(keys))?;
        element(&answer, "Account").ok_or_else(|| "the Security Token Service names no account".to_owned())
    }

    fn ask(&self, action: &str, more: Vec<(String, String)>, keys: Option<&AwsKeys>) -> Result<String, String> {
        let domain = if self.region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        let place = self.place.map_or_else(|| format!("https://sts.{}.{domain}/", self.region), str::to_owned);
        // What is signed has a path, and what is sent the same one.
        let place = if place.matches('/').count() < 3 { format!("{place}/") } else { place };
        let mut fields = vec![("Action", action), ("Version", "2011-06-15")];
        fields.extend(more.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let request = NetworkRequest::form(place, &fields);
        let request = match keys {
            Some(keys) => signed(request, "sts", self.region, keys)?,
            None => request,
        };
        let answer = self.network.send(&request, self.way)?;
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        if (200..300).contains(&answer.status) {
            return Ok(body);
        }
        let why = element(&body, "Message").or_else(|| element(&body, "Code"));
        Err(format!("the role cannot be taken on: {}", refusal(answer.status, why.as_deref())))
    }
}

/// What every way of taking on a role says.
fn session(role: &Given, name: Option<String>, arn: &str) -> Result<Vec<(String, String)>, String> {
    let name = name.unwrap_or_else(|| SESSION.to_owned());
    let mut fields = vec![("RoleArn".to_owned(), arn.to_owned()), ("RoleSessionName".to_owned(), name)];
    fields.extend(duration(role)?.map(|seconds| ("DurationSeconds".to_owned(), seconds.to_string())));
    fields.extend(role.text("policy").map(|policy| ("Policy".to_owned(), policy)));
    for (at, arn) in (1..).zip(role.texts("policy_arns")) {
        fields.push((format!("PolicyArns.member.{at}.arn"), arn));
    }
    Ok(fields)
}

/// How long the role is taken on, in seconds.
pub(super) fn duration(role: &Given) -> Result<Option<u64>, String> {
    let Some(text) = role.text("duration") else { return Ok(None) };
    let wrong = || format!("duration is from 15m to 12h, as in \"1h\" or \"1h30m\", not {text:?}");
    let mut seconds = 0_u64;
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, after) = rest.split_at(end);
        let unit = match after.chars().next() {
            Some('h') => 3600,
            Some('m') => 60,
            Some('s') => 1,
            _ => return Err(wrong()),
        };
        let number: u64 = number.parse().map_err(|_| wrong())?;
        seconds = number.checked_mul(unit).and_then(|more| seconds.checked_add(more)).ok_or_else(wrong)?;
        rest = &after[1..];
    }
    if (SHORTEST..=LONGEST).contains(&seconds) { Ok(Some(seconds)) } else { Err(wrong()) }
}

/// The keys in an answer.
fn lent(answer: &str) -> Result<AwsKeys, String> {
    let part = |name: &str| element(answer, name).ok_or_else(|| format!("the Security Token Service lends no {name}"));
    Ok(AwsKeys { id: part("AccessKeyId")?, secret: part("SecretAccessKey")?, session: Some(part("SessionToken")?) })
}

/// The text of the first element of that name.
fn element(document: &str, name: &str) -> Option<String> {
    let (_, rest) = document.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    Some(plain.iter().fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain)))
}

#[cfg(test)]
mod tests {
    use super::super::given::GivenValue;
    use super::*;

    #[test]
    fn roles_are_taken_on_for_a_time_that_the_service_allows() {
        let role = |text: &str| Given::from_iter([("duration".to_owned(), GivenValue::Text(text.to_owned()))]);
        assert_eq!(duration(&role("1h30m")), Ok(Some(5400)));
        assert_eq!(duration(&role("900s")), Ok(Some(900)));
        assert_eq!(duration(&Given::default()), Ok(None));
        for wrong in ["15", "14m", "13h", "1d", "h", "-1h", "99999999999999999999h", "5124095576030432h", "1 h", "1é"]
        {
            assert!(duration(&role(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn texts_are_taken_out_of_elements() {
        assert_eq!(element("<A><B>a&amp;lt;b</B></A>", "B"), Some("a&lt;b".to_owned()));
        assert_eq!(element("<B>x", "B"), None);
    }
}
