//! Numbers as people see them; the results are recorded from Terraform's console.

use groma_value::number::Number;
use proptest::prelude::*;

fn number(text: &str) -> Number {
    Number::parse(text).expect("a number")
}

#[test]
fn numbers_print_without_exponent() {
    for (written, shown) in [
        ("1e30", "1000000000000000000000000000000"),
        ("1e-7", "0.0000001"),
        ("0.10", "0.1"),
        ("007", "7"),
        ("9007199254740993", "9007199254740993"),
        ("-0", "-0"),
        ("123456789012345678901234567890.5", "123456789012345678901234567890.5"),
    ] {
        assert_eq!(number(written).to_string(), shown);
    }
}

#[test]
fn one_third_prints_digits_of_its_precision() {
    let third = number("1").divide(&number("3")).expect("a quotient");
    let digits = format!("0.{}5", "3".repeat(154));
    assert_eq!(third.to_string(), digits);
    assert_eq!(third.multiply(&number("3")).expect("a product").to_string(), "1");
    // Lengths are machine integers.
    assert_eq!(Number::from(1).divide(&Number::from(3)).expect("a quotient").to_string(), "0.33333333333333333334");
}

#[test]
fn decimal_sums_are_exact() {
    assert_eq!(number("0.1").add(&number("0.2")).expect("a sum").to_string(), "0.3");
    assert_eq!(number("0.1").multiply(&number("3")).expect("a product").to_string(), "0.3");
}

#[test]
fn division_by_zero_is_infinity_or_undefined() {
    assert_eq!(number("5").divide(&Number::ZERO).expect("an infinity").to_string(), "+Inf");
    assert_eq!(number("-5").divide(&Number::ZERO).expect("an infinity").to_string(), "-Inf");
    assert!(Number::ZERO.divide(&Number::ZERO).is_none());
    assert_eq!(number("5").modulo(&Number::ZERO), Some(number("5")));
}

#[test]
fn remainders_have_the_sign_of_the_dividend() {
    for (a, b, remainder) in
        [("5", "3", "2"), ("-5", "3", "-2"), ("5", "-3", "2"), ("5.5", "2", "1.5"), ("-4", "2", "0")]
    {
        assert_eq!(number(a).modulo(&number(b)).expect("a remainder").to_string(), remainder, "{a} % {b}");
    }
}

#[test]
fn floor_and_ceil_round_towards_infinities() {
    for (value, floor, ceil) in [("1.5", "1", "2"), ("-1.5", "-2", "-1"), ("-0.5", "-1", "0"), ("3", "3", "3")] {
        assert_eq!(number(value).floor().to_string(), floor);
        assert_eq!(number(value).ceil().to_string(), ceil);
    }
}

#[test]
fn powers_and_logarithms_are_hardware_floats() {
    assert_eq!(number("2").power(&number("0.5")).expect("a root").to_string(), "1.4142135623730951");
    assert_eq!(number("10").logarithm(&number("2")).expect("a logarithm").to_string(), "3.3219280948873626");
    assert_eq!(number("688.710").power(&number("6")).expect("a power").to_string(), "106713246785910980");
    assert!(number("-2").power(&number("0.5")).is_none());
}

#[test]
fn fractions_are_equal_if_they_print_the_same() {
    let float = Number::from_f64(0.1).expect("a number");
    assert!(number("0.1").equals(&float));
    assert_ne!(number("0.1"), float);
    assert!(number("0.1") < float);
    assert!(number("-0").equals(&number("0")));
}

#[test]
fn huge_exponents_are_rejected_quickly() {
    assert!(Number::parse("1e999999999").is_err());
    assert!(Number::parse("1p999999999999999999999").is_err());
    assert!(Number::parse("1e-999999999").is_err());
}

