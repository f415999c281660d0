//! Lines and their cells, which are aligned with adjacent lines.

use std::ops::Range;

use groma_diagnostics::grapheme_count;

use super::Piece;
use crate::token::TokenKind;

/// A line in three cells: the part before an assignment, the assignment from its equals sign, and a trailing comment.
///
/// A multi-line token such as a heredoc is part of one line here.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) lead: Range<usize>,
    pub(super) assignment: Range<usize>,
    pub(super) comment: Option<usize>,
}

/// Splits pieces into lines with cells.
pub(super) fn lines(pieces: &[Piece<'_>]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (index, piece) in pieces.iter().enumerate() {
        if piece.kind == TokenKind::End {
            lines.push(line(pieces, start..index));
            break;
        }
        if piece.ends_line() {
            lines.push(line(pieces, start..index + 1));
            start = index + 1;
        }
    }
    lines
}

fn line(pieces: &[Piece<'_>], range: Range<usize>) -> Line {
    let mut lead = range;
    let mut comment = None;
    // A comment alone on its line is not aligned with the comments of other lines.
    if lead.len() > 1 && pieces[lead.end - 1].kind == TokenKind::Comment {
        lead.end -= 1;
        comment = Some(lead.end);
    }
    // An equals sign at the start of a line has nothing before it to align.
    let equals = lead.clone().skip(1).find(|index| pieces[*index].kind == TokenKind::Equal);
    // An assignment whose value spans several lines is not aligned.
    let complete = |from: usize| pieces[from..lead.end].iter().map(Piece::bracket_change).sum::<isize>() == 0;
    match equals.filter(|equals| complete(*equals)) {
        Some(equals) => Line { assignment: equals..lead.end, lead: lead.start..equals, comment },
        None => Line { assignment: lead.end..lead.end, lead, comment },
    }
}

/// Aligns the equals signs of consecutive lines, and then their comments.
pub(super) fn align(pieces: &mut [Piece<'_>], lines: &[Line]) {
    let assignments = |line: &Line| line.assignment.clone().next();
    let before_assignment = |pieces: &[Piece<'_>], line: &Line| columns(&pieces[line.lead.clone()]);
    align_cells(pieces, lines, assignments, before_assignment);
    let comments = |line: &Line| line.comment;
    let before_comment = |pieces: &[Piece<'_>], line: &Line| {
        columns(&pieces[line.lead.clone()]) + columns(&pieces[line.assignment.clone()])
    };
    align_cells(pieces, lines, comments, before_comment);
}

fn align_cells(
    pieces: &mut [Piece<'_>],
    lines: &[Line],
    cell: impl Fn(&Line) -> Option<usize>,
    columns_before: impl Fn(&[Piece<'_>], &Line) -> usize,
) {
    for run in lines.chunk_by(|one, next| cell(one).is_some() == cell(next).is_some()) {
        let cells: Vec<(usize, usize)> =
            run.iter().filter_map(|line| Some((cell(line)?, columns_before(pieces, line)))).collect();
        let widest = cells.iter().map(|(_, columns)| *columns).max().unwrap_or(0);
        for (first, columns) in cells {
            pieces[first].spaces = widest - columns + 1;
        }
    }
}

/// The display width of pieces including the spaces before them, in grapheme clusters.
fn columns(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().map(|piece| piece.spaces + grapheme_count(&piece.text)).sum()
}
