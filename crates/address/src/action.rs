//! Instances of actions.

use std::fmt;

use crate::{InstanceKey, ModuleInstance, Name};

/// One instance of an `action` block in one instance of its module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ActionInstance {
    /// The module instance that contains the action.
    pub module: ModuleInstance,
    /// The action type: the block's first label.
    pub type_name: Name,
    /// The block's second label.
    pub name: Name,
    /// Index of `count`, key of `for_each`, or none.
    pub key: InstanceKey,
}

impl ActionInstance {
    /// Returns the displayed address within its module: `action.aws_x.y["k"]`.
    pub fn local(&self) -> String {
        format!("action.{}.{}{}", self.type_name, self.name, self.key)
    }
}

/// Formats the address as `module.a["x"].action.aws_x.y["k"]`.
impl fmt::Display for ActionInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        f.write_str(&self.local())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_actions_name_module_and_key() {
        let (type_name, name) = (Name::from("aws_x"), Name::from("y"));
        let mut action = ActionInstance { module: ModuleInstance::root(), type_name, name, key: InstanceKey::None };
        assert_eq!(action.to_string(), "action.aws_x.y");
        action.module = r#"module.a["x"]"#.parse().unwrap();
        action.key = 2.into();
        assert_eq!(action.to_string(), r#"module.a["x"].action.aws_x.y[2]"#);
        assert_eq!(action.local(), "action.aws_x.y[2]");
    }
}
