//! Plans and applies N blocks in memory and prints the times: `scale SHAPE N`.
#[path = "../tests/support/mod.rs"]
mod support;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (shape, n) = (args[1].as_str(), args[2].parse::<usize>().unwrap());
    let mut text = String::new();
    let mut seed = 1u64;
    let mut rnd = |m: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % m
    };
    let mut child = None;
    match shape {
        "count" => {
            text.push_str(&format!("resource \"terraform_data\" \"a\" {{\n  count = {n}\n  input = count.index\n}}\n"))
        }
        "blocks" => {
            for i in 0..n {
                if i < 2 {
                    text.push_str(&format!("resource \"terraform_data\" \"r{i}\" {{ input = \"x\" }}\n"));
                } else {
                    text.push_str(&format!("resource \"terraform_data\" \"r{i}\" {{\n  input = \"${{terraform_data.r{}.id}}-${{terraform_data.r{}.id}}\"\n}}\n", rnd(i), rnd(i)));
                }
            }
        }
        "chain" => {
            for i in 0..n {
                if i < 2 {
                    text.push_str(&format!("resource \"terraform_data\" \"r{i}\" {{ input = \"x\" }}\n"));
                } else {
                    text.push_str(&format!("resource \"terraform_data\" \"r{i}\" {{\n  input = \"${{terraform_data.r{}.id}}-${{terraform_data.r{}.id}}\"\n}}\n", i-1, i-2));
                }
            }
        }
        "modules" => {
            text.push_str(&format!(
                "module \"m\" {{\n  source = \"./m\"\n  count = {}\n  n = count.index\n}}\n",
                n / 10
            ));
            let mut c = String::from("variable \"n\" {}\n");
            for i in 0..10 {
                c.push_str(&format!("resource \"terraform_data\" \"r{i}\" {{ input = var.n }}\n"));
            }
            child = Some(c);
        }
        _ => panic!(),
    }
    let mut project = support::Project::new(&text);
    if let Some(c) = &child {
        project = project.with("m/main.tf", c);
    }
    let t = Instant::now();
    let planned = project.plan();
    println!(
        "{shape} {n}: plan {:?} changes {} errors {:?}",
        t.elapsed(),
        planned.plan.as_ref().unwrap().changes.len(),
        planned.errors().len()
    );
    let rss = || {
        std::fs::read_to_string("/proc/self/status")
            .unwrap()
            .lines()
            .find(|l| l.starts_with("VmHWM"))
            .unwrap()
            .to_owned()
    };
    println!("{}", rss());
    if args.len() > 3 {
        return;
    }
    let t = Instant::now();
    let d = project.apply_plan(planned);
    println!("apply {:?} {}", t.elapsed(), d.len());
    println!("{}", rss());
    let t = Instant::now();
    let planned = project.plan();
    println!("noop plan {:?} actions {}", t.elapsed(), planned.actions().len());
    println!("{}", rss());
}
