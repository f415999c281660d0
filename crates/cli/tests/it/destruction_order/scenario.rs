//! A configuration that is applied step by step, by Groma and by Terraform, and what must have happened in which order.

use std::fmt::Write as _;

use groma_scripted::cloud::{Moment, Times};

use super::script::{REQUIREMENTS, filled, is_before, matches, parse};
use super::site::{Site, describe};
use crate::common::Ran;
use crate::common::normalization::terraform;

/// Where a scenario runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    /// In Groma, and in Terraform where there is one.
    Both,
    /// In Groma only: Terraform keeps the rule less well.
    Groma,
}

/// A configuration with its sites. Checks hold for the last step, at every site.
pub struct Scenario {
    text: &'static str,
    module: Option<&'static str>,
    sites: Vec<Site>,
    ran: Vec<Ran>,
    options: Vec<String>,
    steps: String,
}

impl Scenario {
    /// Starts a scenario. In the text `<name>` is a value that each step gives; a line that begins with `?name ` is
    /// there while the step says `name`, and one that begins with `!name ` while it does not.
    pub fn new(text: &'static str) -> Self {
        Self::run_by(Programs::Both, text)
    }

    pub fn run_by(programs: Programs, text: &'static str) -> Self {
        let terraform = terraform().filter(|_| programs == Programs::Both);
        let mut sites: Vec<Site> = terraform.map(|program| Site::terraform(&program)).into_iter().collect();
        // The variable shows whether an expectation is Terraform's behavior at all.
        if sites.is_empty() || std::env::var_os("GROMA_TERRAFORM_ONLY").is_none() {
            sites.push(Site::groma());
        }
        // Deletions overtake whatever they do not wait for.
        sites.iter().for_each(|site| site.store.hold(0).unwrap());
        Self { text, module: None, sites, ran: Vec::new(), options: Vec::new(), steps: String::new() }
    }

    /// Adds the module in `./m`.
    pub fn with_module(mut self, text: &'static str) -> Self {
        self.module = Some(text);
        self
    }

    /// Sets the options of the next step.
    pub fn options(&mut self, options: &[&str]) -> &mut Self {
        self.options = options.iter().map(|option| (*option).to_owned()).collect();
        self
    }

    /// Lets the next operation of that kind on that object fail before it takes place: `create web`.
    pub fn failing(&mut self, operation: &str) -> &mut Self {
        self.fail(operation, Moment::Before)
    }

    /// Lets the next operation of that kind on that object take place and report an error.
    pub fn failing_late(&mut self, operation: &str) -> &mut Self {
        self.fail(operation, Moment::After)
    }

    fn fail(&mut self, operation: &str, moment: Moment) -> &mut Self {
        let (operation, name) = parse(operation);
        // Every site gets the fault once, because each has its own cloud.
        self.sites.iter().for_each(|site| site.store.fail(operation, name, Times::Once, moment).unwrap());
        self
    }

    /// Applies the configuration with these values, which must succeed.
    pub fn apply(&mut self, values: &str) -> &mut Self {
        self.step(values);
        self.assert(|_, ran| ran.code == 0, "the apply succeeds")
    }

    /// Applies the configuration with these values, which must fail with this summary.
    pub fn apply_fails(&mut self, values: &str, summary: &str) -> &mut Self {
        self.step(values);
        self.assert(|_, ran| ran.code == 1 && ran.err.contains(summary), &format!("the apply fails: {summary}"))
    }

    fn step(&mut self, values: &str) {
        writeln!(self.steps, "apply {} with {values:?}", self.options.join(" ")).unwrap();
        self.write(values);
        let options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        let arguments = [&["apply", "-auto-approve", "-input=false"], &options[..]].concat();
        self.ran = self.sites.iter().map(|site| site.run(&arguments)).collect();
        // Options hold for one step.
        self.options.clear();
    }

