//! Searching for objects.

use groma_provider::{Answer, ListRequest, ProviderDiagnostics};

use super::{Server, panic};

impl Server {
    pub(super) fn search(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        match self.types.known_list(&*self.definition, &request.type_name) {
            Ok(list) => panic::guard("list", || list.list(request), |problems| problems),
            Err(problems) => Answer::ready(problems),
        }
    }
}
