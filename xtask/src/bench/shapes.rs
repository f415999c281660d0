//! Generated configurations with many instances of `terraform_data`.

use std::fmt::Write as _;
use std::path::Path;

/// The dependency structure of the instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A single block with `count`.
    Count,
    /// Blocks that each refer to two random earlier ones.
    Blocks,
    /// Blocks that each refer to the two preceding ones.
    Chain,
    /// Instances of a module with ten blocks.
    Modules,
}

impl Shape {
    /// All shapes, in the order of tables.
    pub const ALL: [Self; 4] = [Self::Count, Self::Blocks, Self::Chain, Self::Modules];

    /// Returns the name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Blocks => "blocks",
            Self::Chain => "chain",
            Self::Modules => "modules",
        }
    }

    /// Returns the shape named `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.name() == name)
    }

    /// Returns the largest number of instances that is applied without `--deep`.
    ///
    /// A state file lists for each instance all of its dependencies, including indirect ones. In a chain their number
    /// grows with the square of its length; among random blocks it is over a hundred per instance.
    pub const fn largest_applied(self) -> usize {
        match self {
            Self::Count | Self::Modules => usize::MAX,
            Self::Blocks => 10_000,
            Self::Chain => 1_000,
        }
    }

    /// Writes the configuration of `size` instances into `folder`.
    pub fn write(self, folder: &Path, size: usize) -> std::io::Result<()> {
        let write = |name: &str, text: String| std::fs::write(folder.join(name), text);
        match self {
            Self::Count => write("main.tf", repeated(size)),
            Self::Blocks => {
                let mut random = Random(1);
                write("main.tf", referring(size, |at| (random.below(at), random.below(at))))
            }
            Self::Chain => write("main.tf", referring(size, |at| (at - 1, at - 2))),
            Self::Modules => {
                write("main.tf", calling(size / 10))?;
                std::fs::create_dir(folder.join("ten"))?;
                write("ten/main.tf", ten())
            }
        }
    }
}

fn repeated(size: usize) -> String {
    format!("resource \"terraform_data\" \"many\" {{\n  count = {size}\n  input = count.index\n}}\n")
}

/// Generates blocks, each of which, except for the first two, refers to the two that `chosen` returns for its number.
fn referring(size: usize, mut chosen: impl FnMut(usize) -> (usize, usize)) -> String {
    let mut text = String::with_capacity(size * 110);
    for at in 0..size {
        let input = match at {
            0 | 1 => String::from("root"),
            _ => {
                let (one, other) = chosen(at);
                format!("${{terraform_data.r{one}.id}}-${{terraform_data.r{other}.id}}")
            }
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "resource \"terraform_data\" \"r{at}\" {{\n  input = \"{input}\"\n}}\n");
    }
    text
}

fn calling(instances: usize) -> String {
    format!("module \"tens\" {{\n  source = \"./ten\"\n  count  = {instances}\n  number = count.index\n}}\n")
}

fn ten() -> String {
    let mut text = String::from("variable \"number\" {\n  type = number\n}\n");
    for at in 0..10 {
        let _ = write!(text, "resource \"terraform_data\" \"r{at}\" {{\n  input = var.number\n}}\n");
    }
    text
}

/// A deterministic pseudorandom number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The high bits of a linear congruential generator are the more random ones.
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_refers_to_earlier_ones() {
        let mut random = Random(1);
        let text = referring(200, |at| (random.below(at), random.below(at)));
        for block in text.split("resource ").skip(3) {
            let numbers = block.split('r').filter_map(|part| {
                let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
                digits.parse::<usize>().ok()
            });
            let numbers: Vec<usize> = numbers.collect();
            let [own, one, other] = numbers[..] else { panic!("{block}: {numbers:?}") };
            assert!(one < own && other < own, "{block}");
        }
        assert_eq!(text.matches("resource ").count(), 200);
    }

    #[test]
    fn modules_have_as_many_instances_as_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        Shape::Modules.write(folder.path(), 1_000).unwrap();
        assert!(std::fs::read_to_string(folder.path().join("main.tf")).unwrap().contains("count  = 100\n"));
        let ten = std::fs::read_to_string(folder.path().join("ten/main.tf")).unwrap();
        assert_eq!(ten.matches("resource ").count(), 10);
    }
}
