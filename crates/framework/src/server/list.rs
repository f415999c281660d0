//! Listing of objects by the server.

use groma_provider::{Answer, ListRequest, ProviderDiagnostics};

use super::defaults::with_defaults;
use super::{Server, panic};

impl Server {
    pub(super) fn search(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        let list = self.types.known_list(&*self.definition, &request.type_name);
        let ready = list.and_then(|list| Ok((list, with_defaults(list.schema(), request.config)?)));
        match ready {
            Ok((list, config)) => {
                let request = ListRequest { config, ..request };
                panic::guard("list", || list.list(request), |problems| problems)
            }
            Err(problems) => Answer::ready(problems),
        }
    }
}
