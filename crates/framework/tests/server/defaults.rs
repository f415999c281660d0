//! Defaults of what is not planned (FW-16).

use std::sync::{Arc, Mutex};

use groma_framework::{
    ActionContext, Bundle, Lease, Maybe, Model, ModelAction, ModelDataSource, ModelEphemeralResource,
    ProviderDiagnostic, ReadContext,
};
use groma_provider::{
    ClientCapabilities, ConfigureRequest, InvokeActionRequest, OpenEphemeralRequest, Provider, ReadDataRequest,
};
use groma_value::{Type, Value};

use crate::support::{get, s};

#[derive(Model)]
struct Greeting {
    #[attribute(default = "hello")]
    word: Maybe<String>,
    #[block]
    ending: Option<Ending>,
}

#[derive(Model)]
struct Ending {
    #[attribute(default = "!")]
    sign: Maybe<String>,
}

impl Greeting {
    fn text(&self) -> String {
        let sign = self.ending.as_ref().and_then(|ending| ending.sign.known());
        format!("{}{}", self.word.known().map_or("-", String::as_str), sign.map_or("", String::as_str))
    }
}

#[derive(Clone, Default)]
struct Greeter(Arc<Mutex<Vec<String>>>);

impl ModelDataSource for Greeter {
    type Model = Greeting;

    async fn read(&self, config: Greeting, _: &mut ReadContext) -> Result<Greeting, ProviderDiagnostic> {
        Ok(config)
    }
}

impl ModelEphemeralResource for Greeter {
    type Model = Greeting;

    async fn open(&self, config: Greeting, _: &mut Lease) -> Result<Greeting, ProviderDiagnostic> {
        Ok(config)
    }
}

impl ModelAction for Greeter {
    type Model = Greeting;

    async fn invoke(&self, config: Greeting, _: &mut ActionContext) -> Result<(), ProviderDiagnostic> {
        self.0.lock().unwrap().push(config.text());
        Ok(())
    }
}

#[test]
fn fw_16_defaults_apply_outside_of_plans() {
    let greeter = Greeter::default();
    let heard = greeter.clone();
    let server = Bundle::new()
        .configured(move |settings: Greeting| {
            heard.0.lock().unwrap().push(settings.text());
            Ok(())
        })
        .data_source("test_greeting", greeter.clone())
        .ephemeral_resource("test_greeting", greeter.clone())
        .action("test_greeting", greeter.clone())
        .build()
        .unwrap();
    let ending = Value::object([("sign", Value::null(Type::String))]);
    let config = Value::object([("word", Value::null(Type::String)), ("ending", ending)]);
    let client_capabilities = ClientCapabilities::default();
    let type_name = groma_framework::Name::from("test_greeting");

    let request = ReadDataRequest {
        type_name: type_name.clone(),
        config: config.clone(),
        address: None,
        meta: Value::NULL,
        client_capabilities,
    };
    let read = server.read_data(request).wait().state;
    assert_eq!((get(&read, "word"), get(&get(&read, "ending"), "sign")), (s("hello"), s("!")));
    let request = OpenEphemeralRequest { type_name: type_name.clone(), config: config.clone(), client_capabilities };
    assert_eq!(get(&server.open_ephemeral(request).wait().result, "word"), s("hello"));
    let invoke = |config: &Value| {
        let (type_name, config) = (type_name.clone(), config.clone());
        let request = InvokeActionRequest { type_name, config, client_capabilities, progress: Arc::new(|_| ()) };
        assert!(server.invoke_action(request).wait().is_empty());
    };
    invoke(&config);
    // A default inside a block applies only where the block exists.
    invoke(&Value::object([("word", s("bye")), ("ending", Value::NULL)]));
    let request = ConfigureRequest { terraform_version: "1.15.5".to_owned(), config, client_capabilities };
    assert!(server.configure(request).wait().is_empty());
    assert_eq!(*greeter.0.lock().unwrap(), ["hello!", "bye", "hello!"]);
}
