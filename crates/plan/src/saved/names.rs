//! Names of actions and modes in a saved plan.

use crate::action::Action;
use crate::plan::Mode;

const ACTIONS: [(Action, &str); 9] = [
    (Action::NoOp, "no-op"),
    (Action::Create, "create"),
    (Action::Read, "read"),
    (Action::Update, "update"),
    (Action::Delete, "delete"),
    (Action::DeleteThenCreate, "delete-then-create"),
    (Action::CreateThenDelete, "create-then-delete"),
    (Action::Forget, "forget"),
    (Action::ForgetThenCreate, "forget-then-create"),
];

pub(super) fn action_name(action: Action) -> &'static str {
    ACTIONS.iter().find(|(known, _)| *known == action).map_or("no-op", |(_, name)| name)
}

pub(super) fn action_of(name: &str) -> Option<Action> {
    ACTIONS.iter().find(|(_, known)| *known == name).map(|(action, _)| *action)
}

const MODES: [(Mode, &str); 3] =
    [(Mode::Normal, "normal"), (Mode::Destroy, "destroy"), (Mode::RefreshOnly, "refresh-only")];

pub(super) fn mode_name(mode: Mode) -> &'static str {
    MODES.iter().find(|(known, _)| *known == mode).map_or("normal", |(_, name)| name)
}

pub(super) fn mode_of(name: &str) -> Option<Mode> {
    MODES.iter().find(|(_, known)| *known == name).map(|(mode, _)| *mode)
}
