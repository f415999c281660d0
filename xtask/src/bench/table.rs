//! Rendering of the results as a Markdown table.

use std::fmt::Write as _;

use super::commands::Measured;
use super::measure::Cost;

const HEADING: &str = "\
| shape | instances | step | wall s | CPU s | peak MB | CPU us/instance | x smallest | Terraform CPU s | MB | times faster | of its memory |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// Renders the table.
pub fn render(rows: &[Measured]) -> String {
    let mut text = String::from(HEADING);
    for row in rows {
        let each = per_instance(row);
        let smallest = rows.iter().find(|other| other.shape == row.shape && other.step == row.step).map(per_instance);
        let growth = each / smallest.unwrap_or(each);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "| {} | {} | {} | {} | {} | {:.0} | {:.1} | {growth:.2} |",
            row.shape.name(),
            grouped(row.size),
            row.step.name(),
            seconds(row.own.wall),
            seconds(row.own.cpu),
            row.own.peak / 1e6,
            each * 1e6,
        );
        text.push_str(&row.peer.map_or_else(|| String::from(" | | | |\n"), |peer| compared(&row.own, &peer)));
    }
    text
}

fn compared(own: &Cost, peer: &Cost) -> String {
    let faster = peer.cpu / own.cpu.max(f64::EPSILON);
    let memory = own.peak / peer.peak.max(1.0);
    format!(" {} | {:.0} | {faster:.0} | {:.0}% |\n", seconds(peer.cpu), peer.peak / 1e6, memory * 100.0)
}

/// Returns CPU seconds per instance, which other load on the machine affects less than wall time.
fn per_instance(row: &Measured) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    let size = row.size as f64;
    row.own.cpu / size
}

/// Formats seconds with about three significant digits.
pub fn seconds(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{seconds:.3}")
    } else if seconds < 100.0 {
        format!("{seconds:.2}")
    } else {
        format!("{seconds:.0}")
    }
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::commands::Step;
    use super::super::shapes::Shape;
    use super::*;

    #[test]
    fn rows_compare_with_the_smallest_size_and_with_the_peer() {
        let cost = |cpu| Cost { wall: 1.0, cpu, peak: 2e6 };
        let row = |size, cpu, peer| Measured { shape: Shape::Count, size, step: Step::Plan, own: cost(cpu), peer };
        let rows = [row(1_000, 0.02, Some(Cost { wall: 2.0, cpu: 2.0, peak: 20e6 })), row(10_000, 0.3, None)];
        let table = render(&rows);
        let lines: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(lines[0], "| count | 1,000 | plan | 1.00 | 0.020 | 2 | 20.0 | 1.00 | 2.00 | 20 | 100 | 10% |");
        assert_eq!(lines[1], "| count | 10,000 | plan | 1.00 | 0.300 | 2 | 30.0 | 1.50 | | | | |");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(100), "100");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
