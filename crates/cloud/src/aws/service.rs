//! The services of AWS that Groma calls, and the partitions of AWS that offer them.

/// A partition of AWS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The second part of ARNs.
    pub id: &'static str,
    /// The domain of endpoints.
    pub dns_suffix: &'static str,
    /// The domain of endpoints with IPv6 addresses.
    pub dual_stack_suffix: &'static str,
    /// The prefixes of its regions.
    region_prefixes: &'static [&'static str],
}

const PARTITIONS: [Partition; 8] = [
    Partition::new("aws-cn", "amazonaws.com.cn", "api.amazonwebservices.com.cn", &["cn-"]),
    Partition::new("aws-us-gov", "amazonaws.com", "api.aws", &["us-gov-"]),
    Partition::new("aws-iso", "c2s.ic.gov", "api.aws.ic.gov", &["us-iso-"]),
    Partition::new("aws-iso-b", "sc2s.sgov.gov", "api.aws.scloud", &["us-isob-"]),
    Partition::new("aws-iso-e", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk", &["eu-isoe-"]),
    Partition::new("aws-iso-f", "csp.hci.ic.gov", "api.aws.hci.ic.gov", &["us-isof-", "eu-isof-"]),
    Partition::new("aws-eusc", "amazonaws.eu", "api.amazonwebservices.eu", &["eusc-"]),
    // The empty prefix matches every region, so this one must be the last.
    Partition::new("aws", "amazonaws.com", "api.aws", &[""]),
];

impl Partition {
    const fn new(
        id: &'static str,
        dns_suffix: &'static str,
        dual_stack_suffix: &'static str,
        region_prefixes: &'static [&'static str],
    ) -> Self {
        Self { id, dns_suffix, dual_stack_suffix, region_prefixes }
    }

    /// Returns the partition of a region. Regions of unknown form are those of the main partition.
    pub fn of_region(region: &str) -> Self {
        let has = |partition: &&Self| partition.region_prefixes.iter().any(|prefix| region.starts_with(prefix));
        // The last one takes every region.
        PARTITIONS.iter().find(has).copied().unwrap_or(PARTITIONS[PARTITIONS.len() - 1])
    }
}

/// A service of AWS: its names in endpoints, signatures and settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AwsService {
    /// The name as people write it, for messages.
    pub title: &'static str,
    /// The first label of its host names.
    pub endpoint_prefix: &'static str,
    /// The name in the scope of signatures.
    pub signing_name: &'static str,
    /// The end of `AWS_ENDPOINT_URL_...`. In lower case it is the name in a `services` section of the shared
    /// configuration file, and the key in [`super::AwsSettings::endpoints`].
    pub settings_name: &'static str,
    /// The prefix of its actions in IAM policies.
    pub iam_prefix: &'static str,
}

impl AwsService {
    /// AWS Cloud Control API.
    pub const CLOUD_CONTROL: Self =
        Self::new("Cloud Control API", "cloudcontrolapi", "cloudcontrolapi", "CLOUDCONTROL", "cloudformation");
    /// Amazon DynamoDB, which stores the locks of the S3 backend.
    pub const DYNAMODB: Self = Self::new("DynamoDB", "dynamodb", "dynamodb", "DYNAMODB", "dynamodb");
    /// AWS Key Management Service.
    pub const KMS: Self = Self::new("KMS", "kms", "kms", "KMS", "kms");
    /// Amazon Simple Storage Service.
    pub const S3: Self = Self::new("S3", "s3", "s3", "S3", "s3");
    /// AWS IAM Identity Center.
    pub const SSO: Self = Self::new("SSO", "portal.sso", "awsssoportal", "SSO", "sso");
    /// AWS Security Token Service.
    pub const STS: Self = Self::new("STS", "sts", "sts", "STS", "sts");

    const fn new(
        title: &'static str,
        endpoint_prefix: &'static str,
        signing_name: &'static str,
        settings_name: &'static str,
        iam_prefix: &'static str,
    ) -> Self {
        Self { title, endpoint_prefix, signing_name, settings_name, iam_prefix }
    }

    /// Returns the environment variable that overrides the endpoint of this service.
    pub fn endpoint_variable(&self) -> String {
        format!("AWS_ENDPOINT_URL_{}", self.settings_name)
    }

    /// Returns the key of this service in settings.
    pub fn settings_key(&self) -> String {
        self.settings_name.to_ascii_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_belong_to_partitions() {
        let id = |region: &str| Partition::of_region(region).id;
        assert_eq!((id("eu-west-1"), id("cn-north-1"), id("us-gov-west-1")), ("aws", "aws-cn", "aws-us-gov"));
        assert_eq!(
            (id("us-iso-east-1"), id("us-isob-east-1"), id("eusc-de-east-1")),
            ("aws-iso", "aws-iso-b", "aws-eusc")
        );
        assert_eq!((id("us-east-1"), id("il-central-1")), ("aws", "aws"));
    }
}
