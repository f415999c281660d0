//! Arithmetic, printing and rounding compared with Terraform's console.
//!
//! Set `GROMA_TERRAFORM` to a terraform command to compare with; without it only the recorded results are checked.

use groma_value::number::Number;
use std::io::Write;
use std::process::{Command, Stdio};

/// How many expressions Terraform is asked for in one run.
const AT_ONCE: usize = 200;

/// An expression as text and as what we make of it; nothing where it is an error.
struct Case {
    text: String,
    ours: Option<Number>,
}

/// A small generator of the same cases every time.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn digits(&mut self, most: u64) -> String {
        let count = 1 + self.next(most);
        let mut digits: String = (0..count).map(|_| char::from(b'0' + self.next(10) as u8)).collect();
        if digits.starts_with('0') {
            digits.replace_range(..1, "7");
        }
        digits
    }

    fn literal(&mut self) -> Case {
        let text = match self.next(8) {
            0 | 1 => self.digits(2),
            2 => self.digits(20),
            3 => format!("{}.{}", self.digits(3), self.digits(3)),
            4 => format!("0.{}{}", "0".repeat(self.next(8) as usize), self.digits(25)),
            5 => format!("{}.{}e{}", self.digits(2), self.digits(4), self.next(300)),
            6 => format!("{}e-{}", self.digits(4), self.next(320)),
            _ => {
                let count = 1 + self.next(4) as usize;
                let text = format!("length([{}])", vec!["1"; count].join(","));
                return Case { text, ours: Some(Number::from(count)) };
            }
        };
        let ours = Number::parse(&text).ok();
        Case { text, ours }
    }

    fn case(&mut self, depth: u64) -> Case {
        if depth == 0 {
            return self.literal();
        }
        let a = self.case(depth - 1);
        let kind = self.next(12);
        if kind < 8 {
            let depth = self.next(depth);
            let b = self.case(depth);
            type Operation = fn(&Number, &Number) -> Option<Number>;
            let (sign, operation): (&str, Operation) = match kind {
                0 | 1 => ("+", Number::add),
                2 => ("-", Number::subtract),
                3 | 4 => ("*", Number::multiply),
                5 | 6 => ("/", Number::divide),
                _ => ("%", Number::modulo),
            };
            let ours = a.ours.zip(b.ours).and_then(|(a, b)| operation(&a, &b));
            return Case { text: format!("({} {sign} {})", a.text, b.text), ours };
        }
        match kind {
            8 => Case { text: format!("(-{})", a.text), ours: a.ours.map(|a| a.negate()) },
            9 => Case { text: format!("floor({})", a.text), ours: a.ours.map(|a| a.floor()) },
            10 => Case { text: format!("ceil({})", a.text), ours: a.ours.map(|a| a.ceil()) },
            _ => Case { text: format!("abs({})", a.text), ours: a.ours.map(|a| a.absolute()) },
        }
    }
}

