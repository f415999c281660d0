//! A double of object storage and of Tablestore of Alibaba Cloud.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use prost::Message;

use super::web::{Request, decoded, response, serve};

/// A row: its columns by name.
pub type Columns = BTreeMap<String, String>;

#[derive(Default)]
pub struct Shared {
    pub objects: BTreeMap<String, Vec<u8>>,
    /// The rows of the table "locks", by key.
    pub rows: BTreeMap<String, Columns>,
    /// The time of all objects, in the form of the header.
    pub modified: Option<String>,
    /// The answer to all requests for objects, if there is one: status, code, further elements.
    pub refusal: Option<(u16, &'static str, &'static str)>,
    /// The answer to all requests for rows, if there is one.
    pub table_refusal: Option<(u16, &'static str)>,
    /// How many requests for rows meet another one at the same row.
    pub row_conflicts: usize,
    /// How many answers to writes are lost.
    pub dropped_responses: usize,
    /// The headers of the last written object.
    pub written: String,
    /// The requests so far, without their queries.
    pub seen: Vec<String>,
}

#[derive(Clone)]
pub struct OssServer {
    pub port: u16,
    shared: Arc<Mutex<Shared>>,
}

impl OssServer {
    pub fn start() -> Self {
        let shared = Arc::<Mutex<Shared>>::default();
        let served = Arc::clone(&shared);
        let port = serve(move |request| {
            let mut shared = served.lock().unwrap();
            let path = request.target.split('?').next().unwrap_or_default();
            shared.seen.push(format!("{} {path}", request.method));
            let is_write = request.method == "PUT" || path.ends_with("Row") && !path.ends_with("GetRow");
            let answer =
                if request.header("x-ots-date").is_some() { shared.table(&request) } else { shared.storage(&request) };
            if is_write && shared.dropped_responses > 0 {
                shared.dropped_responses -= 1;
                return None;
            }
            Some(answer)
        });
        Self { port, shared }
    }

    pub fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn failure(status: u16, code: &str, more: &str) -> Vec<u8> {
    response(status, &format!("<Error><Code>{code}</Code><Message>no</Message>{more}</Error>"))
}

impl Shared {
    fn storage(&mut self, request: &Request) -> Vec<u8> {
        let signature = request.header("authorization").unwrap_or_default();
        if !signature.starts_with("OSS id:") || request.header("date").is_none() {
            return failure(403, "SignatureDoesNotMatch", "");
        }
        if let Some((status, code, more)) = self.refusal {
            return failure(status, code, more);
        }
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let path = decoded(path);
        let key = path.trim_start_matches('/').strip_prefix("states").unwrap_or_default().trim_start_matches('/');
        match (&*request.method, self.objects.get(key)) {
            ("GET", _) if key.is_empty() => self.list(query),
            ("GET" | "HEAD", None) => failure(404, "NoSuchKey", ""),
            ("HEAD", Some(bytes)) => head(bytes.len(), self.modified.as_deref()),
            ("GET", Some(bytes)) => [head(bytes.len(), self.modified.as_deref()), bytes.clone()].concat(),
            ("PUT", Some(_)) if request.header("x-oss-forbid-overwrite").is_some() => {
                failure(409, "FileAlreadyExists", "")
            }
            ("PUT", _) => {
                self.objects.insert(key.to_owned(), request.body.clone());
                self.written.clone_from(&request.headers);
                response(200, "")
            }
            _ => {
                self.objects.remove(key);
                response(204, "")
            }
        }
    }

    /// Pages of two objects each.
    fn list(&self, query: &str) -> Vec<u8> {
        let value = |name: &str| {
            let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            decoded(pair.unwrap_or_default())
        };
        let (prefix, marker) = (value("prefix"), value("marker"));
        let found: Vec<&String> = self
            .objects
            .keys()
            .filter(|key| key.starts_with(&prefix) && (marker.is_empty() || **key > marker))
            .collect();
        let contents: String =
            found.iter().take(2).map(|key| format!("<Contents><Key>{key}</Key></Contents>")).collect();
        let more = found.len() > 2;
        response(200, &format!("<ListBucketResult><IsTruncated>{more}</IsTruncated>{contents}</ListBucketResult>"))
    }

