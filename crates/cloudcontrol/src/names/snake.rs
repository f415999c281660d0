//! Snake case as the existing provider has it, oddities included, so that configurations and state move over (CC-03).

/// Words that count as one although their capitals say otherwise.
const WORDS: [(&str, &str); 6] = [
    ("CloudFormation", "Cloudformation"),
    ("CloudFront", "Cloudfront"),
    ("CloudWatch", "Cloudwatch"),
    ("CNAMEs", "Cnames"),
    ("FSx", "Fsx"),
    ("OTel", "Otel"),
];

/// The snake case of a property or resource name: `VPCId` is `vpc_id`, `IPv6CidrBlock` is `i_pv_6_cidr_block`.
pub fn snake_case(name: &str) -> String {
    let mut joined = name.to_owned();
    for (word, one) in WORDS {
        if joined.contains(word) {
            joined = joined.replace(word, one);
        }
    }
    let characters: Vec<char> = joined.chars().collect();
    let mut snake = String::with_capacity(joined.len() + 8);
    for (index, &character) in characters.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|before| characters.get(before)).copied();
        let next = characters.get(index + 1).copied();
        push(&mut snake, previous, character, next);
    }
    snake
}

fn push(snake: &mut String, previous: Option<char>, character: char, next: Option<char>) {
    let (capital, low, digit) = classes(character);
    let (next_capital, next_low, next_digit) = next.map_or((false, false, false), classes);
    let lowered = character.to_ascii_lowercase();
    let boundary =
        (capital && next_low) || (low && (next_capital || next_digit)) || (digit && (next_capital || next_low));
    if !boundary {
        snake.push(if character.is_ascii_alphanumeric() { lowered } else { '_' });
        return;
    }
    if capital && previous.is_some_and(|previous| previous.is_ascii_uppercase()) {
        snake.push('_');
    }
    snake.push(lowered);
    if low || digit {
        snake.push('_');
    }
}

fn classes(character: char) -> (bool, bool, bool) {
    (character.is_ascii_uppercase(), character.is_ascii_lowercase(), character.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cc_03_attribute_names_are_those_of_the_existing_provider() {
        for (property, attribute) in [
            ("GlobalReplicationGroupDescription", "global_replication_group_description"),
            ("DBInstance", "db_instance"),
            ("VPCId", "vpc_id"),
            ("S3Bucket", "s3_bucket"),
            ("WebACL", "web_acl"),
            ("TopicARN", "topic_arn"),
            ("Route53", "route_53"),
            ("IPv6CidrBlock", "i_pv_6_cidr_block"),
            ("Ipv6CidrBlock", "ipv_6_cidr_block"),
            ("OAuth2CredentialProvider", "o_auth_2_credential_provider"),
            ("VPCs", "vp_cs"),
            ("IAMRoleARNs", "iam_role_ar_ns"),
            ("SSEKMSKeyId", "ssekms_key_id"),
            ("Log4jVersion", "log_4_j_version"),
            ("CloudFrontOriginAccessIdentity", "cloudfront_origin_access_identity"),
            ("", ""),
        ] {
            assert_eq!(snake_case(property), attribute, "{property}");
        }
    }
}
