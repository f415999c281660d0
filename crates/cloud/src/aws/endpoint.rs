//! Endpoints of services, and the two styles of S3 URLs.

use super::error::AwsError;
use super::service::{AwsService, Partition};
use crate::http::Url;

/// Variants of the endpoints of AWS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Variant {
    pub fips: bool,
    pub dual_stack: bool,
}

/// The position of the bucket in the URL of an S3 request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    /// In the host name where the bucket's name and the endpoint allow it, else in the path.
    #[default]
    Automatic,
    /// In the path, as most S3-compatible services expect.
    Path,
}

/// Returns the URL of a service of AWS in a region.
pub(super) fn default_url(service: AwsService, region: &str, variant: Variant) -> String {
    let partition = Partition::of_region(region);
    // S3 has its own pattern for variants, with "dualstack" as a label in front of the region.
    if service == AwsService::S3 {
        let fips = if variant.fips { "-fips" } else { "" };
        let dual_stack = if variant.dual_stack { ".dualstack" } else { "" };
        return format!("https://s3{fips}{dual_stack}.{region}.{}", partition.dns_suffix);
    }
    // "aws-global" is the pseudo-region of the legacy global endpoint.
    if service == AwsService::STS && region == "aws-global" {
        return "https://sts.amazonaws.com".to_owned();
    }
    // In GovCloud the ordinary endpoints of these services are the FIPS ones.
    let is_fips_anyway = partition.id == "aws-us-gov"
        && [AwsService::STS, AwsService::DYNAMODB].contains(&service)
        && !variant.dual_stack;
    let fips = if variant.fips && !is_fips_anyway { "-fips" } else { "" };
    let suffix = if variant.dual_stack { partition.dual_stack_suffix } else { partition.dns_suffix };
    format!("https://{}{fips}.{region}.{suffix}", service.endpoint_prefix)
}

/// Returns the region in which requests for `region` are signed.
pub(super) fn signing_region(region: &str) -> &str {
    if region == "aws-global" { "us-east-1" } else { region }
}

/// Builds the URL of a request: the endpoint, the bucket, the path and the query.
///
/// # Errors
/// Fails if the endpoint is no URL, or if the path has segments that HTTP clients remove.
pub(super) fn request_url(
    endpoint: &str,
    bucket: Option<(&str, Addressing)>,
    path: &str,
    query: &[(String, String)],
) -> Result<Url, AwsError> {
    let invalid = |reason: &dyn std::fmt::Display| {
        AwsError::Setting(format!("the endpoint {endpoint:?} is not a valid URL: {reason}; use https://HOST"))
    };
    let mut url = Url::parse(endpoint).map_err(|error| invalid(&error))?;
    let host = url.host_str().ok_or_else(|| invalid(&"it has no host"))?.to_owned();
    // URL parsers resolve these segments, so the request would address another object than the one that was signed.
    if path.split('/').any(|segment| [".", ".."].contains(&segment)) {
        return Err(AwsError::Setting(format!("the path {path:?} contains \".\" or \"..\", which HTTP cannot carry")));
    }
    // An endpoint may have a path, as S3-compatible services behind a gateway do.
    let mut prefix = url.path().trim_end_matches('/').to_owned();
    match bucket {
        Some((bucket, Addressing::Automatic)) if fits_host(bucket, &url) => {
            url.set_host(Some(&format!("{bucket}.{host}"))).map_err(|error| invalid(&error))?;
        }
        Some((bucket, _)) => {
            prefix.push('/');
            prefix.push_str(&encoded(bucket, Slash::Encoded));
        }
        None => {}
    }
    url.set_path(&format!("{prefix}/{}", encoded(path.trim_start_matches('/'), Slash::Kept)));
    if !query.is_empty() {
        let pairs = query
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name, Slash::Encoded), encoded(value, Slash::Encoded)));
        url.set_query(Some(&pairs.collect::<Vec<String>>().join("&")));
    }
    Ok(url)
}

/// Whether a bucket may be the first label of the host: certificates of S3 cover one label, and addresses have none.
fn fits_host(bucket: &str, endpoint: &Url) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let is_label = (3..=63).contains(&bucket.len())
        && bucket.chars().all(allowed)
        && !bucket.starts_with(['-', '.'])
        && !bucket.ends_with(['-', '.'])
        && !bucket.contains("..");
    // Wildcard certificates match one label only, so a bucket with dots would fail TLS verification in the host name.
    let dots_allowed = endpoint.scheme() == "http";
    // Addresses such as 127.0.0.1 and the name localhost have no subdomains.
    let is_name = endpoint.domain().is_some_and(|domain| domain != "localhost");
    is_label && is_name && (dots_allowed || !bucket.contains('.'))
}

