//! Parsers of untrusted input never panic: runs the fuzz targets on mutated examples.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

use std::path::{Path, PathBuf};

/// Texts that are worth damaging, wherever they are wrong.
const EXAMPLES: &[&str] = &[
    "resource \"a\" \"b\" {\n  for_each = toset([\"x\"])\n  c = <<-E\n    ${each.key} %{ if true ~} y %{ endif }\n  E\n  lifecycle {\n    ignore_changes = [c]\n  }\n}\n",
    "variable \"a\" {\n  type = object({ x = optional(number, 1) })\n  validation {\n    condition = var.a.x > 0\n    error_message = \"no\"\n  }\n}\n",
    "a = { x = 1, y = [\"p\"] }\nb = \"text\"\n",
    "{\"resource\": {\"a\": {\"b\": [{\"c\": \"${1 + 1}\", \"count\": 2}]}}, \"//\": \"comment\"}",
    "{for k, v in {a = [1, u], b = s} : upper(k) => try(v[0], null)... if k != \"z\"}",
    "format(\"%05.2f|%q|%v\", 1.5, v, [for x in l : x * 2]) == \"${join(\",\", m[*].a)}\" ? o.a : e",
    "provider \"registry.example.com/a/b\" {\n  version = \"1.2.3\"\n  constraints = \"~> 1.2, != 1.2.1\"\n  hashes = [\n    \"h1:AAAA\",\n  ]\n}\n",
    "{\"Modules\":[{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"},{\"Key\":\"a.b\",\"Source\":\"../z\",\"Dir\":\"z\"}]}",
    "plugin_cache_dir = \"$HOME/x\"\nprovider_installation {\n  network_mirror {\n    url = \"https://example.com/\"\n    include = [\"example.com/*/*\"]\n  }\n  direct {}\n}\ncredentials \"example.com\" {\n  token = \"t\"\n}\nhost \"example.com\" {\n  services = { \"modules.v1\" = \"/m/\" }\n}\n",
    "git::ssh://git@example.com/a/b.git//sub/dir?ref=v1.2.3&depth=1",
    "hashicorp/consul/aws//modules/x",
    ">= 1.2.0-beta.1+x, ~> 1.2, != 1.4",
    "module.a[\"x\"].module.b[0].data.aws_x.y[\"k\"]",
    "module.a.provider[\"registry.terraform.io/hashicorp/aws\"].west",
    "a: &x {b: 1, <<: {c: 0o17}}\nd:\n  - *x\n  - !!str 2026-01-02\n  - |\n    text\n",
    "name,size\n\"a, b\",1\n\"c\"\"d\",2\n",
    "(?P<year>\\d{4})-[[:alpha:]]+(?i:x|y)*?\\pL$",
    "10.0.0.0/8",
    "a\u{1b}[8mb\u{9b}2Jc\u{202e}d\re\u{7f}f\r\n\u{1b}]0;title\u{7}",
    "{\"typeName\":\"A::B::C\",\"definitions\":{\"T\":{\"type\":\"object\",\"properties\":{\"Key\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"},\"Next\":{\"$ref\":\"#/definitions/T\"}}}},\"properties\":{\"Id\":{\"type\":\"string\"},\"Tags\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/definitions/T\"}}},\"readOnlyProperties\":[\"/properties/Id\"],\"primaryIdentifier\":[\"/properties/Id\"],\"oneOf\":[{\"required\":[\"Tags\"]}]}",
    "{\"header\":{\"format\":1,\"seed\":5}}\n{\"put\":{\"region\":\"eu-west-1\",\"type_name\":\"A::B::C\",\"identifier\":\"x\",\"model\":{\"Id\":\"x\"},\"at\":7}}\n",
    "{\"example.com/a/b\":{\"Protocol\":\"grpc\",\"ProtocolVersion\":6,\"Pid\":7,\"Test\":true,\"Addr\":{\"Network\":\"unix\",\"String\":\"/x\"}}}",
    "{\"CiphertextBlob\":\"c2VhbGVk\",\"Plaintext\":\"a2V5\",\"ciphertext\":\"c2VhbGVk\",\"plaintext\":\"a2V5\",\"data\":{\"ciphertext\":\"vault:v1:x\",\"plaintext\":\"a2V5\"},\"kid\":\"https://v/keys/k/7\",\"value\":\"a2V5\",\"tag\":\"AA\"}",
    "{\"ciphertext_blob\":\"c2VhbGVk\",\"encryption_context\":{\"a\":\"b\"},\"ciphertext\":\"dmF1bHQ6djE6eA==\",\"associated_data\":\"AA==\",\"iv\":null,\"authentication_tag\":\"AA==\",\"additional_authenticated_data\":\"\",\"key_version\":\"7\",\"algo\":\"A256GCM\"}",
    "{\"error\":{\"message\":\"no\"},\"errors\":[\"no\"],\"__type\":\"X\",\"error_description\":\"no\"}",
    "{\"serial\":1,\"lineage\":\"l\",\"meta\":{\"key_provider.fuzz.one\":\"e30=\"},\"encrypted_data\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==\",\"encryption_version\":\"v0\"}",
    "{\"version\":4,\"terraform_version\":\"1.15.5\",\"serial\":3,\"lineage\":\"x\",\"outputs\":{\"o\":{\"value\":[1],\"type\":[\"list\",\"number\"]}},\"resources\":[{\"mode\":\"managed\",\"type\":\"t\",\"name\":\"n\",\"provider\":\"provider[\\\"terraform.io/builtin/terraform\\\"]\",\"instances\":[{\"index_key\":0,\"schema_version\":0,\"attributes\":{\"id\":\"1\"},\"sensitive_attributes\":[],\"dependencies\":[\"t.m\"]}]}],\"check_results\":null}",
];

