//! Measures scanner and parser on a generated file of 20 MB (or as many as the first argument says).
//!
//! `cargo run --release -p groma-hcl --example measure`

use std::fmt::Write as _;
use std::time::Instant;

use groma_diagnostics::Sources;

/// How often each is done; the quickest counts. On a machine that others use too, few of them have it to themselves.
const ROUNDS: usize = 15;

fn main() {
    let megabytes: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let text = generate(megabytes * 1_000_000);
    let size = text.len();
    let sources = Sources::new();
    let Some(file) = sources.add("generated.tf", text) else { return };
    let before = resident();

    let mut parsed = None;
    let first = timed(|| parsed = Some(groma_hcl::parse_file(&file)));
    let Some((tree, diagnostics)) = parsed else { return };
    let ratio = |bytes: usize| bytes as f64 / size as f64;
    println!("diagnostics: {}", diagnostics.len());
    println!("peak while parsing: {:.1} bytes a byte of text, the text included (aim: 8)", ratio(peak()));
    println!("tree: {:.1} bytes a byte of text", ratio(resident().saturating_sub(before)));
    // As the allocator has these at its upper end, it does not give the memory below back to the system: after this
    // the parser is measured, not the system.
    let last = vec![vec![1_u8; 100_000]; 50];
    println!("drop: {:.3} s", timed(|| drop(tree)));

    let speed = |seconds: f64| size as f64 / 1e6 / seconds;
    println!("tokenize: {:.0} MB/s", speed(best(ROUNDS, || drop(groma_hcl::tokenize(file.text())))));
    let mut trees = Vec::new();
    let mut parse = || {
        // The time to take the tree of the run before apart is shown above.
        trees.clear();
        timed(|| trees.push(groma_hcl::parse_file(&file)))
    };
    let again = (0..ROUNDS).map(|_| parse()).fold(f64::INFINITY, f64::min);
    println!("scan and parse: {:.0} MB/s (aim: 150)", speed(again));
    println!("the same in memory that the system gives while it runs: {:.0} MB/s", speed(first));
    println!("format: {:.0} MB/s", speed(best(1, || drop(groma_hcl::format(file.text())))));
    drop(last);
}

/// The shortest time in seconds of several runs.
fn best(runs: usize, mut work: impl FnMut()) -> f64 {
    (0..runs).map(|_| timed(&mut work)).fold(f64::INFINITY, f64::min)
}

/// Seconds that `work` takes: of the processor, where the system tells, so that a busy machine changes little.
fn timed(work: impl FnOnce()) -> f64 {
    let (start, begun) = (Instant::now(), processor_seconds());
    work();
    match (begun, processor_seconds()) {
        (Some(begun), Some(ended)) if ended > begun => ended - begun,
        _ => start.elapsed().as_secs_f64(),
    }
}

/// What this thread has had of the processor.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

fn generate(size: usize) -> String {
    let mut text = String::with_capacity(size + 2000);
    let mut number = 0;
    while text.len() < size {
        number += 1;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            r#"# Instance {number} of many.
resource "aws_instance" "server_{number}" {{
  ami                    = data.aws_ami.image.id
  instance_type          = var.large ? "m5.xlarge" : "t3.micro"
  subnet_id              = aws_subnet.private[{}].id
  vpc_security_group_ids = [aws_security_group.web.id, aws_security_group.ssh.id]
  count                  = {}

  tags = merge(local.tags, {{
    Name  = "server-${{var.environment}}-{number}"
    Owner = "team-{}"
  }})

  root_block_device {{
    volume_size = {}
    encrypted   = true
  }}
}}

"#,
            number % 3,
            number % 7,
            number % 97,
            8 + number % 100,
        );
    }
    text
}

/// Resident bytes of this process; zero where the system does not tell.
fn resident() -> usize {
    status("VmRSS:")
}

fn peak() -> usize {
    status("VmHWM:")
}

fn status(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or(0) * 1024
}