/// The console's results for many expressions in one run.
fn ask(terraform: &str, expressions: &[String]) -> Vec<String> {
    let list: Vec<String> = expressions.iter().map(|text| format!("try(tostring({text}), \"error\")")).collect();
    // A folder of its own: configurations that lie about elsewhere would be read.
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/numbers");
    std::fs::create_dir_all(folder).expect("a folder");
    let mut console = Command::new(terraform)
        .arg("console")
        .current_dir(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .env_remove("TF_CLI_CONFIG_FILE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("terraform starts");
    let input = format!("jsonencode([{}])\n", list.join(","));
    console.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("terraform reads");
    let output = console.wait_with_output().expect("terraform ends");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let quoted: String = serde_json::from_str(text.trim()).unwrap_or_else(|_| panic!("no JSON: {text}"));
    serde_json::from_str(&quoted).expect("a list of strings")
}

fn compare(terraform: &str, what: &str, cases: &[Case]) {
    let texts: Vec<String> = cases.iter().map(|case| case.text.clone()).collect();
    let theirs: Vec<String> = texts.chunks(AT_ONCE).flat_map(|part| ask(terraform, part)).collect();
    assert_eq!(theirs.len(), cases.len());
    let mut different = 0;
    for (case, theirs) in cases.iter().zip(&theirs) {
        let ours = case.ours.as_ref().map_or_else(|| "error".to_owned(), Number::to_string);
        if ours != *theirs {
            different += 1;
            if different < 10 {
                eprintln!("{}\n  ours   {ours}\n  theirs {theirs}", case.text);
            }
        }
    }
    println!("\ncompared: {} {what}, {} the same, {different} different", cases.len(), cases.len() - different);
    assert_eq!(different, 0, "{different} of {} differ", cases.len());
}

fn terraform() -> Option<String> {
    let found = std::env::var("GROMA_TERRAFORM").ok().filter(|path| !path.is_empty());
    if found.is_none() {
        println!("skipped: no terraform");
    }
    found
}

#[test]
fn random_arithmetic_matches_terraform() {
    let Some(terraform) = terraform() else { return };
    let mut random = Random(20_261_121);
    let cases: Vec<Case> = (0..2_000)
        .map(|_| {
            let depth = 1 + random.next(3);
            random.case(depth)
        })
        .collect();
    compare(&terraform, "sums and products", &cases);
}

/// The same cases with the results that Terraform gave, so that something is checked where there is no Terraform.
/// With one, `GROMA_RECORD=1` writes them anew.
#[test]
fn recorded_arithmetic_matches_terraform() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/arithmetic.tsv");
    let mut random = Random(3);
    let cases: Vec<Case> = (0..250)
        .map(|_| {
            let depth = random.next(3);
            random.case(depth)
        })
        .collect();
    if let (Ok(_), Some(terraform)) = (std::env::var("GROMA_RECORD"), terraform()) {
        let texts: Vec<String> = cases.iter().map(|case| case.text.clone()).collect();
        let results = ask(&terraform, &texts);
        let lines: Vec<String> =
            texts.iter().zip(results).map(|(text, result)| format!("{text}\t{result}\n")).collect();
        std::fs::write(file, lines.concat()).expect("the file can be written");
    }
    let recorded = std::fs::read_to_string(file).expect("the recorded results");
    assert_eq!(recorded.lines().count(), cases.len());
    for (line, case) in recorded.lines().zip(&cases) {
        let ours = case.ours.as_ref().map_or_else(|| "error".to_owned(), Number::to_string);
        assert_eq!(line, format!("{}\t{ours}", case.text));
    }
}

#[test]
fn random_powers_and_logarithms_match_terraform() {
    let Some(terraform) = terraform() else { return };
    let mut random = Random(7);
    let cases: Vec<Case> = (0..600)
        .map(|_| {
            let (a, b) = (random.literal(), random.literal());
            let both = a.ours.as_ref().zip(b.ours.as_ref());
            if random.next(2) == 0 {
                let ours = both.and_then(|(a, b)| a.power(b));
                Case { text: format!("pow({}, {})", a.text, b.text), ours }
            } else {
                let ours = both.and_then(|(a, b)| a.logarithm(b));
                Case { text: format!("log({}, {})", a.text, b.text), ours }
            }
        })
        .collect();
    compare(&terraform, "powers and logarithms", &cases);
}

#[test]
fn parsed_numbers_match_terraform() {
    let Some(terraform) = terraform() else { return };
    let texts = [
        "1p3",
        "Inf",
        "-inf",
        "+5",
        ".5",
        "5.",
        " 5",
        "0x10",
        "1_000",
        "",
        "-0",
        "007",
        "1e5",
        "1E+5",
        "1e",
        "e5",
        ".",
        "-",
        "+",
        "--5",
        "0.10",
        "1.50e-3",
        "infinity",
        "NaN",
        "٣",
        "1e-400",
        "123456789012345678901234567890.123456789",
    ];
    let quoted: Vec<String> = texts.iter().map(|text| format!("tonumber({text:?})")).collect();
    let theirs = ask(&terraform, &quoted);
    for (text, theirs) in texts.iter().zip(theirs) {
        let ours = Number::parse(text).map_or_else(|_| "error".to_owned(), |number| number.to_string());
        assert_eq!(ours, theirs, "{text:?}");
    }
}
