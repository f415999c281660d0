//! A double of a server for the backend `http`, with faults on demand.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value as Json;

use super::web::{Reply, Request, serve};

/// A server with one state and one lock.
#[derive(Clone)]
pub struct HttpServer {
    pub address: String,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
pub struct Shared {
    pub state: Option<Vec<u8>>,
    pub lock: Option<Json>,
    /// Methods in the order of their requests.
    pub requests: Vec<String>,
    pub faults: Faults,
    writes: u64,
}

/// A fault of the server.
#[derive(Default)]
pub struct Faults {
    /// The status of all writes.
    pub write_status: Option<u16>,
    /// The status of all reads.
    pub read_status: Option<u16>,
    /// How many answers to LOCK are lost after the lock was taken.
    pub dropped_locks: usize,
    /// Whether the server tells ETags, and obeys If-Match.
    pub has_etags: bool,
    /// Whether unlocking fails.
    pub keeps_lock: bool,
}

impl HttpServer {
    pub fn start() -> Self {
        let shared = Arc::<Mutex<Shared>>::default();
        let served = Arc::clone(&shared);
        let address = serve(move |request| served.lock().unwrap().answer(&request));
        Self { address, shared }
    }

    pub fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }

    /// Returns the stored state.
    pub fn state(&self) -> Json {
        serde_json::from_slice(self.shared().state.as_ref().expect("a state is stored")).unwrap()
    }

    /// Returns a backend block that uses the server with locks.
    pub fn backend(&self) -> String {
        let url = format!("http://{}/state", self.address);
        format!(
            "  backend \"http\" {{\n    address = \"{url}\"\n    lock_address = \"{url}\"\n    unlock_address = \"{url}\"\n    \
             retry_max = 0\n  }}"
        )
    }
}

impl Shared {
    fn answer(&mut self, request: &Request) -> Reply {
        self.requests.push(request.method.clone());
        match &*request.method {
            "GET" => self.get(),
            "POST" => self.post(request),
            "LOCK" => self.lock(request),
            "UNLOCK" => self.unlock(request),
            "DELETE" => {
                self.state = None;
                Reply::new(200, "")
            }
            _ => Reply::new(405, ""),
        }
    }

    fn tag(&self) -> String {
        format!("\"{}\"", self.writes)
    }

    fn get(&self) -> Reply {
        if let Some(status) = self.faults.read_status {
            return Reply::new(status, "no reading today");
        }
        match &self.state {
            None => Reply::new(404, ""),
            Some(state) if self.faults.has_etags => Reply::new(200, state.clone()).with("ETag", self.tag()),
            Some(state) => Reply::new(200, state.clone()),
        }
    }

    fn post(&mut self, request: &Request) -> Reply {
        if let Some(status) = self.faults.write_status {
            return Reply::new(status, "no writing today");
        }
        let held = self.lock.as_ref().and_then(|lock| lock["ID"].as_str());
        if held.is_some() && held != request.query("ID") {
            return Reply::new(409, "locked by another run");
        }
        assert_eq!(request.header("Content-Type"), Some("application/json"));
        assert_eq!(request.header("Content-MD5"), Some(&*digest(&request.body)));
        let is_other = request.header("If-Match").is_some_and(|tag| tag != self.tag());
        if self.faults.has_etags && is_other {
            return Reply::new(412, "");
        }
        self.state = Some(request.body.clone());
        self.writes += 1;
        let reply = Reply::new(200, "");
        if self.faults.has_etags { reply.with("ETag", self.tag()) } else { reply }
    }

    fn lock(&mut self, request: &Request) -> Reply {
        if let Some(lock) = &self.lock {
            return Reply::new(423, lock.to_string());
        }
        self.lock = Some(serde_json::from_slice(&request.body).unwrap());
        let is_dropped = self.faults.dropped_locks > 0;
        self.faults.dropped_locks = self.faults.dropped_locks.saturating_sub(1);
        Reply { is_dropped, ..Reply::new(200, "") }
    }

    fn unlock(&mut self, request: &Request) -> Reply {
        if self.faults.keeps_lock {
            return Reply::new(500, "the lock is stuck");
        }
        // Terraform's force-unlock sends no body.
        let given: Option<Json> = serde_json::from_slice(&request.body).ok();
        let is_other = match (&self.lock, given) {
            (Some(lock), Some(given)) => lock["ID"] != given["ID"],
            _ => false,
        };
        if is_other {
            return Reply::new(409, self.lock.as_ref().map_or(String::new(), Json::to_string));
        }
        self.lock = None;
        Reply::new(200, "")
    }

    /// Replaces the state as another program would.
    pub fn overwrite(&mut self, change: impl FnOnce(&mut Json)) {
        let mut state: Json = serde_json::from_slice(self.state.as_ref().unwrap()).unwrap();
        change(&mut state);
        self.state = Some(state.to_string().into_bytes());
        self.writes += 1;
    }
}

fn digest(bytes: &[u8]) -> String {
    use base64::Engine;
    use md5::Digest;
    base64::engine::general_purpose::STANDARD.encode(md5::Md5::digest(bytes))
}
