//! The lock of shared runs in Consul, against a double of its API.

use std::sync::Mutex;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_backend::{Host, RemoteBackend, StoreError, registry};
use groma_state::StateErrorKind;
use groma_value::Value;
use serde_json::json;

use super::store::{Store, block};
use super::web::{Request, response, serve};

/// A double in which the session `s1` holds the lock. The info of its holder has these contents one after the other, and keeps the
/// last; none for a missing one.
fn held(infos: &'static [Option<&str>]) -> Store {
    let reads = Mutex::new(0);
    let answer = move |request: &Request| match request.target.split('?').next().unwrap_or_default() {
        "/v1/kv/state/.lock" => (200, json!([{"ModifyIndex": 1, "Session": "s1", "Value": null}])),
        "/v1/kv/state/.lockinfo" => {
            let mut reads = reads.lock().unwrap();
            let info = infos[(*reads).min(infos.len() - 1)];
            *reads += 1;
            match info {
                Some(info) => {
                    let value = STANDARD.encode(json!({"ID": "x", "Info": info, "Who": "them@there"}).to_string());
                    (200, json!([{"ModifyIndex": 1, "Value": value}]))
                }
                None => (404, json!(null)),
            }
        }
        "/v1/session/renew/s1" => (200, json!([])),
        _ => (500, json!(request.target)),
    };
    let port = serve(move |request| {
        let (status, body) = answer(&request);
        Some(response(status, &body.to_string()))
    });
    let address = Value::string(format!("http://127.0.0.1:{port}"));
    let config = block(&[("path", Value::string("state"))], &[("address", address)]);
    Store::open("consul", &config, &[]).unwrap()
}

const SHARED: &str = "consul session: s1, held by all runs of Groma that share this state";

const FORMER: &str = "consul session: s0, held by all runs of Groma that share this state";

#[test]
fn info_that_is_written_a_moment_after_the_lock_is_waited_for() {
    for infos in [&[None, Some(SHARED)][..], &[Some("consul session: s0"), Some(SHARED)]] {
        let store = held(infos);
        assert_eq!(store.lock_shared("default").map(|held| held.id), Ok("s1".to_owned()), "{infos:?}");
    }
}

#[test]
fn lock_of_another_program_is_not_shared() {
    // The second one took the lock after a shared session that had ended and has left its info.
    for infos in [&[None, Some("consul session: s1")][..], &[Some(FORMER), Some("consul session: s1")]] {
        let Err(StoreError::Locked { holder: Some(holder), .. }) = held(infos).lock_shared("default") else {
            panic!("the lock is shared: {infos:?}");
        };
        assert_eq!(holder.who, "them@there");
    }
    let Err(StoreError::Locked { holder: Some(holder), .. }) = held(&[None]).lock_shared("default") else {
        panic!("the lock is shared");
    };
    assert_eq!(holder.id, "s1");
}

#[test]
fn refused_document_is_an_error() {
    let port = serve(|_| Some(response(403, "\"Permission denied\"")));
    let ty = registry::find("consul").unwrap();
    let address = Value::string(format!("http://127.0.0.1:{port}"));
    let config = (ty.schema)().conform(&block(&[("path", Value::string("state"))], &[("address", address)])).unwrap();
    let backend = RemoteBackend::connect(ty, config, &Host::default()).unwrap();
    // Whether a state without a readable document is shared is decided above the store.
    let problem = backend.shared("default").unwrap().read_document().unwrap_err();
    assert_eq!(problem.kind, StateErrorKind::Denied, "{problem}");
}