/// Whether slashes separate segments or belong to a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    Kept,
    Encoded,
}

/// Percent-encodes everything but unreserved characters, as signatures require.
fn encoded(text: &str, slash: Slash) -> String {
    let mut result = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => result.push(char::from(byte)),
            b'/' if slash == Slash::Kept => result.push('/'),
            _ => result.push_str(&format!("%{byte:02X}")),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Variant = Variant { fips: false, dual_stack: false };
    const FIPS: Variant = Variant { fips: true, dual_stack: false };
    const DUAL: Variant = Variant { fips: false, dual_stack: true };
    const BOTH: Variant = Variant { fips: true, dual_stack: true };

    #[test]
    fn cc_48_endpoints_follow_partition_and_variant() {
        let cases = [
            (AwsService::CLOUD_CONTROL, "eu-west-1", PLAIN, "cloudcontrolapi.eu-west-1.amazonaws.com"),
            (AwsService::CLOUD_CONTROL, "us-gov-west-1", FIPS, "cloudcontrolapi-fips.us-gov-west-1.amazonaws.com"),
            (AwsService::CLOUD_CONTROL, "us-east-1", BOTH, "cloudcontrolapi-fips.us-east-1.api.aws"),
            // China has other domains for dual-stack endpoints.
            (AwsService::KMS, "cn-north-1", DUAL, "kms.cn-north-1.api.amazonwebservices.com.cn"),
            // Without "-fips": in GovCloud the ordinary endpoint is the FIPS one.
            (AwsService::STS, "us-gov-east-1", FIPS, "sts.us-gov-east-1.amazonaws.com"),
            (AwsService::STS, "us-east-2", FIPS, "sts-fips.us-east-2.amazonaws.com"),
            (AwsService::STS, "aws-global", PLAIN, "sts.amazonaws.com"),
            (AwsService::S3, "us-east-1", PLAIN, "s3.us-east-1.amazonaws.com"),
            (AwsService::S3, "us-west-2", BOTH, "s3-fips.dualstack.us-west-2.amazonaws.com"),
            (AwsService::DYNAMODB, "us-iso-east-1", PLAIN, "dynamodb.us-iso-east-1.c2s.ic.gov"),
        ];
        for (service, region, variant, host) in cases {
            assert_eq!(default_url(service, region, variant), format!("https://{host}"));
        }
    }

    #[test]
    fn bucket_is_in_the_host_only_where_that_works() {
        let url = |endpoint: &str, bucket: &str, style| {
            request_url(endpoint, Some((bucket, style)), "/a b/é.json", &[]).unwrap().to_string()
        };
        let aws = "https://s3.eu-west-1.amazonaws.com";
        let key = "a%20b/%C3%A9.json";
        assert_eq!(url(aws, "state", Addressing::Automatic), format!("https://state.s3.eu-west-1.amazonaws.com/{key}"));
        assert_eq!(url(aws, "state", Addressing::Path), format!("{aws}/state/{key}"));
        // Dots would break the certificate, and capital letters are no valid host name.
        assert_eq!(url(aws, "a.b.c", Addressing::Automatic), format!("{aws}/a.b.c/{key}"));
        assert_eq!(url(aws, "Old_One", Addressing::Automatic), format!("{aws}/Old_One/{key}"));
        assert_eq!(
            url("http://127.0.0.1:9000/x/", "state", Addressing::Automatic),
            format!("http://127.0.0.1:9000/x/state/{key}")
        );
    }

    #[test]
    fn queries_are_encoded_and_bad_paths_refused() {
        // In a query a slash is encoded, and a space is %20 rather than "+": the signature is computed over this form.
        let query = [("list-type".to_owned(), "2".to_owned()), ("prefix".to_owned(), "a/b c".to_owned())];
        let url = request_url("https://h", None, "", &query).unwrap();
        assert_eq!(url.as_str(), "https://h/?list-type=2&prefix=a%2Fb%20c");
        assert!(request_url("https://h", None, "a/../b", &[]).is_err());
        assert!(request_url("h", None, "/", &[]).unwrap_err().to_string().contains("https://HOST"));
    }
}
