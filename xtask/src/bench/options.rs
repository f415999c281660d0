//! Command-line options of `bench`.

use std::path::PathBuf;

use super::shapes::Shape;

/// The help text for the options.
pub const HELP: &str = "\
options of bench:
  --shapes=A,B        of count, blocks, chain, modules (all)
  --sizes=N,M         numbers of instances (1000,10000,100000)
  --peer-sizes=N,M    sizes that Terraform is measured at, too (1000); it is GROMA_TERRAFORM, or terraform on PATH
  --runs=N            runs of each measurement, of which the minimum counts (3)
  --program=PATH      measure this executable instead of building one
  --quick             sizes 100 and 1000, one run, no libraries
  --states            only remote and shared states
  --cloud             only the Cloud Control provider: its schemas, and runs against the emulator (four minutes)
  --deep              also apply configurations whose dependency lists make state files of gigabytes";

/// The options of a measurement.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// The configuration shapes to measure.
    pub shapes: Vec<Shape>,
    /// The numbers of instances, ascending.
    pub sizes: Vec<usize>,
    /// The numbers of instances that Terraform is measured at, too.
    pub peer_sizes: Vec<usize>,
    /// The number of runs, of which the minimum counts.
    pub runs: usize,
    /// The executable to measure instead of building one.
    pub program: Option<PathBuf>,
    /// The amount of measurements.
    pub extent: Extent,
}

/// The amount of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Commands only.
    Quick,
    /// Commands and libraries.
    Usual,
    /// Also those that take gigabytes.
    Deep,
    /// Only those of remote and shared states.
    States,
    /// Only those of the Cloud Control provider.
    Cloud,
}

impl Options {
    /// Parses the arguments after `bench`.
    ///
    /// # Errors
    ///
    /// An unknown option or an invalid value.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            shapes: Shape::ALL.to_vec(),
            sizes: vec![1_000, 10_000, 100_000],
            peer_sizes: vec![1_000],
            runs: 3,
            program: None,
            extent: Extent::Usual,
        };
        // `--quick` only changes the defaults, so that explicit options win regardless of their order.
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
                    options.runs = runs.ok_or_else(|| format!("--runs requires a positive number, not {value:?}"))?;
                }
                "--program" if !value.is_empty() => options.program = Some(PathBuf::from(value)),
                "--quick" => {}
                "--deep" => options.extent = Extent::Deep,
                "--states" => options.extent = Extent::States,
                "--cloud" => options.extent = Extent::Cloud,
                _ => return Err(format!("unexpected argument {argument:?}\n{HELP}")),
            }
        }
        Ok(options)
    }
}

fn shapes(value: &str) -> Result<Vec<Shape>, String> {
    let shape = |name| Shape::from_name(name).ok_or_else(|| format!("unknown shape {name:?}\n{HELP}"));
    value.split(',').map(shape).collect()
}

fn numbers(name: &str, value: &str) -> Result<Vec<usize>, String> {
    let number = |text: &str| {
        let number = text.replace('_', "").parse().ok().filter(|size| *size > 0);
        number.ok_or_else(|| format!("{name} requires positive numbers, not {text:?}"))
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
    fn options_are_parsed() {
        let options = parse(&["--shapes=blocks,count", "--sizes=10_000,1000", "--peer-sizes=", "--runs=2"]).unwrap();
        assert_eq!(options.shapes, [Shape::Blocks, Shape::Count]);
        assert_eq!(options.sizes, [1_000, 10_000]);
        assert!(options.peer_sizes.is_empty());
        assert_eq!(options.runs, 2);
    }

    #[test]
    fn quick_keeps_explicit_options_in_any_order() {
        for arguments in [["--sizes=7", "--quick"], ["--quick", "--sizes=7"]] {
            let options = parse(&arguments).unwrap();
            assert_eq!((options.sizes, options.runs, options.extent), (vec![7], 1, Extent::Quick));
        }
    }

    #[test]
    fn invalid_options_are_errors() {
        for slip in ["--shapes=ring", "--sizes=many", "--runs=0", "--program", "--sizes=0", "fast"] {
            assert!(parse(&[slip]).is_err(), "{slip}");
        }
    }
}
