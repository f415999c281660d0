//! The keys with which AWS is asked: those of whoever asks, and of the roles that the configuration has it take on.

use super::aws_chain::Chain;
use super::aws_lender::{Lender, duration};
use super::given::{Argument, Given, Kind};
use super::network::{AwsKeys, Network, Way, or_variable};

/// The arguments of `assume_role`.
pub(super) const ROLE: &[Argument] = &[
    Argument::required("role_arn", Kind::Text),
    Argument::optional("duration", Kind::Text),
    Argument::optional("external_id", Kind::Text),
    Argument::optional("policy", Kind::Text),
    Argument::optional("policy_arns", Kind::Texts),
    Argument::optional("session_name", Kind::Text),
    Argument::optional("tags", Kind::Map),
    Argument::optional("transitive_tag_keys", Kind::Texts),
];

/// The arguments of `assume_role_with_web_identity`.
pub(super) const WEB_ROLE: &[Argument] = &[
    Argument::optional("role_arn", Kind::Text),
    Argument::optional("duration", Kind::Text),
    Argument::optional("policy", Kind::Text),
    Argument::optional("policy_arns", Kind::Texts),
    Argument::optional("session_name", Kind::Text),
    Argument::optional("web_identity_token", Kind::Text),
    Argument::optional("web_identity_token_file", Kind::Text),
];

/// The arguments of `endpoints`.
pub(super) const ENDPOINTS: &[Argument] =
    &[Argument::optional("sts", Kind::Text), Argument::optional("iam", Kind::NoEffect)];

/// The roles that are taken on one after the other, and the accounts that it may come to.
#[derive(Debug)]
pub(super) struct Roles {
    role: Option<Given>,
    web: Option<Given>,
    allowed: Vec<String>,
    forbidden: Vec<String>,
    region: Option<String>,
    place: Option<String>,
}

impl Roles {
    pub(super) fn new(given: &Given, network: &dyn Network) -> Result<Self, String> {
        let (allowed, forbidden) = (given.texts("allowed_account_ids"), given.texts("forbidden_account_ids"));
        if !allowed.is_empty() && !forbidden.is_empty() {
            return Err("allowed_account_ids and forbidden_account_ids exclude each other".to_owned());
        }
        let (role, web) = (given.object("assume_role"), given.object("assume_role_with_web_identity"));
        for role in role.iter().chain(&web) {
            duration(role)?;
        }
        if let Some(role) = role {
            role.needed("role_arn")?;
        }
        if web.is_some_and(|web| {
            web.text("web_identity_token").is_some() && web.text("web_identity_token_file").is_some()
        }) {
            return Err("web_identity_token and web_identity_token_file exclude each other".to_owned());
        }
        let named = given.object("endpoints").and_then(|endpoints| endpoints.text("sts"));
        let place = or_variable(named, network, &["AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"]);
        let place = place.map(|place| if place.contains("://") { place } else { format!("https://{place}") });
        let region = given.text("sts_region");
        Ok(Self { role: role.cloned(), web: web.cloned(), allowed, forbidden, region, place })
    }

    /// The keys with which a service is asked: those of whoever asks, or those that are lent for roles.
    pub(super) fn keys(
        &self,
        given: &Given,
        region: &str,
        network: &dyn Network,
        way: &Way,
    ) -> Result<AwsKeys, String> {
        let lender =
            Lender { region: self.region.as_deref().unwrap_or(region), place: self.place.as_deref(), network, way };
        let mut keys = match &self.web {
            Some(role) => lender.for_web_identity(role)?,
            None => Chain { given, network, lender: &lender }.keys()?,
        };
        if let Some(role) = &self.role {
            keys = lender.for_role(role, &keys)?;
        }
        if !self.allowed.is_empty() || !self.forbidden.is_empty() {
            self.check_account(&lender.account(&keys)?)?;
        }
        Ok(keys)
    }

    fn check_account(&self, account: &str) -> Result<(), String> {
        let is_in = |accounts: &[String]| accounts.iter().any(|one| one == account);
        if is_in(&self.forbidden) || (!self.allowed.is_empty() && !is_in(&self.allowed)) {
            return Err(format!("the account {account} of AWS is not one of those that may be used here"));
        }
        Ok(())
    }
}