/// Answers of registries, mirrors and web pages.
const ANSWERS: &[&str] = &[
    "{\"providers.v1\":\"/v1/providers/\",\"modules.v1\":\"https://m.example.org/x\",\"login.v1\":{\"client\":\"c\",\"ports\":[10000,10010]}}",
    "{\"versions\":[{\"version\":\"1.2.3\",\"protocols\":[\"5.0\"]},{\"version\":\"2.0.0-beta1+x\"}],\"warnings\":[\"old\"]}",
    "{\"protocols\":[\"6.0\"],\"os\":\"linux\",\"arch\":\"amd64\",\"filename\":\"p.zip\",\"download_url\":\"../p.zip?x=1\",\"shasum\":\"aa\",\"shasums_url\":\"s\",\"shasums_signature_url\":\"s.sig\",\"signing_keys\":{\"gpg_public_keys\":[{\"ascii_armor\":\"x\"}]}}\u{c}0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef  p.zip\n\u{c}sig",
    "{\"versions\":{\"1.2.3\":{}}}",
    "{\"archives\":{\"linux_amd64\":{\"url\":\"p.zip\",\"hashes\":[\"h1:abc=\"]}}}",
    "{\"modules\":[{\"versions\":[{\"version\":\"1.0.0\"}]}]}",
    "{\"location\":\"./m.tar.gz//sub?archive=tar.gz\"}",
    "<html><head><meta name=\"terraform-get\" content='git::https://example.org/x.git//a?ref=v1&amp;depth=1'></head>",
    "{\"artifactType\":\"application/vnd.opentofu.modulepkg\",\"layers\":[{\"mediaType\":\"archive/zip\",\"digest\":\"sha256:00\",\"size\":3}],\"manifests\":[]}",
    "{\"tags\":[\"1.0.0\",\"2.0.0_x\"]}",
    "Bearer realm=\"https://auth.example.org/token\",service=\"s\",scope=\"repository:a/b:pull\"",
];

/// A small generator of choices, the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    /// The bytes with a few changes: some flipped, left out, doubled, or taken from another example.
    fn damaged(&mut self, bytes: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..1 + self.below(4) {
            let start = self.below(bytes.len() + 1);
            let end = (start + self.below(9)).min(bytes.len());
            let from = self.below(other.len() + 1);
            let taken = &other[from..(from + self.below(12)).min(other.len())];
            match self.below(5) {
                0 if start < bytes.len() => bytes[start] ^= 1 << self.below(8),
                1 => drop(bytes.drain(start..end)),
                2 => {
                    let doubled = bytes[start..end].to_vec();
                    bytes.splice(start..start, doubled);
                }
                3 => bytes.truncate(start),
                _ => drop(bytes.splice(start..end, taken.iter().copied())),
            }
        }
        bytes
    }
}

/// The examples, and the files that crates keep as fixtures of the formats in bytes.
fn corpus() -> Vec<Vec<u8>> {
    let mut corpus: Vec<Vec<u8>> = EXAMPLES.iter().chain(ANSWERS).map(|text| text.as_bytes().to_vec()).collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in ["state/src/file/fixtures", "lang/tests/templates", "install/tests/signatures", "cloud/tests/pfx"] {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(crates.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.is_file());
        paths.sort();
        corpus.extend(paths.iter().map(|path| std::fs::read(path).unwrap()));
    }
    let plan = plan_file();
    corpus.push(inside(&plan));
    corpus.extend([plan, zip_file(), tar_file(), schema_message()]);
    corpus.extend(journals());
    corpus.push(
        b"\x82\xa1a\x93\x01\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00\xa31.5\xa1b\x92\xa1x\x92\xc4\x08\"string\"\xa1y"
            .to_vec(),
    );
    corpus.push(b"\xc7\x09\x0c\x82\x01\xc2\x02\xa4pre-".to_vec());
    corpus.push(b"\xd4\x00\x00".to_vec());
    // A whole number as a float of 32 bits.
    corpus.push(b"\xca\xff\x01\x00\xff".to_vec());
    corpus
}