    fn table(&mut self, request: &Request) -> Vec<u8> {
        if let Some((status, code)) = self.table_refusal {
            return table_failure(status, code);
        }
        if self.row_conflicts > 0 {
            self.row_conflicts -= 1;
            return table_failure(409, "OTSRowOperationConflict");
        }
        let operation = request.target.trim_start_matches('/');
        if operation == "DescribeTable" {
            return binary(200, described());
        }
        let given = RowRequest::decode(&*request.body).unwrap();
        assert_eq!(given.table, "locks");
        let (key, columns) = decode_row(&given.row);
        if operation == "GetRow" {
            let row = self.rows.get(&key).map(|columns| encode_row(&key, columns));
            return binary(200, RowAnswer { consumed: Consumed::default(), row }.encode_to_vec());
        }
        let condition = RowCondition::decode(&*given.condition.unwrap_or_default()).unwrap();
        if !condition.holds(self.rows.get(&key)) {
            return table_failure(403, "OTSConditionCheckFail");
        }
        match operation {
            "PutRow" => self.rows.insert(key, columns),
            _ => self.rows.remove(&key),
        };
        binary(200, RowAnswer { consumed: Consumed::default(), row: None }.encode_to_vec())
    }
}

fn head(length: usize, modified: Option<&str>) -> Vec<u8> {
    let modified = modified.map(|time| format!("Last-Modified: {time}\r\n")).unwrap_or_default();
    format!(
        "HTTP/1.1 200 X\r\nDate: Sun, 29 Nov 2026 06:00:00 GMT\r\n{modified}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    )
    .into_bytes()
}

fn binary(status: u16, body: Vec<u8>) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.into_bytes(), body].concat()
}

fn table_failure(status: u16, code: &str) -> Vec<u8> {
    binary(status, Failure { code: code.to_owned(), message: "no".to_owned() }.encode_to_vec())
}

#[derive(Clone, PartialEq, Message)]
struct Failure {
    #[prost(string, required, tag = "1")]
    code: String,
    #[prost(string, required, tag = "2")]
    message: String,
}

/// `GetRow`, `PutRow` and `DeleteRow` have the same first fields. The third is bytes here, because it is another one in
/// `GetRow`.
#[derive(Clone, PartialEq, Message)]
struct RowRequest {
    #[prost(string, required, tag = "1")]
    table: String,
    #[prost(bytes = "vec", required, tag = "2")]
    row: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "3")]
    condition: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct RowCondition {
    #[prost(int32, required, tag = "1")]
    existence: i32,
    #[prost(message, optional, tag = "2")]
    column: Option<Filter>,
}

#[derive(Clone, PartialEq, Message)]
struct Filter {
    #[prost(int32, required, tag = "1")]
    kind: i32,
    #[prost(message, required, tag = "2")]
    filter: ColumnFilter,
}

#[derive(Clone, PartialEq, Message)]
struct ColumnFilter {
    #[prost(int32, required, tag = "1")]
    comparator: i32,
    #[prost(string, required, tag = "2")]
    name: String,
    #[prost(bytes = "vec", required, tag = "3")]
    value: Vec<u8>,
    #[prost(bool, required, tag = "4")]
    filter_if_missing: bool,
}

