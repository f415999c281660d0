//! Errors of stores, each with its summary, its cause and advice.

use groma_diagnostics::Diagnostic;
use thiserror::Error;

use crate::lock_info::{LockInfo, NAMELESS, go_time};
use crate::store::Version;

/// The failure of a store operation.
///
/// Callers decide on the variant, never on the text. No variant contains state content or credentials.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// A container of states is missing: a bucket, a table, a database schema. A missing state is not an error.
    #[error("{what} does not exist")]
    NotFound {
        /// The missing thing with its name: `The S3 bucket "states"`.
        what: String,
        /// Advice on creating it, or on the setting to check.
        advice: String,
    },
    /// The service knows the caller but refuses the action.
    #[error("access to {resource} is denied: {reason}")]
    AccessDenied {
        /// The resource of the refused request.
        resource: String,
        /// The missing permission in the service's terms (`s3:PutObject`), if it is known.
        permission: Option<String>,
        /// The service's reason.
        reason: String,
        /// Advice on obtaining the permission.
        advice: String,
    },
    /// The credentials are missing, expired or wrong.
    #[error("{service} does not accept the credentials: {reason}")]
    Unauthenticated {
        /// The service.
        service: String,
        /// The service's reason.
        reason: String,
        /// The places where credentials are configured.
        advice: String,
    },
    /// Another writer has replaced the state since it was read.
    #[error("{location} was changed by another writer")]
    Conflict {
        /// The location of the state.
        location: String,
        /// The version that is stored now, if the service returned it.
        found: Option<Version>,
    },
    /// Another run holds the lock.
    #[error("{reason}")]
    Locked {
        /// The holder's info, if the service keeps one.
        holder: Option<Box<LockInfo>>,
        /// The store's words: `state blob is already locked`.
        reason: String,
    },
    /// The lock to release has another ID.
    #[error("the lock ID {given:?} does not match the existing lock")]
    LockIdMismatch {
        /// The ID to release.
        given: String,
        /// The info of the existing lock, if the service keeps one.
        holder: Option<Box<LockInfo>>,
    },
    /// There is no lock to release.
    #[error("{location} is not locked")]
    NotLocked {
        /// The location of the state.
        location: String,
    },
    /// The run's own lock ended before the run did.
    #[error("the lock of {location} was lost: {reason}")]
    LockLost {
        /// The location of the state.
        location: String,
        /// The cause, as far as it is known.
        reason: String,
    },
    /// The service cannot be reached, or the connection broke.
    #[error("cannot reach {service}: {reason}")]
    Network {
        /// The service: a URL without credentials, or a host.
        service: String,
        /// The cause.
        reason: String,
    },
    /// The service answered with an unexpected failure.
    #[error("{service} failed to {action}: {reason}")]
    Service {
        /// The service: a URL without credentials, or a host.
        service: String,
        /// The failed action, as a verb phrase: `write the state`.
        action: String,
        /// The status and the reason of the service.
        reason: String,
    },
    /// A stored object is not what the store expects there.
    #[error("{location} is invalid: {reason}")]
    InvalidData {
        /// The location of the object.
        location: String,
        /// The defect.
        reason: String,
        /// Advice on repairing or replacing the object.
        advice: String,
    },
    /// The service refuses the size of the state.
    #[error("{location} is too large: {reason}")]
    TooLarge {
        /// The location of the state.
        location: String,
        /// The limit of the service.
        reason: String,
    },
    /// The value of a backend argument is invalid.
    #[error("invalid value for {argument:?}: {reason}")]
    InvalidArgument {
        /// The argument, with the attribute path for nested ones.
        argument: String,
        /// The rule that the value violates.
        reason: String,
    },
    /// The store does not support the operation.
    #[error("{operation} not supported")]
    Unsupported {
        /// The operation: `workspaces`.
        operation: String,
        /// The alternative.
        advice: String,
    },
}

