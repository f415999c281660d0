//! The digits of numbers, by the verbs of format patterns.

use std::cmp::Ordering;

use groma_value::Number;

/// Enough for the product of any number and any power of ten that a precision can ask for to be exact.
const EXACT: u32 = 60_000;

/// The layout of a formatted number: flags, width and precision.
#[derive(Default)]
pub(super) struct Layout {
    /// Zeros fill up the width.
    pub(super) zero: bool,
    /// The base is written in front.
    pub(super) sharp: bool,
    /// A plus is written before numbers that are not negative.
    pub(super) plus: bool,
    /// The padding follows the number.
    pub(super) minus: bool,
    /// A space is written where a plus could be.
    pub(super) space: bool,
    /// The least number of characters.
    pub(super) width: Option<usize>,
    /// The digits behind the point, or of all.
    pub(super) precision: Option<usize>,
}

fn power_of_ten(exponent: usize) -> Number {
    Number::parse(&format!("1{}", "0".repeat(exponent))).unwrap_or(Number::ONE).with_precision(EXACT)
}

/// Ten times the number, exactly: sums keep the precision of their operands, products do not.
fn times_ten(number: &Number) -> Option<Number> {
    let two = number.add(number)?;
    let four = two.add(&two)?;
    four.add(&four)?.add(&two)
}

/// The digits of `number * 10^shift`, rounded to a whole number, half to even; the sign is left out.
fn scaled(number: &Number, shift: isize) -> String {
    let number = number.absolute().with_precision(EXACT);
    let product = match usize::try_from(shift) {
        Ok(times) => (0..times).try_fold(number, |number, _| times_ten(&number)),
        Err(_) => number.divide(&power_of_ten(shift.unsigned_abs())),
    };
    let Some(product) = product else { return "0".to_owned() };
    let whole = product.floor();
    let rest = product.subtract(&whole).unwrap_or(Number::ZERO);
    let half = Number::parse("0.5").unwrap_or(Number::ZERO);
    let odd = whole.to_string().bytes().last().is_some_and(|digit| (digit - b'0') % 2 == 1);
    let up = match rest.partial_cmp(&half) {
        Some(Ordering::Greater) => true,
        Some(Ordering::Equal) => odd,
        _ => false,
    };
    let rounded = if up { whole.add(&Number::ONE) } else { None };
    rounded.unwrap_or(whole).to_string()
}

/// The shortest digits that tell the number, without leading and trailing zeros, and the position of the decimal point
/// from their start.
fn shortest(number: &Number) -> (String, isize) {
    let text = number.absolute().to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let all = format!("{whole}{fraction}");
    let leading = all.len() - all.trim_start_matches('0').len();
    let digits = all.trim_matches('0').to_owned();
    if digits.is_empty() {
        return ("0".to_owned(), 1);
    }
    (digits, whole.len() as isize - leading as isize)
}

fn fixed(number: &Number, precision: usize) -> String {
    let digits = scaled(number, precision as isize);
    let digits = format!("{digits:0>width$}", width = precision + 1);
    let (whole, fraction) = digits.split_at(digits.len() - precision);
    if precision == 0 { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

fn exponent_text(exponent: isize, letter: char) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{letter}{sign}{:02}", exponent.unsigned_abs())
}

fn with_exponent(digits: &str, exponent: isize, letter: char) -> String {
    let (first, rest) = digits.split_at(digits.len().min(1));
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}{}", exponent_text(exponent, letter))
}

/// So many digits of the number, rounded, and the position of the decimal point from their start.
fn significant(number: &Number, count: usize) -> (String, isize) {
    if number.is_zero() {
        return ("0".repeat(count), 1);
    }
    let (_, point) = shortest(number);
    let digits = scaled(number, count as isize - point);
    let point = if digits.len() > count { point + 1 } else { point };
    (digits.chars().take(count).collect(), point)
}

fn scientific(number: &Number, precision: usize, letter: char) -> String {
    let (digits, point) = significant(number, precision + 1);
    with_exponent(&digits, point - 1, letter)
}

/// The shorter of both notations; without a precision as many digits as it takes to tell the number.
pub(super) fn general(number: &Number, precision: Option<usize>, letter: char) -> String {
    let sign = match number.is_negative() {
        true => "-",
        false if number.is_infinite() => "+",
        false => "",
    };
    format!("{sign}{}", general_magnitude(number, precision, letter))
}

