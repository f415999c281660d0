//! Partitions: groups of regions with domains and accounts of their own.

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