/// A package with a program, a folder and a link.
fn zip_file() -> Vec<u8> {
    use std::io::Write;
    use zip::write::SimpleFileOptions;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("terraform-provider-x", SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
    writer.write_all(b"a program").unwrap();
    writer.start_file("sub/main.tf", SimpleFileOptions::default()).unwrap();
    writer.write_all(b"locals {}\n").unwrap();
    writer.add_symlink("sub/link", "../terraform-provider-x", SimpleFileOptions::default()).unwrap();
    writer.finish().unwrap().into_inner()
}

/// A file and a link to it, each behind its header of 512 bytes.
fn tar_file() -> Vec<u8> {
    let entry = |name: &str, leads: &str, kind: u8, content: &[u8]| {
        let mut header = [0_u8; 512];
        let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
        put(0, name.as_bytes());
        put(100, b"0000644\0");
        put(124, format!("{:011o}\0", content.len()).as_bytes());
        put(148, b"        ");
        put(156, &[kind]);
        put(157, leads.as_bytes());
        put(257, b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let padding = vec![0; content.len().next_multiple_of(512) - content.len()];
        [&header, content, &padding].concat()
    };
    [entry("a/main.tf", "", b'0', b"locals {}\n"), entry("a/link", "main.tf", b'2', b""), vec![0; 1024]].concat()
}

/// The schema of a provider's type, as it is sent: version 1, a block with an attribute "id" of the type string.
fn schema_message() -> Vec<u8> {
    b"\x08\x01\x12\x14\x08\x01\x12\x10\x0a\x02id\x12\x08\"string\"\x30\x01".to_vec()
}

/// The plan file of a real run.
fn plan_file() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan");
    std::fs::write(folder.path().join("main.tf"), "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n").unwrap();
    let mut groma = std::process::Command::new(env!("CARGO_BIN_EXE_groma"));
    groma.args(["plan", "-out=plan"]).current_dir(folder.path()).env_remove("TF_CLI_CONFIG_FILE");
    assert!(groma.output().unwrap().status.success());
    std::fs::read(path).unwrap()
}

/// The plan proper in a plan file.
fn inside(plan: &[u8]) -> Vec<u8> {
    use std::io::Read;
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(plan)).unwrap();
    let mut bytes = Vec::new();
    archive.by_name("plan").unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn journals() -> Vec<Vec<u8>> {
    use groma_state::{LocalStore, Locking, StatePaths};
    let folder = tempfile::tempdir().unwrap();
    let paths = StatePaths::of_file(folder.path().join("terraform.tfstate"));
    let mut state = groma_state::file::read(EXAMPLES[EXAMPLES.len() - 1].as_bytes()).unwrap();
    let (mut store, _) = LocalStore::open(paths.clone(), "1.15.5", &Locking::Off, &|| false).unwrap();
    let journal = store.begin_run(&mut state).unwrap();
    let address = |text: &str| text.parse().unwrap();
    let provider = "provider[\"terraform.io/builtin/terraform\"]".parse().unwrap();
    let object = |id: &str| {
        let mut object =
            groma_state::ObjectRecord::new(0, groma_state::AttributesJson::new(format!("{{\"id\":\"{id}\"}}")));
        object.dependencies = groma_state::Dependencies::new(["t.m".parse().unwrap(), "t.l".parse().unwrap()]);
        groma_state::Outcome::Present(std::sync::Arc::new(object))
    };
    for name in ["t.a", "t.b[\"k\"]"] {
        journal.finished(&address(name), None, &provider, None, object(name)).unwrap();
    }
    journal.finished(&address("t.n[0]"), None, &provider, None, groma_state::Outcome::Gone).unwrap();
    journal.resolved(&address("t.c"), None).unwrap();
    journal.outputs(&state).unwrap();
    journal.sync().unwrap();
    let bytes = std::fs::read(paths.journal()).unwrap();
    assert!(!bytes.is_empty());
    vec![bytes]
}

#[test]
fn damaged_input_never_panics() {
    let turns = std::env::var("GROMA_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let corpus = corpus();
    for (index, (name, target)) in targets::TARGETS.iter().enumerate() {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ index as u64);
        for example in &corpus {
            target(example);
        }
        for turn in 0..turns * corpus.len() {
            let other = &corpus[random.below(corpus.len())];
            let bytes = random.damaged(&corpus[turn % corpus.len()], other);
            let outcome = std::panic::catch_unwind(|| target(&bytes));
            assert!(outcome.is_ok(), "{name} panics on {:?}", String::from_utf8_lossy(&bytes));
        }
    }
}