    /// Starts an apply that is killed once an operation has begun, which does not take place then.
    pub fn killed_at(&mut self, operation: &str, values: &str) -> &mut Self {
        writeln!(self.steps, "apply with {values:?}, killed at {operation:?}").unwrap();
        self.write(values);
        let (operation, name) = parse(operation);
        for site in &self.sites {
            assert!(site.kill_at(&["apply", "-auto-approve", "-input=false"], operation, name), "{}", self.steps);
            // The interrupted operation must not take place after all.
            site.store.fail(operation, name, Times::Once, Moment::Before).unwrap();
            site.settle();
        }
        self
    }

    fn write(&self, values: &str) {
        for site in &self.sites {
            site.folder.write("main.tf", &format!("{REQUIREMENTS}{}", filled(self.text, values)));
            if let Some(module) = self.module {
                site.folder.write("m/main.tf", &format!("{REQUIREMENTS}{}", filled(module, values)));
            }
            // Initialized once: the providers never change.
            if !site.folder.path(".terraform").exists() {
                site.folder.ok(&["init", "-input=false"]);
            }
            // Only the events of the next step are checked.
            site.store.forget_events().unwrap();
        }
    }

    /// Checks that each of these operations ended before the next one began: `create web`.
    pub fn in_order(&mut self, operations: &[&str]) -> &mut Self {
        // Each pair is checked separately, so a failure names the two operations.
        for pair in operations.windows(2) {
            let text = format!("{:?} ends before {:?} begins", pair[0], pair[1]);
            self.assert(|site, _| is_before(&site.events(), pair[0], pair[1]), &text);
        }
        self
    }

    /// Checks that none of these operations began.
    pub fn without(&mut self, operations: &[&str]) -> &mut Self {
        for operation in operations {
            let text = format!("{operation:?} does not begin");
            self.assert(|site, _| !site.events().iter().any(|event| matches(event, operation)), &text);
        }
        self
    }

    /// Checks what the state records, and that the cloud has these objects and no others.
    pub fn leaves(&mut self, recorded: &[&str]) -> &mut Self {
        let text = format!("the state is {recorded:?}");
        self.assert(|site, _| describe(&site.recorded()) == recorded, &text);
        self.assert(
            |site, _| {
                let known = site.recorded().into_values();
                let mut known: Vec<String> =
                    known.flat_map(|instance| instance.current.into_iter().chain(instance.deposed)).collect();
                known.sort_unstable();
                // An object in the cloud that no state knows would be lost.
                site.store.objects().unwrap().into_keys().eq(known)
            },
            "the cloud has the objects of the state and no others",
        )
    }

    /// Plans with these values, which must succeed.
    pub fn plan_succeeds(&mut self, values: &str) -> &mut Self {
        self.plan(values);
        self.assert(|_, ran| ran.code == 0, "the plan succeeds")
    }

    fn plan(&mut self, values: &str) {
        writeln!(self.steps, "plan {} with {values:?}", self.options.join(" ")).unwrap();
        self.write(values);
        let options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        let arguments = [&["plan", "-input=false"], &options[..]].concat();
        self.ran = self.sites.iter().map(|site| site.run(&arguments)).collect();
        self.options.clear();
    }

    /// Plans with these values, which must fail with this summary.
    pub fn plan_fails(&mut self, values: &str, summary: &str) -> &mut Self {
        self.plan(values);
        self.assert(|_, ran| ran.code == 1 && ran.err.contains(summary), &format!("the plan fails: {summary}"))
    }

    #[track_caller]
    fn assert(&mut self, check: impl Fn(&Site, &Ran) -> bool, what: &str) -> &mut Self {
        for (at, site) in self.sites.iter().enumerate() {
            // A check before the first step has no run to show.
            let none = Ran { code: -1, out: String::new(), err: String::new() };
            let ran = self.ran.get(at).unwrap_or(&none);
            if !check(site, ran) {
                let log: Vec<String> = site.events().iter().map(ToString::to_string).collect();
                panic!(
                    "{}: not so: {what}\n--- steps\n{}--- log\n{}\n--- state\n{}\n--- cloud\n{:?}\n--- output\n{}{}",
                    site.name,
                    self.steps,
                    log.join("\n"),
                    describe(&site.recorded()).join("\n"),
                    site.store.objects().unwrap().keys(),
                    ran.out,
                    ran.err
                );
            }
        }
        self
    }
}
