//! The three steps of formatting: indentation, spacing within lines, and alignment across lines.

use super::Piece;
use super::cells::{self, Line};
use super::spacing::space_after;
use crate::token::TokenKind;

const INDENTATION: usize = 2;

/// Sets the number of spaces before each piece.
pub(super) fn lay_out(pieces: &mut [Piece<'_>]) {
    let lines = cells::lines(pieces);
    indent(pieces, &lines);
    for line in &lines {
        space(pieces, line.lead.clone());
        space(pieces, line.assignment.clone());
        if let Some(equals) = line.assignment.clone().next() {
            pieces[equals].spaces = 1;
        }
    }
    cells::align(pieces, &lines);
}

/// Indents each line by one step per unclosed line above, however many brackets that line opened. `foo([{` therefore
/// indents once, as `terraform fmt` does.
fn indent(pieces: &mut [Piece<'_>], lines: &[Line]) {
    let mut open: Vec<usize> = Vec::new();
    for line in lines {
        let Some(first) = line.lead.clone().next() else { continue };
        // Indentation of an empty line would be trailing whitespace.
        if pieces[first].kind == TokenKind::Newline {
            pieces[first].spaces = 0;
            continue;
        }
        let change = line_change(pieces, line);
        if change > 0 {
            pieces[first].spaces = INDENTATION * open.len();
            open.push(change.unsigned_abs());
            continue;
        }
        close(&mut open, change.unsigned_abs());
        pieces[first].spaces = INDENTATION * open.len();
    }
}

/// The change in the number of open brackets that a line causes. The content of a heredoc does not count.
fn line_change(pieces: &[Piece<'_>], line: &Line) -> isize {
    let lead = &pieces[line.lead.clone()];
    let heredoc = lead.iter().position(|piece| piece.kind == TokenKind::OpenHeredoc).unwrap_or(lead.len());
    let assignment = &pieces[line.assignment.clone()];
    lead[..heredoc].iter().chain(assignment).map(Piece::bracket_change).sum()
}

fn close(open: &mut Vec<usize>, mut closed: usize) {
    // A closing line may end several opening lines, or only a part of one.
    while let Some(last) = open.last_mut().filter(|_| closed > 0) {
        if closed < *last {
            *last -= closed;
            return;
        }
        closed -= *last;
        open.pop();
    }
}

fn space(pieces: &mut [Piece<'_>], cell: std::ops::Range<usize>) {
    let start = cell.start;
    // Indentation and alignment place the first piece of a cell.
    for index in cell.skip(1) {
        let before = index.checked_sub(2).filter(|before| *before >= start).map(|before| &pieces[before]);
        let spaces = usize::from(space_after(before, &pieces[index - 1], &pieces[index]));
        pieces[index].spaces = spaces;
    }
}
