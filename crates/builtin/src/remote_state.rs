//! `terraform_remote_state`: declared, so that configurations with it can be checked, but not read yet.

use std::sync::{Arc, LazyLock};

use groma_provider::{
    Attribute, Block, Description, Name, NestedBlock, ProviderDiagnostic, ReadDataRequest, ReadDataResponse, Schema,
};
use groma_value::Type;

/// The name of the data source.
pub(crate) const TYPE_NAME: &str = "terraform_remote_state";

/// The schema: what Terraform 1.15 has, with our descriptions.
pub(crate) fn schema() -> &'static Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        let described = |attribute: Attribute, text: &str| attribute.described(Description::markdown(text));
        let block = Block::new(
            [
                ("backend", described(Attribute::required(Type::String), "The kind of backend that holds the state.")),
                ("config", described(Attribute::optional(Type::Dynamic), "The settings of the backend, as an object.")),
                (
                    "defaults",
                    described(Attribute::optional(Type::Dynamic), "Values for outputs that the state does not have."),
                ),
                (
                    "outputs",
                    described(Attribute::computed(Type::Dynamic), "The outputs of the root module, as an object."),
                ),
                ("workspace", described(Attribute::optional(Type::String), "The workspace whose state is read.")),
            ],
            std::iter::empty::<(Name, NestedBlock)>(),
        );
        Arc::new(Schema::new(block))
    });
    &SCHEMA
}

pub(crate) fn read(request: ReadDataRequest) -> ReadDataResponse {
    let diagnostic = ProviderDiagnostic::error(
        "Reading of remote state is not supported yet",
        "The data source terraform_remote_state cannot be read by this version. Pass the values in as input variables, or \
         publish them where another data source can read them.",
    );
    ReadDataResponse { state: request.config, deferred: None, diagnostics: diagnostic.into() }
}
