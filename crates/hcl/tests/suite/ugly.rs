//! Files that nobody would write: everything the grammar allows, with spaces, line ends and comments where they may be.

/// A body: `N` is a name, `X` an expression, `_` any space or none, `~` some space, `|` the end of a line, `B` a body.
const ITEMS: &[&str] = &[
    "_N_=_X|",
    "_N1_=_X_# c|",
    "_N22_=_X // d|",
    "_N_=_X_/* e */|",
    "_# c|",
    "_/* a\n b */|",
    "|",
    "_N_=_<<E\n  a ${x}\n%{ if x }\n y\n%{ endif }\nE\n",
    "_N_=_<<-E\nb\n\n   c\n  E\n",
    "_N~\"l\"_{_N_=_X_}|",
    "_N~l~\"m\"_{}|",
    "_N_{|B_}|",
    "_N~\"l\"_{ # c|B_}# d|",
    "_N~l_{_// c|B_}|",
];

const EXPRESSIONS: &[&str] = &[
    "1",
    "- 1",
    "1.50",
    "\"s\"",
    "\"${ x }\"",
    "\"a${x.y }b\"",
    "\"%{if x}y%{endif}\"",
    "\"${\"in\"}\"",
    "true",
    "null",
    "N",
    "N.b",
    "N[ 0 ]",
    "N . b",
    "N.*.c",
    "N[*].d",
    "N.0.x",
    "!_x",
    "-_x",
    "! !x",
    "var.n-1",
    "a -b",
    "a - -b",
    "[_]",
    "{_}",
    "X_+_X",
    "X_==_X",
    "X_&&_X",
    "X_<=_X",
    "X_?_X_:_X",
    "(_X_)",
    "N(_)",
    "N(_X_,_X_)",
    "f(X_...)",
    "[_X_,_X_,_]",
    "[|_X_,|_X_, # c|_]",
    "{_N_=_X_,_\"k\"_:_X_}",
    "{|_N_=_X|_(x)_=_X , // d|_N22_:_X|_}",
    "[for~x~in~X_:_X~if~N_]",
    "{_for k_,_v in X_:_k_=>_X_..._}",
    "(|_X|_+ X|_)",
    "f(|_X_,|_X|_)",
];

const NAMES: &[&str] = &["a", "bb", "long_name", "x-y", "for_each", "é"];

/// Makes files.
pub struct Ugly(pub u64);

impl Ugly {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn pick(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.below(choices.len())]
    }

    /// The text of a file.
    pub fn file(&mut self) -> String {
        let mut out = String::new();
        self.body(3, &mut out);
        out
    }

    fn body(&mut self, depth: usize, out: &mut String) {
        for _ in 0..self.below(6) {
            let item = self.pick(ITEMS);
            self.fill(item, depth, out);
        }
    }

    fn fill(&mut self, template: &str, depth: usize, out: &mut String) {
        for character in template.chars() {
            match character {
                '_' => out.push_str(self.pick(&["", " ", " ", "  ", "   ", "\t"])),
                '~' => out.push_str(self.pick(&[" ", "  ", "\t"])),
                '|' => out.push_str(self.pick(&["\n", "\n", "\n\n", "\n\n\n", "  \n"])),
                'N' => out.push_str(self.pick(NAMES)),
                'X' => {
                    // What is deep is a leaf: the first of the list.
                    let expression = if depth == 0 { EXPRESSIONS[self.below(25)] } else { self.pick(EXPRESSIONS) };
                    self.fill(expression, depth.saturating_sub(1), out);
                }
                'B' if depth > 0 => self.body(depth - 1, out),
                'B' => {}
                other => out.push(other),
            }
        }
    }
}
