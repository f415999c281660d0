//! Measurement of language commands: loading a tree of thousands of files, and formatting megabytes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::measure::{Cost, measure};
use super::table::seconds;

/// The number of files in the tree, and per module.
const FILES: usize = 5_000;
const FILES_PER_MODULE: usize = 5;

/// The number of bytes to format, in files of a realistic, though large, size.
const BYTES: usize = 20_000_000;
const FILE: usize = 1_000_000;

/// Measures both commands, also with `peer` if there is one; returns a line for each.
///
/// # Errors
///
/// A command fails, or a file cannot be written.
pub fn lines(groma: &Path, peer: Option<&PathBuf>, runs: usize) -> Result<Vec<String>, String> {
    let tree = compared(groma, peer, runs, |program| {
        let folder = folder()?;
        write_tree(folder.path()).map_err(|error| format!("cannot write a tree of modules: {error}"))?;
        measure(program, &["get", "-no-color"], folder.path())?;
        measure(program, &["validate", "-no-color"], folder.path())
    })?;
    let layout = compared(groma, peer, runs, |program| {
        let folder = folder()?;
        write_layout(folder.path()).map_err(|error| format!("cannot write files to lay out: {error}"))?;
        measure(program, &["fmt", "-no-color", "-list=false"], folder.path())
    })?;
    Ok(vec![
        format!("`validate` of a module tree of {FILES} files: {} (aim: 1 s)", tree.describe("")),
        format!("`fmt` of {} MB: {}", BYTES / 1_000_000, layout.describe(" (aim: 30)")),
    ])
}

/// The minimum cost of several runs, and the cost of a single run of the peer.
struct Compared {
    own: Cost,
    peer: Option<Cost>,
}

impl Compared {
    fn describe(&self, aim: &str) -> String {
        let cost = |cost: Cost| {
            format!("{} s, CPU {} s, peak {:.0} MB", seconds(cost.wall), seconds(cost.cpu), cost.peak / 1e6)
        };
        let peer = self.peer.map_or_else(String::new, |peer| {
            let faster = peer.cpu / self.own.cpu.max(f64::EPSILON);
            format!("; Terraform {}: {faster:.0} times faster by the processor{aim}", cost(peer))
        });
        format!("{}{peer}", cost(self.own))
    }
}

fn compared(
    groma: &Path,
    peer: Option<&PathBuf>,
    runs: usize,
    run: impl Fn(&Path) -> Result<Cost, String>,
) -> Result<Compared, String> {
    let mut own = run(groma)?;
    for _ in 1..runs {
        own = own.min(run(groma)?);
    }
    Ok(Compared { own, peer: peer.map(|peer| run(peer)).transpose()? })
}

fn folder() -> Result<tempfile::TempDir, String> {
    tempfile::tempdir().map_err(|error| format!("cannot create a temporary directory: {error}"))
}

/// Writes a root module that calls modules, each of which calls ten more until all files are written.
fn write_tree(root: &Path) -> std::io::Result<()> {
    let modules = FILES / FILES_PER_MODULE;
    for number in 0..modules {
        let folder = if number == 0 { root.to_owned() } else { root.join(format!("modules/m{number}")) };
        std::fs::create_dir_all(&folder)?;
        let mut calls = String::new();
        for child in (number * 10 + 1..=number * 10 + 10).take_while(|child| *child < modules) {
            let from = if number == 0 { "./modules/" } else { "../" };
            // Writing to a string cannot fail.
            let _ = writeln!(
                calls,
                "module \"m{child}\" {{\n  source = \"{from}m{child}\"\n  name   = local.full_name\n}}\n"
            );
        }
        let default = if number == 0 { "  default = \"root\"\n" } else { "" };
        let texts = [
            ("main.tf", format!("locals {{\n  full_name = \"${{var.name}}-{number}\"\n}}\n\n{calls}")),
            ("variables.tf", format!("variable \"name\" {{\n  type = string\n{default}}}\n")),
            ("resources.tf", resources(number)),
            ("outputs.tf", String::from("output \"name\" {\n  value = terraform_data.first.output\n}\n")),
            ("versions.tf", String::from("terraform {\n  required_version = \">= 1.5\"\n}\n")),
        ];
        for (name, text) in texts {
            std::fs::write(folder.join(name), text)?;
        }
    }
    Ok(())
}

fn resources(number: usize) -> String {
    format!(
        "resource \"terraform_data\" \"first\" {{\n  input = local.full_name\n}}\n\nresource \"terraform_data\" \"second\" {{\n  \
         count = {}\n  input = {{\n    name = upper(terraform_data.first.output)\n    at   = count.index\n  }}\n}}\n",
        number % 4
    )
}

/// Writes files in which formatting must change every line.
fn write_layout(folder: &Path) -> std::io::Result<()> {
    for number in 0..BYTES / FILE {
        let mut text = String::with_capacity(FILE + 1_000);
        let mut block = 0;
        while text.len() < FILE {
            block += 1;
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "resource \"aws_instance\" \"server_{block}\" {{\n ami = data.aws_ami.image.id\n    instance_type=var.large?\"m5.xlarge\":\"t3.micro\"\n\
                 \x20 subnet_id   = aws_subnet.private[ {} ].id\n tags = merge( local.tags,{{\n Name=\"server-${{var.environment}}-{block}\"\n\
                 \x20  Owner   =   \"team-{}\" # who is called\n}} )\n  root_block_device {{\n volume_size = {}\n      encrypted = true\n }}\n}}\n\n",
                block % 3,
                block % 97,
                8 + block % 100,
            );
        }
        std::fs::write(folder.join(format!("file{number}.tf")), text)?;
    }
    Ok(())
}
