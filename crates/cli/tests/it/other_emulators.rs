//! The Cloud Control provider against a third-party emulator: `ministack` of PyPI. It knows no schemas and returns what it was
//! sent, so it is a second opinion about the requests, not about the types.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Folder;
use crate::common::serving::KillOnDrop;

/// A running server, until the value is dropped.
struct Ministack {
    _process: KillOnDrop,
    address: String,
}

impl Ministack {
    /// Starts the server on a free port; `None` if it is not installed. `GROMA_PYTHON` names an interpreter that has it.
    fn start(folder: &Folder) -> Option<Self> {
        let python = std::env::var_os("GROMA_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
        let installed = Command::new(&python)
            .args(["-c", "import ministack"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !installed {
            eprintln!("skipped: ministack is not installed (pip install ministack)");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Command::new(&python)
            .args(["-m", "ministack"])
            .env("GATEWAY_PORT", port.to_string())
            .env("SERVICES", "cloudcontrol,sts")
            .current_dir(folder.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { _process: KillOnDrop(process), address: format!("127.0.0.1:{port}") };
        let begin = Instant::now();
        while std::net::TcpStream::connect(&server.address).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(60), "ministack does not listen");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(server)
    }
}

fn configuration(address: &str, team: &str) -> String {
    format!(
        r#"
provider "awscc" {{
  region     = "eu-central-1"
  access_key = "test"
  secret_key = "test"

  endpoints = {{
    cloudcontrolapi = "http://{address}"
    sts             = "http://{address}"
  }}
}}

resource "awscc_s3_bucket" "assets" {{
  bucket_name = "assets"
  tags        = [{{ key = "team", value = "{team}" }}, {{ key = "stage", value = "test" }}]

  versioning_configuration = {{
    status = "Enabled"
  }}
}}

resource "awscc_ssm_parameter" "bucket" {{
  name  = "/assets/bucket"
  type  = "String"
  value = awscc_s3_bucket.assets.bucket_name
}}
"#
    )
}

#[test]
fn objects_pass_their_lifecycle_in_an_emulator_of_others() {
    let folder = Folder::new();
    let Some(server) = Ministack::start(&folder) else { return };
    let empty = |what: &str| {
        let planned = folder.run(&["plan", "-detailed-exitcode"]);
        assert_eq!(planned.code, 0, "{what}\n{}{}", planned.out, planned.err);
    };
    folder.write("main.tf", &configuration(&server.address, "web"));
    let applied = folder.ok(&["apply", "-auto-approve"]);
    assert!(applied.contains("Resources: 2 added, 0 changed, 0 destroyed."), "{applied}");
    empty("created");

    folder.write("main.tf", &configuration(&server.address, "data"));
    let applied = folder.ok(&["apply", "-auto-approve"]);
    assert!(applied.contains("Resources: 0 added, 1 changed, 0 destroyed."), "{applied}");
    empty("updated");

    folder.ok(&["state", "rm", "awscc_s3_bucket.assets"]);
    let blocks = folder.ok(&["cloudcontrol", "adopt", "AWS::S3::Bucket"]);
    assert!(blocks.contains("id = \"assets\""), "{blocks}");
    folder.ok(&["import", "awscc_s3_bucket.assets", "assets"]);
    empty("imported");

    let destroyed = folder.ok(&["destroy", "-auto-approve"]);
    assert!(destroyed.contains("2 destroyed."), "{destroyed}");
}