#[test]
fn non_numeric_strings_are_rejected() {
    for text in ["", "-", "+", ".", "e5", "1e", "0x10", "1_000", " 1", "1 ", "--1", "NaN", "infinity", "٣"] {
        assert!(Number::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn machine_numbers_round_trip() {
    assert_eq!(Number::from(u64::MAX).to_u64(), Some(u64::MAX));
    assert_eq!(Number::from(i64::MIN).to_i64(), Some(i64::MIN));
    assert_eq!(Number::from(i64::MIN).negate().to_string(), "9223372036854775808");
    assert_eq!(Number::from(u64::MAX).to_i64(), None);
    assert_eq!(number("1.5").to_i64(), None);
    assert_eq!(number("1e400").to_f64(), f64::INFINITY);
    assert_eq!(number("4e-324").to_f64(), 5e-324);
    assert_eq!(number("0.1").to_f64_exact(), None);
    assert_eq!(number("0.5").to_f64_exact(), Some(0.5));
}

proptest! {
    #[test]
    fn floats_round_trip(value in any::<f64>()) {
        prop_assume!(!value.is_nan());
        let number = Number::from_f64(value).expect("a number");
        prop_assert_eq!(number.to_f64().to_bits(), value.to_bits());
        if value.is_finite() {
            let shown: f64 = number.to_string().parse().expect("a float");
            prop_assert_eq!(shown.to_bits(), value.to_bits());
        }
    }

    #[test]
    fn printed_numbers_parse_to_the_same_number(digits in "-?[1-9][0-9]{0,60}(\\.[0-9]{1,60})?(e-?[0-9]{1,2})?") {
        let read = number(&digits);
        prop_assert_eq!(number(&read.to_string()), read);
    }

    #[test]
    fn integers_add_and_multiply_exactly(a in any::<i64>(), b in any::<i64>()) {
        let (x, y) = (Number::from(a), Number::from(b));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        let sum = number(&a.to_string()).add(&number(&b.to_string())).expect("a sum");
        prop_assert_eq!(sum.to_string(), (i128::from(a) + i128::from(b)).to_string());
        let product = x.multiply(&y).expect("a product");
        // Its text may be shorter: the product keeps no more precision than it needs.
        prop_assert_eq!(product, number(&(i128::from(a) * i128::from(b)).to_string()));
    }

    #[test]
    fn integers_subtract_divide_and_modulo_exactly(a in any::<i64>(), b in any::<i64>(), as_text in any::<bool>()) {
        let of = |value: i64| if as_text { number(&value.to_string()) } else { Number::from(value) };
        let (x, y) = (of(a), of(b));
        let exact = |value: i128| number(&value.to_string());
        prop_assert!(x.subtract(&y).expect("a difference").equals(&exact(i128::from(a) - i128::from(b))));
        prop_assert!(x.negate().equals(&exact(-i128::from(a))));
        prop_assert!(x.absolute().equals(&exact(i128::from(a).abs())));
        if b != 0 {
            prop_assert!(x.modulo(&y).expect("a remainder").equals(&exact(i128::from(a) % i128::from(b))));
            let product = exact(i128::from(a) * i128::from(b));
            prop_assert!(product.divide(&y).expect("a quotient").equals(&x));
        }
    }

    #[test]
    fn decimals_compare_by_value(a in any::<i64>(), b in any::<i64>(), scale in 0u32..40) {
        let of = |value: i64| number(&format!("{value}e-{scale}"));
        prop_assert_eq!(of(a).cmp(&of(b)), a.cmp(&b));
        prop_assert_eq!(of(a).equals(&of(b)), a == b);
        prop_assert_eq!(i64::from(of(a).sign()), a.signum());
    }

    #[test]
    fn parsing_never_panics(text in "\\PC*") {
        let _ = Number::parse(&text);
    }
}

#[test]
fn parsed_integer_has_sufficient_precision() {
    let whole = |text: &str| Number::parse_whole(text).expect("a whole number");
    assert_eq!(whole("3").divide(&whole("7")).expect("a quotient").to_string(), "0.42857142857142857144");
    let long = String::from("-1234567890") + &"1234567890".repeat(30);
    assert_eq!(whole(&long).to_string(), long);
    assert_eq!(whole("-0").to_string(), "0");
    for wrong in ["", "-", "+1", "1.5", "1e3", "a"] {
        assert!(Number::parse_whole(wrong).is_err(), "{wrong}");
    }
}

/// Printing ends with the digits that tell a number from its neighbours; these are the others, too.
#[test]
fn integer_digits_are_complete_in_any_base() {
    let seventh = Number::parse("1e157").unwrap().divide(&Number::parse("7").unwrap()).unwrap();
    assert!(seventh.integer_digits(10).unwrap().ends_with("1428571428608"));
    assert!(seventh.integer_digits(16).unwrap().ends_with("6db6db700"));
    assert_eq!(Number::from(-35_i64).integer_digits(36).as_deref(), Some("z"));
    assert_eq!(Number::parse("0.5").unwrap().integer_digits(10), None);
    assert_eq!(Number::infinity().integer_digits(10), None);
    assert_eq!(Number::ONE.integer_digits(1), None);
}