impl StoreError {
    /// Returns the summary that people search for.
    pub fn summary(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "State storage not found",
            Self::AccessDenied { .. } => "Access to the state denied",
            Self::Unauthenticated { .. } => "Failed to authenticate to the state storage",
            Self::Conflict { .. } => "The state was changed by another run",
            Self::Locked { .. } => "Error acquiring the state lock",
            Self::LockIdMismatch { .. } | Self::NotLocked { .. } => "Failed to unlock state",
            Self::LockLost { .. } => "The state lock was lost",
            Self::Network { .. } => "State storage unreachable",
            Self::Service { .. } => "State storage request failed",
            Self::InvalidData { .. } => "Invalid state data",
            Self::TooLarge { .. } => "State too large for the storage",
            Self::InvalidArgument { .. } => "Invalid backend configuration",
            Self::Unsupported { .. } => "Operation not supported by the backend",
        }
    }

    /// Returns the sentences below the summary: the cause and the remedy.
    pub fn detail(&self) -> String {
        let cause = match self {
            Self::Locked { reason, .. } => format!("Error message: {reason}"),
            _ => sentence(&self.to_string()),
        };
        let advice = match self {
            Self::NotFound { advice, .. }
            | Self::Unauthenticated { advice, .. }
            | Self::InvalidData { advice, .. }
            | Self::Unsupported { advice, .. } => advice.clone(),
            Self::AccessDenied { permission, advice, .. } => match permission {
                Some(permission) => format!("The missing permission is {permission}. {advice}"),
                None => advice.clone(),
            },
            Self::Conflict { .. } => {
                "Nothing was overwritten. Another run wrote the state although this one had read it before. Run the \
                                      command again, so that it works with the current state."
                    .to_owned()
            }
            Self::Locked { holder, .. } => held_lock_advice(holder.as_deref()),
            Self::LockIdMismatch { holder, .. } => {
                let holder = holder.as_deref().map(lock_block).unwrap_or_default();
                format!("The lock was not released. Use the ID of the existing lock.{holder}")
            }
            Self::NotLocked { .. } => "There is nothing to unlock.".to_owned(),
            Self::LockLost { .. } => "Another run may have started meanwhile, so nothing more is written.".to_owned(),
            Self::Network { .. } => {
                "Check the address, the network and the proxy settings, then run the command again.".to_owned()
            }
            Self::Service { .. } | Self::TooLarge { .. } | Self::InvalidArgument { .. } => String::new(),
        };
        match advice.trim_end() {
            "" => cause,
            // The lines about a lock begin with an empty line, which replaces the space.
            paragraph if paragraph.starts_with('\n') => format!("{cause}{paragraph}"),
            sentences => format!("{cause} {sentences}"),
        }
    }

    /// Returns the error as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(self.summary(), self.detail())
    }

    /// Returns the error about a lock that this run held and another one holds now, or nobody.
    pub(crate) fn lock_loss(location: String, holder: Option<&LockInfo>) -> Self {
        let reason = match holder {
            Some(holder) if holder.id.is_empty() => "another lock without valid info has replaced it".to_owned(),
            Some(holder) => format!(
                "{} holds it now, since {} (operation {}, lock ID {})",
                holder.who,
                go_time(&holder.created),
                holder.operation,
                holder.id
            ),
            None => "somebody has released it".to_owned(),
        };
        Self::LockLost { location, reason }
    }

    /// Whether waiting may help, because another run holds the lock.
    pub fn is_held_lock(&self) -> bool {
        matches!(self, Self::Locked { .. })
    }
}

/// Checks the ID of a lock that is to be released. A lock without readable info can be released with any ID, because it has none.
///
/// # Errors
/// The lock has another ID.
pub(crate) fn check_lock_id(holder: LockInfo, id: &str) -> Result<(), StoreError> {
    match holder.id.is_empty() || holder.id == id {
        true => Ok(()),
        false => Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: Some(Box::new(holder)) }),
    }
}

/// Returns the text as a sentence, with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut text = groma_diagnostics::capitalized(text);
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

fn held_lock_advice(holder: Option<&LockInfo>) -> String {
    // Without valid info, the lines about the holder would be empty.
    let block = holder.filter(|holder| !holder.who.is_empty()).map(lock_block).unwrap_or_default();
    let force = match holder {
        Some(holder) if holder.id == NAMELESS => {
            format!(" If that run no longer exists, release it with force-unlock {NAMELESS}.")
        }
        Some(holder) => format!(" If that run no longer exists, release its lock with force-unlock {}.", holder.id),
        None => String::new(),
    };
    format!(
        "{block}\n\nThe lock keeps two runs from overwriting each other's changes. Wait until the other run has ended, or let this \
         one wait with -lock-timeout=60s.{force}"
    )
}

/// Returns the lines about the holder of a lock, in the layout of Terraform and OpenTofu.
fn lock_block(info: &LockInfo) -> String {
    format!(
        "\n\nLock Info:\n  ID:        {}\n  Path:      {}\n  Operation: {}\n  Who:       {}\n  Version:   {}\n  Created:   {}\n  Info:      {}",
        info.id,
        info.path,
        info.operation,
        info.who,
        info.version,
        go_time(&info.created),
        info.info
    )
}