fn general_magnitude(number: &Number, precision: Option<usize>, letter: char) -> String {
    if number.is_infinite() {
        return "Inf".to_owned();
    }
    let (digits, point) = match precision {
        None => shortest(number),
        Some(count) => {
            let (digits, point) = significant(number, count.max(1));
            let trimmed = digits.trim_end_matches('0');
            (if trimmed.is_empty() { "0".to_owned() } else { trimmed.to_owned() }, point)
        }
    };
    let exponent = point - 1;
    let length = digits.len() as isize;
    let limit = match precision {
        None => 6,
        Some(count) => {
            let count = count.max(1) as isize;
            if count > length && length >= point { length } else { count }
        }
    };
    if exponent < -4 || exponent >= limit {
        return with_exponent(&digits, exponent, letter);
    }
    if point <= 0 {
        return format!("0.{}{digits}", "0".repeat(point.unsigned_abs()));
    }
    if length <= point {
        return format!("{digits}{}", "0".repeat((point - length) as usize));
    }
    let (whole, fraction) = digits.split_at(point as usize);
    format!("{whole}.{fraction}")
}

/// A whole number in a base, with sign, prefix and padding.
pub(super) fn integer(number: &Number, layout: &Layout, mode: char, out: &mut String) {
    let (base, prefix) = match mode {
        'b' => (2, "0b"),
        'o' => (8, "0"),
        'x' => (16, "0x"),
        'X' => (16, "0X"),
        _ => (10, ""),
    };
    let digits = number.integer_digits(base).unwrap_or_else(|| number.absolute().to_string());
    let digits = if mode == 'X' { digits.to_uppercase() } else { digits };
    let prefix = if layout.sharp { prefix } else { "" };
    // An integer has one zero.
    let sign = if number.is_zero() { sign(&Number::from(0_u64), layout) } else { sign(number, layout) };
    let digits = match layout.precision {
        Some(0) if digits == "0" => return,
        Some(least) => format!("{digits:0>least$}"),
        None => digits,
    };
    let missing = layout.width.unwrap_or(0).saturating_sub(sign.len() + prefix.len() + digits.len());
    if layout.minus {
        out.push_str(&format!("{sign}{prefix}{digits}{}", " ".repeat(missing)));
    } else if layout.zero && layout.precision.is_none() {
        out.push_str(&format!("{sign}{prefix}{}{digits}", "0".repeat(missing)));
    } else {
        out.push_str(&format!("{}{sign}{prefix}{digits}", " ".repeat(missing)));
    }
}

/// A number with fraction or exponent, with sign and padding.
pub(super) fn real(number: &Number, layout: &Layout, mode: char, out: &mut String) {
    let magnitude = match mode {
        _ if number.is_infinite() => "Inf".to_owned(),
        'f' => fixed(number, layout.precision.unwrap_or(6)),
        'g' => general_magnitude(number, layout.precision, 'e'),
        'G' => general_magnitude(number, layout.precision, 'E'),
        letter => scientific(number, layout.precision.unwrap_or(6), letter),
    };
    let sign = sign(number, layout);
    let missing = layout.width.unwrap_or(0).saturating_sub(sign.len() + magnitude.len());
    // Of both flags the zero counts here, and the minus in integers.
    if layout.zero && !number.is_infinite() {
        out.push_str(&format!("{sign}{}{magnitude}", "0".repeat(missing)));
    } else if layout.minus {
        out.push_str(&format!("{sign}{magnitude}{}", " ".repeat(missing)));
    } else {
        out.push_str(&format!("{}{sign}{magnitude}", " ".repeat(missing)));
    }
}

fn sign(number: &Number, layout: &Layout) -> &'static str {
    if number.is_negative() {
        "-"
    } else if layout.plus {
        "+"
    } else if layout.space {
        " "
    } else if number.is_infinite() {
        "+"
    } else {
        ""
    }
}

/// Digits of any base up to 62 in decimal: first the ten digits, then small, then capital letters. Up to base 36 the
/// case of letters does not matter. Underscores are not digits.
pub(super) fn from_base(text: &str, base: u32) -> Option<String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || digits.len() > 10_000 {
        return None;
    }
    // Decimal digits, the last one first.
    let mut decimal: Vec<u32> = vec![0];
    for character in digits.chars() {
        let mut carry = match character {
            '0'..='9' => u32::from(character) - u32::from('0'),
            'a'..='z' => u32::from(character) - u32::from('a') + 10,
            'A'..='Z' if base <= 36 => u32::from(character) - u32::from('A') + 10,
            'A'..='Z' => u32::from(character) - u32::from('A') + 36,
            _ => return None,
        };
        if carry >= base {
            return None;
        }
        for digit in &mut decimal {
            let part = *digit * base + carry;
            *digit = part % 10;
            carry = part / 10;
        }
        while carry > 0 {
            decimal.push(carry % 10);
            carry /= 10;
        }
    }
    let text: String = decimal.iter().rev().filter_map(|digit| char::from_digit(*digit, 10)).collect();
    let text = text.trim_start_matches('0');
    let text = if text.is_empty() { "0" } else { text };
    Some(if negative { format!("-{text}") } else { text.to_owned() })
}