/// Go's client reads both numbers without asking whether they are there.
#[derive(Clone, PartialEq, Message)]
struct Capacity {
    #[prost(int32, required, tag = "1")]
    read: i32,
    #[prost(int32, required, tag = "2")]
    write: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Consumed {
    #[prost(message, required, tag = "1")]
    capacity: Capacity,
}

#[derive(Clone, PartialEq, Message)]
struct RowAnswer {
    #[prost(message, required, tag = "1")]
    consumed: Consumed,
    #[prost(bytes = "vec", optional, tag = "2")]
    row: Option<Vec<u8>>,
}

impl RowCondition {
    fn holds(&self, found: Option<&Columns>) -> bool {
        let exists = match self.existence {
            0 => true,
            1 => found.is_some(),
            _ => found.is_none(),
        };
        exists
            && self.column.as_ref().is_none_or(|column| {
                let filter = &column.filter;
                assert_eq!((column.kind, filter.comparator, filter.value[0]), (1, 1, 3), "equality with a string");
                let expected = text(&mut &filter.value[1..]);
                let column = found.and_then(|columns| columns.get(&filter.name));
                column.map_or(!filter.filter_if_missing, |column| *column == expected)
            })
    }
}

/// Returns the answer to `DescribeTable`, of which the peers read that there is a table.
fn described() -> Vec<u8> {
    #[derive(Clone, PartialEq, Message)]
    struct Key {
        #[prost(string, required, tag = "1")]
        name: String,
        #[prost(int32, required, tag = "2")]
        kind: i32,
    }
    #[derive(Clone, PartialEq, Message)]
    struct Meta {
        #[prost(string, required, tag = "1")]
        name: String,
        #[prost(message, repeated, tag = "2")]
        key: Vec<Key>,
    }
    #[derive(Clone, PartialEq, Message)]
    struct Throughput {
        #[prost(message, required, tag = "1")]
        capacity: Capacity,
        #[prost(int64, required, tag = "2")]
        increased: i64,
    }
    #[derive(Clone, PartialEq, Message)]
    struct Options {
        #[prost(int32, required, tag = "1")]
        lifetime: i32,
        #[prost(int32, required, tag = "2")]
        versions: i32,
        #[prost(int64, required, tag = "5")]
        deviation_seconds: i64,
    }
    #[derive(Clone, PartialEq, Message)]
    struct Described {
        #[prost(message, required, tag = "1")]
        meta: Meta,
        #[prost(message, required, tag = "2")]
        throughput: Throughput,
        #[prost(message, required, tag = "3")]
        options: Options,
        #[prost(int32, required, tag = "4")]
        status: i32,
    }
    let key = vec![Key { name: "LockID".to_owned(), kind: 2 }];
    Described {
        meta: Meta { name: "locks".to_owned(), key },
        throughput: Throughput { capacity: Capacity::default(), increased: 1 },
        // OpenTofu ends with a crash if an option is missing.
        options: Options { lifetime: -1, versions: 1, deviation_seconds: 86_400 },
        status: 1,
    }
    .encode_to_vec()
}

fn crc(begin: u8, bytes: &[u8]) -> u8 {
    let mut crc = begin;
    for byte in bytes {
        crc ^= byte;
        for _ in 0..8 {
            crc = if crc & 0x80 == 0 { crc << 1 } else { (crc << 1) ^ 7 };
        }
    }
    crc
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, after) = rest.split_at(count);
    *rest = after;
    taken
}

fn text(rest: &mut &[u8]) -> String {
    let length = u32::from_le_bytes(take(rest, 4).try_into().unwrap());
    String::from_utf8(take(rest, length as usize).to_vec()).unwrap()
}

/// Decodes a row, and checks all tags and checksums as the service does.
fn decode_row(bytes: &[u8]) -> (String, Columns) {
    let rest = &mut &bytes[..];
    assert_eq!(take(rest, 4), 0x75_u32.to_le_bytes());
    let (mut cells, mut row_crc, mut deleted) = (Vec::new(), 0, 0);
    loop {
        match take(rest, 1)[0] {
            1 | 2 => {}
            3 => {
                assert_eq!(take(rest, 1), [4], "the name of a cell");
                let name = text(rest);
                assert_eq!(take(rest, 1), [5], "the value of a cell");
                let length = u32::from_le_bytes(take(rest, 4).try_into().unwrap()) as usize;
                let value = take(rest, length);
                assert_eq!(value[0], 3, "a string");
                let cell_crc = crc(crc(0, name.as_bytes()), value);
                assert_eq!(take(rest, 2), [10, cell_crc], "the checksum of a cell");
                row_crc = crc(row_crc, &[cell_crc]);
                cells.push((name, text(&mut &value[1..])));
            }
            8 => deleted = 1,
            9 => {
                assert_eq!(*rest, [crc(row_crc, &[deleted])], "the checksum of the row");
                let (name, key) = cells.remove(0);
                assert_eq!(name, "LockID");
                return (key, cells.into_iter().collect());
            }
            other => panic!("the tag {other}"),
        }
    }
}

fn encode_row(key: &str, columns: &Columns) -> Vec<u8> {
    let mut bytes = 0x75_u32.to_le_bytes().to_vec();
    let mut row_crc = 0;
    let mut cell = |bytes: &mut Vec<u8>, name: &str, value: &str, time: Option<i64>| {
        let mut content = vec![3];
        content.extend((value.len() as u32).to_le_bytes());
        content.extend(value.as_bytes());
        bytes.extend([3, 4]);
        bytes.extend((name.len() as u32).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.push(5);
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(&content);
        let mut sum = crc(crc(0, name.as_bytes()), &content);
        if let Some(time) = time {
            bytes.push(7);
            bytes.extend(time.to_le_bytes());
            sum = crc(sum, &time.to_le_bytes());
        }
        bytes.extend([10, sum]);
        row_crc = crc(row_crc, &[sum]);
    };
    bytes.push(1);
    cell(&mut bytes, "LockID", key, None);
    bytes.push(2);
    for (name, value) in columns {
        cell(&mut bytes, name, value, Some(1_795_000_000_000));
    }
    bytes.extend([9, crc(row_crc, &[0])]);
    bytes
}
