//! The services of AWS that Groma calls.

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
    /// Amazon DynamoDB.
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
