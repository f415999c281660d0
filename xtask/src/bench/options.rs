//! What the command line asks for.

use std::path::PathBuf;

use super::shapes::Shape;

/// The options, for people.
pub const HELP: &str = "\
options of bench:
  --shapes=A,B        of count, blocks, chain, modules (all)
  --sizes=N,M         numbers of instances (1000,10000,100000)
  --peer-sizes=N,M    sizes that Terraform is measured at, too (1000); it is GROMA_TERRAFORM, or terraform on PATH
  --runs=N            runs of everything, of which the least cost counts (3)
  --program=PATH      measure this program, and build none
  --quick             sizes 100 and 1000, one run, no libraries
  --deep              apply also where the lists of dependencies make state files of gigabytes";

/// What to measure.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// The shapes.
    pub shapes: Vec<Shape>,
    /// Numbers of instances, ascending.
    pub sizes: Vec<usize>,
    /// Sizes that the peer is measured at.
    pub peer_sizes: Vec<usize>,
    /// Runs of which the least cost counts.
    pub runs: usize,
    /// The program to measure, where none is to be built.
    pub program: Option<PathBuf>,
    /// What is left out.
    pub extent: Extent,
}

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Commands only.
    Quick,
    /// Commands and libraries.
    Usual,
    /// What takes gigabytes as well.
    Deep,
}

impl Options {
    /// Reads the arguments after `bench`.
    ///
    /// # Errors
    ///
    /// An option that there is not, or a value that does not fit.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            shapes: Shape::ALL.to_vec(),
            sizes: vec![1_000, 10_000, 100_000],
            peer_sizes: vec![1_000],
            runs: 3,
            program: None,
            extent: Extent::Usual,
        };
        // What else is said is said about these, wherever it stands.
        if arguments.iter().any(|argument| argument == "--quick") {
            options.sizes = vec![100, 1_000];
            options.runs = 1;
            options.extent = Extent::Quick;
        }
        for argument in arguments {
            let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
            match name {
                "--shapes" => options.shapes = shapes(value)?,
                "--sizes" => options.sizes = numbers(name, value)?,
                "--peer-sizes" => options.peer_sizes = numbers(name, value)?,
                "--runs" => {
                    let runs = value.parse().ok().filter(|runs| *runs > 0);
                    options.runs = runs.ok_or_else(|| format!("--runs wants a number, not {value:?}"))?;
                }
                "--program" if !value.is_empty() => options.program = Some(PathBuf::from(value)),
                "--quick" => {}
                "--deep" => options.extent = Extent::Deep,
                _ => return Err(format!("bench does not know {argument:?}\n{HELP}")),
            }
        }
        Ok(options)
    }
}

fn shapes(value: &str) -> Result<Vec<Shape>, String> {
    let shape = |name| Shape::named(name).ok_or_else(|| format!("no shape is called {name:?}\n{HELP}"));
    value.split(',').map(shape).collect()
}

fn numbers(name: &str, value: &str) -> Result<Vec<usize>, String> {
    let number = |text: &str| {
        let number = text.replace('_', "").parse().ok().filter(|size| *size > 0);
        number.ok_or_else(|| format!("{name} wants numbers, not {text:?}"))
    };
    let mut numbers = value.split(',').filter(|text| !text.is_empty()).map(number).collect::<Result<Vec<_>, _>>()?;
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = parse(&["--shapes=blocks,count", "--sizes=10_000,1000", "--peer-sizes=", "--runs=2"]).unwrap();
        assert_eq!(options.shapes, [Shape::Blocks, Shape::Count]);
        assert_eq!(options.sizes, [1_000, 10_000]);
        assert!(options.peer_sizes.is_empty());
        assert_eq!(options.runs, 2);
    }

    #[test]
    fn quick_leaves_what_is_said_wherever_it_stands() {
        for arguments in [["--sizes=7", "--quick"], ["--quick", "--sizes=7"]] {
            let options = parse(&arguments).unwrap();
            assert_eq!((options.sizes, options.runs, options.extent), (vec![7], 1, Extent::Quick));
        }
    }

    #[test]
    fn slips_are_told() {
        for slip in ["--shapes=ring", "--sizes=many", "--runs=0", "--program", "--sizes=0", "fast"] {
            assert!(parse(&[slip]).is_err(), "{slip}");
        }
    }
}
