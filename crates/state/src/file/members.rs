//! The lines of a JSON object or array as Terraform lays them out.

use crate::json::{new_line, write_indented, write_string};

/// Writes the members of one JSON object, or the elements of one array, each on its own line.
pub(super) struct Members<'a> {
    out: &'a mut Vec<u8>,
    depth: usize,
    empty: bool,
    close: u8,
}

impl<'a> Members<'a> {
    pub fn object(out: &'a mut Vec<u8>, depth: usize) -> Self {
        out.push(b'{');
        Self { out, depth: depth + 1, empty: true, close: b'}' }
    }

    pub fn array(out: &'a mut Vec<u8>, depth: usize) -> Self {
        out.push(b'[');
        Self { out, depth: depth + 1, empty: true, close: b']' }
    }

    /// Begins the next element or member.
    pub fn next(&mut self) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        new_line(self.depth, self.out);
        self.out
    }

    /// Begins a member whose name needs no escapes.
    pub fn member(&mut self, name: &str) -> &mut Vec<u8> {
        let out = self.next();
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\": ");
        out
    }

    pub fn string(&mut self, name: &str, text: &str) {
        write_string(text, self.member(name));
    }

    pub fn number(&mut self, name: &str, number: u64) {
        write_number(number, self.member(name));
    }

    pub fn raw(&mut self, name: &str, json: &str) {
        let depth = self.depth;
        write_indented(json, depth, self.member(name));
    }

    /// Ends the object or the array.
    pub fn finish(self) {
        if !self.empty {
            new_line(self.depth - 1, self.out);
        }
        self.out.push(self.close);
    }
}

fn write_number(number: u64, out: &mut Vec<u8>) {
    if number >= 10 {
        write_number(number / 10, out);
    }
    out.push(b'0' + (number % 10) as u8);
}
